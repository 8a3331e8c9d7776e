# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The debug information that propagation writes into a program.

An origin is named by the sharded value or operation of the user:

| name                                   | origin                                               |
|----------------------------------------|------------------------------------------------------|
| `input: 1`, `output: 0`                | an argument, a result of a function                  |
| `constraint_0`                         | the first `sdy.sharding_constraint`                  |
| `mc_0_input: 1`, `mc_0_output: 0`      | an operand, a result of the first manual computation |
| `stablehlo.add: 0`                     | a result of an operation                             |
| `self`                                 | the value itself                                     |

Constraints and manual computations have their name in `sdy.sharding_origin_name`.

1. At the start an axis of a value has the first origin that applies: a constraint whose result or
   input the value is; a manual computation likewise; the argument or result of a function; else the
   value itself.
2. An axis that a step propagates inherits the origin that it has in the source tensor, or that of
   an axis there that contains it or that it contains.
3. In the end, a sub-axis has no origin of its own if the value is sharded by a larger part of the
   axis. If several tensors contributed the larger part, it has the origin of the sub-axis.

Every step that changes something has a number. Numbers of earlier passes are kept: numbering
continues after the highest one in the module. A sub-axis is omitted if the tensor has a larger part
of the axis in the end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from mlir_sdy import sdy
from mlir_sdy.attributes import AttributeCache, value_of
from mlir_sdy.discardable import get_discardable, set_discardable
from mlir_sdy.host import ir
from mlir_sdy.model import (
    AxisRef,
    AxisToPropagationDetails,
    EdgeNodeType,
    EdgeValueRef,
    OpShardingRule,
    PropagationEdges,
    PropagationOneStep,
    TensorSharding,
)
from mlir_sdy.op_classes import view_as
from mlir_sdy.values import OWN_SHARDING, set_argument_attributes, set_result_attributes
from pyshardy.propagation.debugging.flows import flows
from pyshardy.propagation.engine import Engine, StepChange
from pyshardy.propagation.program import NOWHERE, Program
from pyshardy.propagation.relation import RelationReader
from pyshardy.rules import ShardingRuleLookup

# --- `sdy.sharding_origins` -----------------------------------------------------------------------


ORIGINS = "sdy.sharding_origins"
ORIGIN_NAME = "sdy.sharding_origin_name"

_SELF = "self"
_CONSTRAINT = "sdy.sharding_constraint"
_MANUAL_COMPUTATION = "sdy.manual_computation"


