# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The record of a propagation: which step gave which tensor which axes, and from where."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mlir_sdy.diagnostics import SourceLocation
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import (
    AxisTuple,
    EdgeNodeType,
    EdgeValueRef,
    OpShardingRule,
    PrefixStatus,
    TensorSharding,
    prefix_status,
)
from pyshardy.propagation.engine import Change, Engine
from pyshardy.propagation.projection import ShardingProjection, TensorProjection


@dataclass(frozen=True, slots=True)
class Flow:
    """Axes that flowed along one factor of an operation.

    Attributes:
        factor: the factor.
        axes: the axes along it afterwards.
        source: the operand or result that had them; None if they came together from several.
        targets: those that got them.
    """

    factor: int
    axes: AxisTuple
    source: EdgeValueRef | None
    targets: tuple[EdgeValueRef, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One step that changed something.

    Attributes:
        operation: the operation that was stepped through; the function for one of its results;
            None if the operation was dead and is gone.
        name: the operation's name.
        location: where it stands in the source.
        rule: the rule that was applied.
        before: the shardings of operands, then results, before the step.
        after: those after it.
        flows: what flowed along each factor.
    """

    operation: ir.Operation | None
    name: str
    location: SourceLocation | None
    rule: OpShardingRule
    before: tuple[TensorSharding | None, ...]
    after: tuple[TensorSharding | None, ...]
    flows: tuple[Flow, ...]


class Propagation:
    """The steps of a propagation in their order. What each did is worked out when asked for."""

    def __init__(self, engine: Engine):
        self._engine = engine
        program = engine.program
        erased = {inner for dead in engine.erased for inner in (dead, *program.inside(dead))}
        # These are gone from the IR soon, and so is what could be asked of them.
        self._gone = {
            change.operation: location_of(program.operations[change.operation].location)
            for change in engine.changes
            if change.operation in erased
        }

    def __len__(self) -> int:
        return len(self._engine.changes)

    def __iter__(self) -> Iterator[Step]:
        return map(self._step, self._engine.changes)

    def __getitem__(self, index: int) -> Step:
        return self._step(self._engine.changes[index])

    def _step(self, change: Change) -> Step:
        program, table = self._engine.program, self._engine.table
        before = tuple(table[number] for number in change.state)
        after = list(before)
        for position, number in change.updates:
            after[position] = table[number]
        number = change.operation
        is_gone = number in self._gone
        operation = None if is_gone else program.operations[number]
        location = self._gone[number] if operation is None else location_of(operation.location)
        rule = change.kind.rule
        flows = self._flows(rule, before, tuple(after))
        return Step(operation, program.names[number], location, rule, before, tuple(after), flows)

    def _flows(
        self,
        rule: OpShardingRule,
        before: tuple[TensorSharding | None, ...],
        after: tuple[TensorSharding | None, ...],
    ) -> tuple[Flow, ...]:
        meshes = self._engine.program.meshes
        written = next(sharding.mesh_or_ref for sharding in after if sharding is not None)
        mesh = meshes[written] if isinstance(written, str) else written
        old = ShardingProjection.of(rule, before, mesh).tensors
        new = ShardingProjection.of(rule, after, mesh).tensors
        num_operands = len(rule.operand_mappings)
        flows: dict[tuple[int, AxisTuple], list[EdgeValueRef]] = {}
        for factor in range(rule.num_factors):
            for position, tensor in enumerate(new):
                axes = tensor.axes(factor)
                if axes != old[position].axes(factor):
                    target = _reference(position, num_operands)
                    flows.setdefault((factor, axes), []).append(target)
        return tuple(
            Flow(factor, axes, self._source(old, factor, axes, num_operands), tuple(targets))
            for (factor, axes), targets in flows.items()
        )

    @staticmethod
    def _source(
        old: list[TensorProjection], factor: int, axes: AxisTuple, num_operands: int
    ) -> EdgeValueRef | None:
        """The first tensor that had the axes before."""
        for position, tensor in enumerate(old):
            if prefix_status(axes, tensor.axes(factor)) is not PrefixStatus.NOT:
                return _reference(position, num_operands)
        return None


def _reference(position: int, num_operands: int) -> EdgeValueRef:
    if position < num_operands:
        return EdgeValueRef(EdgeNodeType.OPERAND, position)
    return EdgeValueRef(EdgeNodeType.RESULT, position - num_operands)
