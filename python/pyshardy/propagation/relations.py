# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The relation of each operation of a program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlir_sdy import sdy
from mlir_sdy.attributes import value_of
from mlir_sdy.host import ir
from mlir_sdy.model import DimMapping, OpShardingRule, PropagationDirection, TensorMapping
from mlir_sdy.op_classes import view_as
from mlir_sdy.values import manual_axes
from pyshardy.irtools.stablehlo_views import target_of
from pyshardy.propagation.elementwise import ELEMENTWISE_IF_SHAPES_EQUAL, ELEMENTWISE_OPERATIONS
from pyshardy.propagation.op_priority import (
    PASS_THROUGH_CUSTOM_CALLS,
    PRIORITY_CLASSES,
    PriorityClass,
)
from pyshardy.propagation.program import Program
from pyshardy.propagation.relation import ManualView, Relation, RelationFamily, RelationTable
from pyshardy.rules import ShardingRuleLookup, TensorType, identity_rule
from pyshardy.rules.own_rules import checked_own_rule

_CUSTOM_CALL = "stablehlo.custom_call"


class RelationReader:
    """Finds the relation of each operation of a program.

    - An operation with a rule: its operands and results.
    - `sdy.propagation_barrier`: its input and result, in the direction that it allows.
    - `sdy.data_flow_edge`: the sources of its edge, and its result.
    - `stablehlo.async_done`: the values that the region of the `stablehlo.async_start` returns,
      and its results.
    - `sdy.func_data_flow_edge` on an argument of a function: the operands of all its calls, and
      the edge. On a result of a call: the returned value of the function, and the edge.
    """

    def __init__(self, program: Program, lookup: ShardingRuleLookup):
        self.table = RelationTable()
        self._program = program
        self._lookup = lookup
        # Keyed by identity: look-ups keep one object for equal rules alive.
        self._families: dict[tuple[OpShardingRule, str], RelationFamily] = {}

    def read(self) -> list[Relation | None]:
        """Return the relation of each operation, None where there is none.

        Raises:
            PassError: a type that propagation does not support, or a rule that does not fit.
        """
        relations: list[Relation | None] = []
        program, lookup = self._program, self._lookup
        type_of, slot_of = program.types.__getitem__, program.slots.__getitem__
        with_own_rule = program.with_own_rule
        rows = zip(
            program.operations, program.names, program.operands, program.results, strict=True
        )
        for number, (operation, name, operands, results) in enumerate(rows):
            special = _SPECIAL.get(name)
            if special is not None:
                relations.append(special(self, number, operands, results))
                continue
            if number in with_own_rule:
                rule = checked_own_rule(operation, name)
            else:
                rule = lookup.registered_rule(
                    operation, name, tuple(map(type_of, operands)), tuple(map(type_of, results))
                )
            if rule is None:
                relations.append(None)
                continue
            family = self._families.get((rule, name))
            if family is None:
                family = self._family(operation, name, rule)
            tensors = (*map(slot_of, operands), *map(slot_of, results))
            relations.append(Relation(family, tensors, True))
        return relations

    def function_results(self) -> list[Relation]:
        """Return for each result of the main function its relation to the returned value."""
        program = self._program
        if program.main is None:
            return []
        relations: list[Relation] = []
        returned = program.returned(program.main)
        for value, slot in zip(returned, program.function_results[program.main], strict=False):
            family = self._identity(value, 1)
            if family is not None:
                relations.append(Relation(family, (program.slots[value], slot)))
        return relations

    def _family(self, operation: ir.Operation, name: str, rule: OpShardingRule) -> RelationFamily:
        is_elementwise = name in ELEMENTWISE_OPERATIONS
        priority_class = PRIORITY_CLASSES.get(name, PriorityClass.OTHER)
        if name == ELEMENTWISE_IF_SHAPES_EQUAL:
            is_elementwise = operation.operands[0].type.shape == operation.results[0].type.shape
        elif name == _CUSTOM_CALL:
            target = target_of(operation)
            if target in PASS_THROUGH_CUSTOM_CALLS:
                priority_class = PriorityClass.PASS_THROUGH
        if is_elementwise:
            priority_class = PriorityClass.PASS_THROUGH
        family = self.table.family(
            rule,
            priority_class=priority_class,
            is_elementwise=is_elementwise,
            conservative=self._lookup.conservative,
        )
        # Calls of other targets, and casts of other shapes, may have an equal rule.
        if name not in (_CUSTOM_CALL, ELEMENTWISE_IF_SHAPES_EQUAL):
            self._families[rule, name] = family
        return family

    def _identity(
        self,
        value: int,
        num_operands: int,
        direction: PropagationDirection = PropagationDirection.BOTH,
        view: ManualView | None = None,
        *,
        is_elementwise: bool = False,
    ) -> RelationFamily | None:
        tensor = self._lookup.tensor_type(self._program.types[value])
        if tensor is None or not tensor.is_static:
            return None
        rule = identity_rule(tensor.shape, num_operands)
        return self.table.family(
            rule, direction=direction, view=view, is_elementwise=is_elementwise
        )

    def _barrier(self, number: int, operands: Sequence[int], results: range) -> Relation | None:
        operation = self._program.operations[number]
        allowed: Any = view_as(sdy.PropagationBarrierOp, operation).allowed_direction
        direction = PropagationDirection(allowed.value)
        family = self._identity(results[0], 1, direction, is_elementwise=True)
        return self._tie(family, operands, results[0])

    def _edge(self, number: int, _: Sequence[int], results: range) -> Relation | None:
        program = self._program
        edge = program.edges.get(number)
        if edge is None:
            return None
        sources = [program.operands[operation][position] for operation, position in edge.sources]
        family = self._identity(results[0], len(sources), view=self._view(edge.owner))
        return self._tie(family, sources, results[0])

    def _view(self, owner: int) -> ManualView | None:
        """Return the conversion of the sharding that an edge of a manual computation holds."""
        program = self._program
        maker = program.makers[owner]
        if program.names[maker] != "sdy.manual_computation":
            return None
        operation = program.operations[maker]
        arguments = program.arguments[maker]
        is_argument = owner in arguments
        computation = view_as(sdy.ManualComputationOp, operation)
        outer = computation.in_shardings if is_argument else computation.out_shardings
        index = (arguments if is_argument else program.results[maker]).index(owner)
        return ManualView(value_of(outer).shardings[index], manual_axes(operation), is_argument)

    def _wait(self, _: int, operands: Sequence[int], results: range) -> Relation | None:
        """Relate the results of an `async_done` to the values that the `async_start` returns."""
        program = self._program
        start = program.started_by(operands[0])
        if start is None or self._lookup.compatible:
            return None
        rule = _identities([self._lookup.tensor_type(program.types[value]) for value in results])
        if rule is None:
            return None
        slots = program.slots
        tensors = (*program.returned(start), *results)
        return Relation(self.table.family(rule), tuple(slots[value] for value in tensors))

    def _function_edge(self, _: int, operands: Sequence[int], results: range) -> Relation | None:
        program = self._program
        (source,) = operands
        maker = program.makers[source]
        if program.names[maker] == "func.func":
            index = program.arguments[maker].index(source)
            sources = [program.operands[call][index] for call in program.calls_of(maker)]
        elif program.names[maker] == "func.call":
            index = program.results[maker].index(source)
            returned = program.returned(program.callee(maker))
            sources = [returned[index]] if returned else []
        else:
            sources = [source]  # the call is inlined, or a body of its own by now
        return self._tie(self._identity(results[0], len(sources)), sources, results[0])

    def _tie(
        self, family: RelationFamily | None, sources: Sequence[int], target: int
    ) -> Relation | None:
        if family is None or not sources:
            return None
        slots = self._program.slots
        return Relation(family, tuple(slots[value] for value in (*sources, target)))


_SPECIAL = {
    "sdy.propagation_barrier": RelationReader._barrier,
    "sdy.data_flow_edge": RelationReader._edge,
    "sdy.func_data_flow_edge": RelationReader._function_edge,
    "stablehlo.async_done": RelationReader._wait,
}


def _identities(tensors: Sequence[TensorType | None]) -> OpShardingRule | None:
    """Return the rule of an operation that hands on its operands; None for other types."""
    sizes: list[int] = []
    mappings: list[TensorMapping] = []
    for tensor in tensors:
        if tensor is None or not tensor.is_static:
            return None
        first = len(sizes)
        sizes += tensor.shape
        dims = range(first, len(sizes))
        mappings.append(TensorMapping(tuple(DimMapping((factor,)) for factor in dims)))
    return OpShardingRule(tuple(sizes), tuple(mappings), tuple(mappings))