class ShardingOrigins:
    """Observer that tracks the origins of axes and writes them to attributes at the end.

    Args:
        compatible: whether sub-axes that were merged into larger ones keep their origins, as in C++
            Shardy.
    """

    def __init__(self, *, compatible: bool = False) -> None:
        self._compatible = compatible
        self._engine: Engine | None = None
        # By slot: the origin of each axis.
        self._origins: defaultdict[int, dict[AxisRef, str]] = defaultdict(dict)
        # By slot: the name of the place itself as an origin.
        self._names: dict[int, str] = {}
        # By operation: its name as an origin.
        self._origin_names: dict[int, str] = {}

    def on_start(self, engine: Engine) -> None:
        """Find the origins in the program."""
        self._engine = engine
        program = engine.program
        for slot, sharding in self._given(engine):
            origins = self._origins[self._holder(program, slot)]
            for dim in sharding.dim_shardings:
                for axis in dim.axes:
                    origins.setdefault(axis, self._names[slot])

    def on_step(self, change: StepChange) -> None:
        """Propagate origins along a step."""
        if self._engine is None:
            return
        trace = self._engine.stepper.trace(change.kind, change.state)
        if trace is None:
            return
        program = self._engine.program
        before = trace.before(change.kind.rule)
        for flow in flows(change.kind.rule, before, trace.after, trace.mesh):
            if flow.source is None:
                continue
            tensors = change.relation.tensors
            source = self._origins[self._holder(program, tensors[flow.source])]
            target = self._origins[self._holder(program, tensors[flow.target])]
            for axis in flow.axes:
                origin = _origin_of(axis, source)
                if origin is not None:
                    target.setdefault(axis, origin)

    def on_end(self, engine: Engine) -> None:
        """Write the origins to the operations, arguments and results with the shardings."""
        program = engine.program
        context = program.module.context
        for operation, name in self._origin_names.items():
            set_discardable(
                program.operations[operation], ORIGIN_NAME, ir.StringAttr.get(name, context)
            )
        for operation, results in enumerate(program.results):
            self._write_results(program, operation, results)
        for function in program.functions.values():
            arguments = program.arguments.get(function, range(0))
            set_argument_attributes(
                program.operations[function],
                ORIGINS,
                self._dictionaries(program, arguments),
            )
            set_result_attributes(
                program.operations[function],
                ORIGINS,
                self._dictionaries(program, program.function_results[function]),
            )

    # --- Origins in the program ---------------------------------------------------------------

    def _given(self, engine: Engine) -> Iterator[tuple[int, TensorSharding]]:
        """Yield the shardings that are origins, and after each constraint that of its input."""
        program = engine.program
        for number, name in self._numbered(program, _CONSTRAINT, "constraint"):
            slot = program.results[number][0]
            self._names[slot] = name
            yield from self._at(engine, slot)
            yield from self._at(engine, program.slots[program.operands[number][0]], name)
        for number, name in self._numbered(program, _MANUAL_COMPUTATION, "mc"):
            computation = view_as(sdy.ManualComputationOp, program.operations[number])
            for end, attribute, targets, others in (
                (
                    "input",
                    computation.in_shardings,
                    program.arguments[number],
                    program.operands[number],
                ),
                ("output", computation.out_shardings, program.results[number], ()),
            ):
                shardings = value_of(attribute).shardings
                for index, (target, sharding) in enumerate(zip(targets, shardings, strict=True)):
                    slot = program.slots[target]
                    self._names[slot] = f"{name}_{end}: {index}"
                    yield slot, sharding
                    if others:
                        at = program.slots[others[index]]
                        yield from self._at(engine, at, self._names[slot])
        for function in program.functions.values():
            for index, slot in enumerate(program.arguments.get(function, ())):
                self._names[slot] = f"input: {index}"
                yield from self._at(engine, slot)
            for index, slot in enumerate(program.function_results[function]):
                self._names[slot] = f"output: {index}"
                yield from self._at(engine, slot)
        for slot, sharding in engine.given_shardings():
            if slot not in self._names:
                maker = program.makers[slot]
                results = program.results[maker]
                index = results.index(slot) if slot in results else 0
                self._names[slot] = f"{program.names[maker]}: {index}"
                yield slot, sharding

    def _numbered(self, program: Program, kind: str, word: str) -> Iterator[tuple[int, str]]:
        """Return the operations of one kind with their names as origins, in post-order."""
        numbers = [number for number, name in enumerate(program.names) if name == kind]
        numbers.sort(key=lambda number: (program.ends[number], -number))
        for index, number in enumerate(numbers):
            self._origin_names[number] = f"{word}_{index}"
            yield number, f"{word}_{index}"

    def _at(
        self, engine: Engine, slot: int, name: str | None = None
    ) -> Iterator[tuple[int, TensorSharding]]:
        sharding = engine.sharding(slot) if slot != NOWHERE else None
        if sharding is None:
            return
        if name is None:
            yield slot, sharding
            return
        origins = self._origins[self._holder(engine.program, slot)]
        for dim in sharding.dim_shardings:
            for axis in dim.axes:
                origins.setdefault(axis, name)

    def _holder(self, program: Program, slot: int) -> int:
        """Return the slot whose origins a function result shares: that of the returned value."""
        if not program.is_result_of_function(slot):
            return slot
        function = program.makers[slot]
        returned = program.returned(function)
        if not returned:
            return slot
        return program.slots[returned[program.function_results[function].index(slot)]]

    # --- Writing ------------------------------------------------------------------------------

    def _write_results(self, program: Program, operation: int, results: range) -> None:
        found = [self._origins.get(slot, {}) for slot in results]
        if not any(found):
            return
        dictionaries = [
            self._dictionary(program, slot, origins)
            for slot, origins in zip(results, found, strict=True)
        ]
        if program.names[operation] in OWN_SHARDING:
            attribute: ir.Attribute = dictionaries[0]
        else:
            attribute = ir.ArrayAttr.get(dictionaries, program.module.context)
        set_discardable(program.operations[operation], ORIGINS, attribute)

    def _dictionaries(self, program: Program, slots: range) -> dict[int, ir.Attribute | None]:
        found = {
            index: self._origins.get(self._holder(program, slot), {})
            for index, slot in enumerate(slots)
        }
        return {
            index: self._dictionary(program, slots[index], origins)
            for index, origins in found.items()
            if origins
        }

    def _dictionary(
        self, program: Program, slot: int, origins: Mapping[AxisRef, str]
    ) -> ir.Attribute:
        own, context = self._names.get(slot), program.module.context
        entries: dict[str, ir.Attribute] = {}
        if not self._compatible and self._engine is not None:
            origins = _without_merged_axes(origins, self._engine.sharding(slot))
        for axis, origin in origins.items():
            said = _SELF if origin == own else origin
            entries[str(axis).replace('"', "")] = ir.StringAttr.get(said, context)
        return ir.DictAttr.get(entries, context)


