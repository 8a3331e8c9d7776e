# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Explanation of a tensor's sharding: the steps from it back to the user's annotations.

Of `%1` in

    sdy.mesh @m = <["a"=2, "b"=2]>
    func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {"b"}]>},
                    %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{?}, {}]>}) {
      %0 = stablehlo.tanh %x : tensor<8x8xf32>
      %1 = stablehlo.add %0, %y : tensor<8x8xf32>

the explanation with the basic strategy is

    result 0 of stablehlo.add (t.mlir:5:8): <@m, [{"a", ?}, {?}]>
      dimension 0, "a":
        step 1: result 0 of stablehlo.add (t.mlir:5:8) got "a" from operand 0, forward along
            factor i=8 [basic]
        step 0: result 0 of stablehlo.tanh (t.mlir:4:8) got "a", "b" from operand 0, ...
        argument 0 of @main (t.mlir:2:17), given in the program: <@m, [{"a"}, {"b"}]>
      not by "b": result 0 of stablehlo.tanh has it along factor j=8 of stablehlo.add (t.mlir:5:8),
          but operand 1 is closed in this dimension
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from mlir_sdy.diagnostics import SourceLocation
from mlir_sdy.host import ir
from mlir_sdy.model import (
    AxisRef,
    AxisTuple,
    TensorSharding,
)
from mlir_sdy.model.text import quoted
from mlir_sdy.uses import defining_operation
from mlir_sdy.values import OWN_SHARDING
from pyshardy.display import MOST_ROWS, Displayed, DisplayedText, Table, counted
from pyshardy.irtools.named_values import NamedValues
from pyshardy.propagation.debugging.axis_chains import Root, chain_of, dim_of, root_at, root_of
from pyshardy.propagation.debugging.flows import AxisFlow
from pyshardy.propagation.debugging.reason_texts import factor_text, sentence
from pyshardy.propagation.debugging.reasons import ReasonFinder, ReasonKind
from pyshardy.propagation.debugging.record import (
    PropagationStep,
    Record,
    RecordedTensor,
    position_text,
)
from pyshardy.propagation.debugging.refusals import RefusalReason
from pyshardy.propagation.op_priority import NUM_PRIORITIES

_MAX_STEPS = 50
"""The number of steps from which the rest of a chain, but for its root, is left out."""

_BARRIER = "stablehlo.optimization_barrier"
_INSERTED = {_BARRIER, *OWN_SHARDING} - {"sdy.sharding_constraint", "sdy.data_flow_edge"}
"""Operations that stand for a value of the program: reshards, collectives and barriers."""


@dataclass(frozen=True, slots=True)
class Gain:
    """A step by which axes came to a tensor.

    Attributes:
        tensor: the tensor that got them.
        step: the number of the step.
        operation: the name of the operation that was stepped through.
        location: the source location of the operation.
        axes: the propagated axes.
        target: the tensor as an operand or result of the operation, such as `result 0`.
        source: the operand or result that the axes came from; None if they came from several.
        direction: forward, backward or sideways; None without a source.
        factor: the factor along which they were propagated, with its size and kind.
        strategy: the name of the strategy.
        operation_priority: the priority of operations at that time; None if all took part.
        user_priority: the priority of dimensions at that time.
    """

    tensor: RecordedTensor
    step: int
    operation: str
    location: SourceLocation | None
    axes: AxisTuple
    target: str
    source: str | None
    direction: str | None
    factor: str
    strategy: str
    operation_priority: int | None
    user_priority: int

    def __str__(self) -> str:
        axes = ", ".join(map(str, self.axes))
        come_from = "several tensors together"
        if self.source is not None:
            come_from = f"{self.source}, {self.direction}"
        where = "" if self.location is None else f" ({self.location})"
        run = [self.strategy]
        if self.operation_priority is not None:
            run.append(f"operation priority {self.operation_priority}")
        if self.user_priority:
            run.append(f"user priority {self.user_priority}")
        return (
            f"step {self.step}: {self.target} of {self.operation}{where} got {axes} from "
            f"{come_from} along {self.factor} [{', '.join(run)}]"
        )


@dataclass(frozen=True, slots=True)
class AxisExplanation:
    """The chain of steps by which an axis came to a dimension.

    Attributes:
        dim: the dimension.
        axis: the axis.
        chain: the steps, the last one first. The annotation of the program is at the end.
        is_cut: whether the chain was too long, and steps before the annotation are left out.
    """

    dim: int
    axis: AxisRef
    chain: tuple[Gain | Root, ...]
    is_cut: bool = False

    @property
    def root(self) -> Root | None:
        """The beginning of the chain; None if it is not known."""
        last = self.chain[-1] if self.chain else None
        return last if isinstance(last, Root) else None


@dataclass(frozen=True, slots=True)
class RefusedAxis:
    """An axis that a tensor did not get from another tensor of an operation, with the reason.

    Attributes:
        axis: the axis.
        operation: the name of the operation that would propagate the axis.
        location: the source location of the operation.
        source: the tensor that has the axis.
        source_position: the source as an operand or result of the operation, such as `operand 1`.
        target_dim: the dimension that the axis would shard.
        factor: the factor along which it would be propagated, with its size and kind.
        reason: the reason of the refusal.
        blocker: the tensor that causes the refusal; None if no single one does.
        blocker_position: the blocker as an operand or result of the operation.
    """

    axis: AxisRef
    operation: str
    location: SourceLocation | None
    source: RecordedTensor
    source_position: str
    target_dim: int
    factor: str
    reason: RefusalReason
    blocker: RecordedTensor | None
    blocker_position: str | None

    def __str__(self) -> str:
        where = "" if self.location is None else f" ({self.location})"
        blocker = "" if self.blocker_position is None else f"{self.blocker_position} "
        return (
            f"{self.axis} of {self.source_position} of {self.operation}{where}, "
            f"along {self.factor}: {blocker}{self.reason.value}"
        )


@dataclass(frozen=True, slots=True)
class AbsentAxes:
    """Axes that don't shard a tensor, for one reason.

    Attributes:
        axes: the names of the axes.
        kind: the kind of the reason.
        text: the reason, in which "it" is the axis.
    """

    axes: tuple[str, ...]
    kind: ReasonKind
    text: str

    def __str__(self) -> str:
        return f"not by {', '.join(map(quoted, self.axes))}: {self.text}"


@dataclass(frozen=True, slots=True, repr=False)
class Explanation(DisplayedText):
    """Origins of a tensor's axes, and why it has no others; `str` and `repr` are a text.

    Attributes:
        tensor: the tensor.
        sharding: its sharding after propagation.
        axes: the chain of steps of each axis.
        refused: the axes that other tensors of its operations have, and that it did not take.
        absent: the axes of the mesh that don't shard it, with reasons.
        inserted: the operations inserted after propagation between the tensor and the value in
            question, the last one first.
    """

    tensor: RecordedTensor
    sharding: TensorSharding | None
    axes: tuple[AxisExplanation, ...]
    refused: tuple[RefusedAxis, ...]
    absent: tuple[AbsentAxes, ...] = ()
    inserted: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [f"{name}, inserted after propagation, of" for name in self.inserted]
        lines.append(f"{self.tensor}: {self.sharding or 'no sharding'}")
        for each in self.axes:
            lines.append(f"  dimension {each.dim}, {each.axis}:")
            chain = [str(link) for link in each.chain]
            if each.is_cut:
                chain.insert(_MAX_STEPS, "... (more steps)")
            lines.extend(f"    {link}" for link in chain)
        lines.extend(f"  {each}" for each in self.absent)
        return "\n".join(lines)


def explain(finder: ReasonFinder, slot: int, inserted: tuple[str, ...] = ()) -> Explanation:
    """Explain how each axis came to a tensor, and why the remaining axes did not.

    Args:
        finder: finds the reasons.
        slot: the number of the tensor.
        inserted: see `Explanation`.
    """
    record = finder.record
    return Explanation(
        record.tensor(slot),
        record.engine.sharding(slot),
        axes_of(record, slot),
        refused_axes(record, slot),
        absent_axes(finder, slot),
        inserted,
    )


def axes_of(record: Record, slot: int) -> tuple[AxisExplanation, ...]:
    """Return the chains of the axes that shard a tensor after propagation."""
    sharding = record.engine.sharding(slot)
    return tuple(
        _explain_axis(record, slot, dim, axis)
        for dim, axes in enumerate(() if sharding is None else sharding.dim_axes)
        for axis in axes
    )


def absent_axes(finder: ReasonFinder, slot: int) -> tuple[AbsentAxes, ...]:
    """Return the axes of the mesh that don't shard a tensor, grouped by reason.

    Axes that shard it, and that another dimension was offered and refused, follow them.

    Args:
        finder: finds the reasons.
        slot: the number of the tensor.
    """
    if not finder.shape(slot):
        return ()
    groups: dict[tuple[ReasonKind, str], list[str]] = {}
    elsewhere: list[AbsentAxes] = []
    for axis in finder.axes(slot):
        reason = finder.reason(slot, axis)
        if reason.kind is not ReasonKind.SHARDED:
            groups.setdefault((reason.kind, sentence(finder, reason)), []).append(axis)
        for dim in range(len(finder.shape(slot))) if reason.kind is ReasonKind.SHARDED else ():
            refused = None if dim in reason.dims else finder.refused_in(slot, axis, (dim,))
            if refused is not None:
                text = f"in dimension {dim}: {sentence(finder, refused)}"
                elsewhere.append(AbsentAxes((axis,), ReasonKind.ELSEWHERE, text))
    absent = (AbsentAxes(tuple(axes), *key) for key, axes in groups.items())
    return (*absent, *elsewhere)


class Propagation(Record, Displayed):
    """Observer that records the steps of a propagation in order, and explains shardings.

    Only the changes are recorded; the details of a step are computed on demand.
    """

    @property
    def module(self) -> ir.Module:
        """The propagated module."""
        return self.engine.program.module

    def summary(self) -> str:
        """Return the number of steps and of operations in one line."""
        if not self.has_started:
            return "nothing propagated"
        program = self.engine.program
        return f"{counted(len(self), 'step')} on {counted(len(program.operations), 'operation')}"

    def tables(self) -> list[Table]:
        """Return a table of the first steps."""
        rows = [
            (step.number, step.name, step.location or "", step.changes)
            for step in itertools.islice(self, MOST_ROWS)
        ]
        return [Table("Steps", ("step", "operation", "location", "change"), rows, len(self))]

    def explain(self, value: ir.Value | str, finder: ReasonFinder | None = None) -> Explanation:
        """Explain why a value is sharded as it is, and why not further.

            print(record.explain("params['w']"))

        Args:
            value: a value of the module, as it was when propagation started, or as later passes
                created it; or a name of `pyshardy.values`. For the result of a reshard or a
                collective, the explanation is that of the value before these operations.
            finder: finds the reasons; by default those that propagation alone knows.

        Raises:
            UsageError: no value, or several ones, have the name.
            ValueError: propagation saw neither the value nor one that it replaces.
        """
        named = isinstance(value, str)
        known = NamedValues(self.engine.program.module)[value] if named else value
        slot, inserted = self._found(known)
        return explain(finder or self.reasons, slot, inserted)

    @functools.cached_property
    def reasons(self) -> ReasonFinder:
        """The reasons of the shardings, as propagation left them."""
        return ReasonFinder(self)

    def slot(self, value: ir.Value) -> int:
        """Return the number of the tensor that `explain` explains.

        Args:
            value: as for `explain`.

        Raises:
            ValueError: as for `explain`.
        """
        return self._found(value)[0]

    def _found(self, value: ir.Value) -> tuple[int, tuple[str, ...]]:
        """Return the slot of a value, and the operations inserted after propagation before it."""
        inserted: list[str] = []
        while (slot := self.later_values.slot(value)) is None:
            operation = defining_operation(value)
            if operation is None or operation.name not in _INSERTED:
                message = (
                    "the value was not there when shardings were propagated, and it is not known "
                    "what it stands for; ask for one that it is made of"
                )
                raise ValueError(message)
            inserted.append(operation.name)
            is_barrier = operation.name == _BARRIER
            value = operation.operands[ir.OpResult(value).result_number if is_barrier else 0]
        return slot, tuple(inserted)


# --- Propagated axes ------------------------------------------------------------------------------


def _explain_axis(record: Record, slot: int, dim: int, axis: AxisRef) -> AxisExplanation:
    chain: list[Gain | Root] = []
    for link in chain_of(record, slot, dim, axis):
        if len(chain) == _MAX_STEPS:
            root = root_of(record, slot, dim, axis)
            end = () if root is None else (root,)
            return AxisExplanation(dim, axis, (*chain, *end), is_cut=True)
        if link.step is None or link.flow is None:
            chain.append(root_at(record, link))
        else:
            chain.append(gain_of(record[link.step], link.flow))
    return AxisExplanation(dim, axis, tuple(chain))


def gain_of(step: PropagationStep, flow: AxisFlow) -> Gain:
    """Describe a flow of a step as a `Gain`."""
    num_operands = len(step.rule.operand_mappings)
    priority = step.run.priority
    return Gain(
        step.tensors[flow.target],
        step.number,
        step.name,
        step.location,
        flow.axes,
        position_text(flow.target, step.rule),
        None if flow.source is None else position_text(flow.source, step.rule),
        None if flow.source is None else _direction(flow.source, flow.target, num_operands),
        factor_text(step.rule, flow.factor),
        step.run.strategy.__name__.removeprefix("propagate_"),
        priority if priority < NUM_PRIORITIES - 1 else None,
        step.run.user_priority,
    )


def _direction(source: int, target: int, num_operands: int) -> str:
    is_from_operand = source < num_operands
    if is_from_operand == (target < num_operands):
        return "sideways"
    return "forward" if is_from_operand else "backward"


# --- Refused axes ---------------------------------------------------------------------------------


def refused_axes(record: Record, slot: int) -> tuple[RefusedAxis, ...]:
    """Return the axes that a tensor did not get, with reasons.

    Args:
        record: the record of the propagation.
        slot: the number of the tensor.
    """
    return tuple({str(each): each for each in _refused(record, slot)}.values())


def _refused(record: Record, slot: int) -> Iterator[RefusedAxis]:
    for operation, refusal, relation in record.still_refused(slot):
        rule = relation.family.rule
        name, location = record.operation(operation)
        blocker = refusal.blocker
        yield RefusedAxis(
            refusal.axis,
            name,
            location,
            record.tensor(relation.tensors[refusal.source]),
            position_text(refusal.source, rule),
            dim_of(rule, refusal.target, refusal.factor),
            factor_text(rule, refusal.factor),
            refusal.reason,
            None if blocker is None else record.tensor(relation.tensors[blocker]),
            None if blocker is None else position_text(blocker, rule),
        )


def with_axis_on(sharding: TensorSharding, axis: AxisRef, dim: int) -> TensorSharding:
    """Return a sharding with an axis moved to the end of a dimension.

    Example: `[{"x"}, {"y"}]` with `x` on dimension 1 is `[{}, {"y", "x"}]`.
    """
    dims = list(sharding.dim_shardings)
    for at, given in enumerate(dims):
        kept = tuple(each for each in given.axes if not each.overlaps(axis))
        dims[at] = given.with_axes((*kept, axis) if at == dim else kept)
    return sharding.with_dims(tuple(dims))
