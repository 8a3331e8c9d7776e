# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Why a tensor is sharded as it is: the steps from the user's annotations to it, as text."""

from __future__ import annotations

from collections.abc import Iterator

from mlir_sdy.model import AxisRef, factor_name
from pyshardy.propagation.flows import Flow
from pyshardy.propagation.op_priority import NUM_PRIORITIES
from pyshardy.propagation.record import Propagation, Step

_MAX_STEPS = 50
"""The longest chain of steps that is told to the end."""


def explain(record: Propagation, slot: int) -> str:
    """Tell how each axis came to a tensor, and what did not come, and why.

    Args:
        record: the record of the propagation.
        slot: the number of the tensor.
    """
    sharding = record.engine.sharding(slot)
    lines = [f"{record.tensor(slot)}: {'no sharding' if sharding is None else sharding}"]
    for dim, dim_sharding in enumerate(() if sharding is None else sharding.dim_shardings):
        for axis in dim_sharding.axes:
            lines.append(f"  dimension {dim}, {axis}:")
            lines.extend(f"    {line}" for line in _chain(record, slot, dim, axis))
    refused = list(dict.fromkeys(_refused(record, slot)))
    if refused:
        lines.append("  not sharded further:")
        lines.extend(f"    {line}" for line in refused)
    return "\n".join(lines)


def _chain(record: Propagation, slot: int, dim: int, axis: AxisRef) -> Iterator[str]:
    """The steps by which an axis came to a dimension, the last one first."""
    before = len(record)
    for _ in range(_MAX_STEPS):
        given = record.given(slot)
        if given is not None and any(
            known.contains(axis) or axis.contains(known) for known in given.dim_shardings[dim].axes
        ):
            yield f"{record.tensor(slot)} has it from the program"
            return
        found = _last_gain(record, slot, dim, axis, before)
        if found is None:
            yield f"{record.tensor(slot)} has it as a member of a sharding group, or from its edge"
            return
        step, flow = found
        yield _told(step, flow)
        if flow.source is None:
            return
        slot = step.tensors[flow.source].slot
        dim = next(
            at
            for at, mapping in enumerate(step.rule.mappings[flow.source].dim_mappings)
            if flow.factor in mapping.factor_indices
        )
        before = step.number
    yield "and so on"


def _last_gain(
    record: Propagation, slot: int, dim: int, axis: AxisRef, before: int
) -> tuple[Step, Flow] | None:
    """The latest step before another one in which a dimension got an axis, or part of it."""
    for number in reversed(record.gained(slot)):
        if number >= before:
            continue
        step = record[number]
        for flow in step.flows:
            if (
                step.tensors[flow.target].slot == slot
                and flow.dim == dim
                and any(gained.overlaps(axis) for gained in flow.axes)
            ):
                return step, flow
    return None


def _told(step: Step, flow: Flow) -> str:
    num_operands = len(step.rule.operand_mappings)
    if flow.source is None:
        origin = "from several tensors together"
    else:
        origin = f"from {_end(flow.source, num_operands)}"
    where = "" if step.location is None else f" ({step.location})"
    return (
        f"step {step.number}: {_end(flow.target, num_operands)} of {step.name}{where} got it "
        f"{origin}, along factor {factor_name(flow.factor)} [{_run(step)}]"
    )


def _run(step: Step) -> str:
    said = [step.run.strategy.__name__.removeprefix("propagate_")]
    if step.run.priority < NUM_PRIORITIES - 1:
        said.append(f"operation priority {step.run.priority}")
    if step.run.user_priority:
        said.append(f"user priority {step.run.user_priority}")
    return ", ".join(said)


def _refused(record: Propagation, slot: int) -> Iterator[str]:
    program = record.engine.program
    for operation, refusal, relation in record.still_refused(slot):
        rule = relation.family.rule
        num_operands = len(rule.operand_mappings)
        location = record.tensor(relation.tensors[-1]).location
        where = "" if location is None else f" ({location})"
        blocker = "" if refusal.blocker is None else f"{_end(refusal.blocker, num_operands)} "
        yield (
            f"{refusal.axis} of {_end(refusal.source, num_operands)} of "
            f"{program.names[operation]}{where}, along factor {factor_name(refusal.factor)}: "
            f"{blocker}{refusal.reason.value}"
        )


def _end(position: int, num_operands: int) -> str:
    if position < num_operands:
        return f"operand {position}"
    return f"result {position - num_operands}"