def _without_merged_axes(
    origins: Mapping[AxisRef, str], sharding: TensorSharding | None
) -> dict[AxisRef, str]:
    """Return the origins of the axes that a tensor has in the end."""
    kept = {axis: origin for axis, origin in origins.items() if not is_merged_away(axis, sharding)}
    for axis in final_axes(sharding):
        origin = None if axis in kept else _origin_of(axis, origins)
        if origin is not None:
            kept[axis] = origin
    return kept


def _origin_of(axis: AxisRef, origins: Mapping[AxisRef, str]) -> str | None:
    if axis in origins:
        return origins[axis]
    for known, origin in origins.items():
        if known.contains(axis) or axis.contains(known):
            return origin
    return None


# --- `sdy.propagation_edges` ----------------------------------------------------------------------


EDGES = "sdy.propagation_edges"
Edge = tuple[AxisRef, EdgeValueRef, EdgeValueRef]
"""An axis, the operand or result that had it, and the one that it came to."""


class PropagationEdgesRecorder:
    """Observer that writes the steps that concern each operation to its attributes at the end.

    Args:
        cache: the cache of attributes.
        compatible: whether sub-axes that were merged into larger ones are kept, as in C++ Shardy.
    """

    def __init__(self, cache: AttributeCache, *, compatible: bool = False):
        self._cache = cache
        self._compatible = compatible
        self._engine: Engine | None = None
        self._next_step = 0
        # By operation: the step in which each edge was first taken, and the slot that it led to.
        self._edges: defaultdict[int, dict[Edge, int]] = defaultdict(dict)
        self._slots: defaultdict[int, dict[Edge, int]] = defaultdict(dict)

    def on_start(self, engine: Engine) -> None:
        """Find the number of the first step."""
        self._engine = engine
        self._next_step = first_free_step(engine.program.operations)

    def on_step(self, change: StepChange) -> None:
        """Record the edges of a step."""
        if self._engine is None:
            return
        rule = change.kind.rule
        trace = self._engine.stepper.trace(change.kind, change.state)
        if trace is not None:
            edges, slots = self._edges[change.operation], self._slots[change.operation]
            for flow in flows(rule, trace.before(rule), trace.after, trace.mesh):
                if flow.source is None:
                    continue
                source = _reference(flow.source, rule)
                target = _reference(flow.target, rule)
                slot = change.relation.tensors[flow.target]
                for axis in flow.axes:
                    edges.setdefault((axis, source, target), self._next_step)
                    slots.setdefault((axis, source, target), slot)
        self._next_step += 1

    def on_end(self, engine: Engine) -> None:
        """Write the edges to the operations; those of a function's results to its first result."""
        program = engine.program
        for number, taken in self._edges.items():
            edges = {
                edge: step
                for edge, step in taken.items()
                if self._compatible
                or not is_merged_away(edge[0], engine.sharding(self._slots[number][edge]))
            }
            if not edges:
                continue
            operation = program.operations[number]
            attribute = self._cache[edges_attribute(edges)]
            if program.names[number] == "func.func":
                set_result_attributes(operation, EDGES, {0: attribute})
            else:
                set_discardable(operation, EDGES, attribute)


