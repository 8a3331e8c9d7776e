# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy.propagation_edges`: the steps that propagated axes to and from the tensors of an operation.

Every step that changes something has a number. Numbers of earlier passes are kept: numbering
continues after the highest one in the module. A sub-axis is omitted if the tensor has a larger part
of the axis in the end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

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
from mlir_sdy.values import set_result_attributes
from pyshardy.propagation.debugging.flows import flows
from pyshardy.propagation.engine import Engine, StepChange

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
