# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The relation of each operation of a program."""

from __future__ import annotations

from collections.abc import Sequence

from mlir_sdy.attributes import value_of
from mlir_sdy.host import ir
from mlir_sdy.model import PropagationDirection
from pyshardy.propagation.program import Program
from pyshardy.propagation.relation import Relation, RelationKind, RelationKinds
from pyshardy.rules import SHARDING_RULE, ShardingRuleLookup, identity_rule


class RelationReader:
    """Finds what each operation of a program relates.

    - An operation with a rule: its operands and results.
    - `sdy.propagation_barrier`: its input and result, in the direction that it allows.
    - `sdy.func_data_flow_edge` on an argument of a function: the operands of all its calls, and
      the edge. On a result of a call: what the function returns, and the edge.
    """

    def __init__(self, program: Program, lookup: ShardingRuleLookup):
        self.kinds = RelationKinds()
        self._program = program
        self._lookup = lookup
        # By the identity of rules: those who hand them out keep them, one for all equal ones.
        self._kinds_of_rules: dict[int, RelationKind] = {}

    def read(self) -> list[Relation | None]:
        """The relation of each operation, None where there is none.

        Raises:
            PassError: a type that propagation does not support, or a rule that does not fit.
        """
        relations: list[Relation | None] = []
        program, lookup = self._program, self._lookup
        types, slots = program.types, program.slots
        type_of, slot_of = types.__getitem__, slots.__getitem__
        with_own_rule = program.with_own_rule
        rows = zip(
            program.operations, program.names, program.operands, program.results, strict=True
        )
        for number, (operation, name, operands, results) in enumerate(rows):
            special = _SPECIAL.get(name)
            if special is not None:
                relations.append(special(self, operation, operands, results))
                continue
            if number in with_own_rule:
                rule = value_of(operation.attributes[SHARDING_RULE])
            else:
                rule = lookup.registered_rule(
                    operation, name, tuple(map(type_of, operands)), tuple(map(type_of, results))
                )
            if rule is None:
                relations.append(None)
                continue
            kind = self._kinds_of_rules.get(id(rule))
            if kind is None:
                kind = self.kinds.kind(rule, conservative=lookup.conservative)
                self._kinds_of_rules[id(rule)] = kind
            tensors = (*map(slot_of, operands), *map(slot_of, results))
            relations.append(Relation(kind, tensors, True))
        return relations

    def function_results(self) -> list[Relation]:
        """For each result of the main function, what ties it to the value returned."""
        results = self._program.main_results
        if results is None:
            return []
        relations: list[Relation] = []
        for value, slot in zip(results.returned, results.slots, strict=True):
            kind = self._identity(value, 1)
            if kind is not None:
                relations.append(Relation(kind, (self._program.slots[value], slot)))
        return relations

    def _identity(
        self,
        value: int,
        num_operands: int,
        direction: PropagationDirection = PropagationDirection.BOTH,
    ) -> RelationKind | None:
        tensor = self._lookup.tensor_type(self._program.types[value])
        if tensor is None or not tensor.is_static:
            return None
        return self.kinds.kind(identity_rule(tensor.shape, num_operands), direction)

    def _barrier(
        self, operation: ir.Operation, operands: Sequence[int], results: range
    ) -> Relation | None:
        direction = PropagationDirection(operation.attributes["allowed_direction"].value)
        return self._tie(operands, results[0], direction)

    def _function_edge(
        self, _: ir.Operation, operands: Sequence[int], results: range
    ) -> Relation | None:
        program = self._program
        (source,) = operands
        maker = program.makers[source]
        if program.names[maker] == "func.func":
            index = program.arguments[maker].index(source)
            sources = [program.operands[call][index] for call in program.calls_of(maker)]
        else:
            index = program.results[maker].index(source)
            returned = program.returned(program.callee(maker))
            sources = [returned[index]] if returned else []
        return self._tie(sources, results[0])

    def _tie(
        self,
        sources: Sequence[int],
        target: int,
        direction: PropagationDirection = PropagationDirection.BOTH,
    ) -> Relation | None:
        kind = self._identity(target, len(sources), direction) if sources else None
        if kind is None:
            return None
        slots = self._program.slots
        return Relation(kind, tuple(slots[value] for value in (*sources, target)))


_SPECIAL = {
    "sdy.propagation_barrier": RelationReader._barrier,
    "sdy.func_data_flow_edge": RelationReader._function_edge,
}