def first_free_step(operations: Iterable[ir.Operation]) -> int:
    """Return the successor of the highest step number in the module."""
    highest = -1
    for operation in operations:
        edges = get_discardable(operation, EDGES)
        if edges is not None:
            for step in value_of(edges).value:
                highest = max(highest, step.step_index)
    return highest + 1


def edges_attribute(edges: dict[Edge, int]) -> PropagationEdges:
    """Return the edges by step, axis and source, with the targets of each in order."""
    by_step: defaultdict[int, defaultdict[tuple[AxisRef, EdgeValueRef], list[EdgeValueRef]]]
    by_step = defaultdict(lambda: defaultdict(list))
    for (axis, source, target), step in edges.items():
        by_step[step][axis, source].append(target)
    return PropagationEdges(
        tuple(
            PropagationOneStep(
                step,
                tuple(
                    AxisToPropagationDetails(axis, source, tuple(sorted(targets, key=_order)))
                    for (axis, source), targets in sorted(
                        by_step[step].items(), key=lambda entry: (entry[0][0], _order(entry[0][1]))
                    )
                ),
            )
            for step in sorted(by_step)
        )
    )


def _order(reference: EdgeValueRef) -> tuple[int, int]:
    return int(reference.type), reference.index


def _reference(position: int, rule: OpShardingRule) -> EdgeValueRef:
    """Return the operand or result at a position of a relation.

    The operands of a data-flow edge are its sources, of which its operation has only one.
    """
    num_operands = len(rule.operand_mappings)
    if position < num_operands:
        return EdgeValueRef(EdgeNodeType.OPERAND, position)
    return EdgeValueRef(EdgeNodeType.RESULT, position - num_operands)


def is_merged_away(axis: AxisRef, sharding: TensorSharding | None) -> bool:
    """Whether a sub-axis that a tensor got is part of a larger axis of its final sharding.

    Args:
        axis: an axis that came to the tensor.
        sharding: the final sharding of the tensor.
    """
    axes = final_axes(sharding)
    return axis not in axes and any(other.contains(axis) for other in axes)


def final_axes(sharding: TensorSharding | None) -> tuple[AxisRef, ...]:
    """Return the axes of all dimensions."""
    dims = () if sharding is None else sharding.dim_shardings
    return tuple(axis for dim in dims for axis in dim.axes)


# --- `sdy-apply-sharding-constraints` -------------------------------------------------------------


_INPUT = EdgeValueRef(EdgeNodeType.OPERAND, 0)
_RESULT = EdgeValueRef(EdgeNodeType.RESULT, 0)


def write_origins(module: ir.Module) -> None:
    """Record for the axes of all shardings of a module the user's shardings they come from.

    An axis of the input of a constraint comes from the constraint; see `ShardingOrigins`.
    """
    lookup = ShardingRuleLookup()
    program = Program(module, lookup)
    engine = Engine(program, RelationReader(program, lookup))
    origins = ShardingOrigins()
    origins.on_start(engine)
    origins.on_end(engine)


def write_steps(module: ir.Module, applied: Sequence[ir.Operation]) -> None:
    """Record for each constraint that it sharded its input, in a step of its own.

    Args:
        module: the module that the constraints are in.
        applied: the constraints whose shardings were copied to their inputs, in this order.
    """
    cache = AttributeCache(module.context)
    first = first_free_step(Program(module, ShardingRuleLookup()).operations)
    for step, constraint in enumerate(applied, first):
        sharding = value_of(view_as(sdy.ShardingConstraintOp, constraint).sharding)
        edges = {
            (axis, _RESULT, _INPUT): step for dim in sharding.dim_shardings for axis in dim.axes
        }
        if edges:
            set_discardable(constraint, EDGES, cache[edges_attribute(edges)])
