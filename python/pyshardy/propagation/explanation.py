# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Why a tensor is sharded as it is: the steps from it to the user's annotations, as text.

Of `%1` in

    sdy.mesh @m = <["a"=2, "b"=2]>
    func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {"b"}]>},
                    %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{?}, {}]>}) {
      %0 = stablehlo.tanh %x : tensor<8x8xf32>
      %1 = stablehlo.add %0, %y : tensor<8x8xf32>

with the basic strategy it tells

    result 0 of stablehlo.add (t.mlir:5:8): <@m, [{"a", ?}, {?}]>
      dimension 0, "a":
        step 1: result 0 of stablehlo.add (t.mlir:5:8) got "a" from operand 0, forward along
            factor i=8 [basic]
        step 0: result 0 of stablehlo.tanh (t.mlir:4:8) got "a", "b" from operand 0, ...
        argument 0 of @main (t.mlir:2:1) has it from the program: <@m, [{"a"}, {"b"}]>
      not sharded further:
        "b" of operand 0 of stablehlo.add (t.mlir:5:8), along factor j=8: operand 1 is closed there
"""

from __future__ import annotations

from collections.abc import Iterator

from mlir_sdy.model import AxisRef, FactorType, OpShardingRule, factor_name
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


# --- What came ------------------------------------------------------------------------------------


def _chain(record: Propagation, slot: int, dim: int, axis: AxisRef) -> Iterator[str]:
    """The steps by which an axis came to a dimension, the last one first."""
    before = len(record)
    for _ in range(_MAX_STEPS):
        given = record.given(slot)
        axes = () if given is None else given.dim_shardings[dim].axes
        if any(known.contains(axis) for known in axes):
            yield f"{record.tensor(slot)} has it from the program: {given}"
            return
        found = _last_gain(record, slot, dim, axis, before)
        if found is None:
            member = _gained_before(record, slot, dim, axis, before)
            if member is not None:
                yield f"{record.tensor(slot)} has it as a member of a sharding group"
                slot = member
                continue
            if any(axis.contains(known) for known in axes):
                yield f"{record.tensor(slot)} has a part of it from the program: {given}"
            else:
                yield f"{record.tensor(slot)} has it from the manual computation around it"
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


def _gained_before(
    record: Propagation, slot: int, dim: int, axis: AxisRef, before: int
) -> int | None:
    """The member of a tensor's sharding group that got an axis last, for all of them."""
    gains = [
        (found[0].number, member)
        for member in record.members(slot)
        if (found := _last_gain(record, member, dim, axis, before)) is not None
    ]
    return max(gains)[1] if gains else None


def _told(step: Step, flow: Flow) -> str:
    num_operands = len(step.rule.operand_mappings)
    axes = ", ".join(map(str, flow.axes))
    if flow.source is None:
        origin = "several tensors together"
    else:
        origin = f"{_tensor(flow.source, step.rule)}, {_direction(flow, num_operands)}"
    target = f"{_tensor(flow.target, step.rule)} of {step.name}"
    where = "" if step.location is None else f" ({step.location})"
    return (
        f"step {step.number}: {target}{where} got {axes} from {origin} "
        f"along {_factor(step.rule, flow.factor)} [{_run(step)}]"
    )


def _direction(flow: Flow, num_operands: int) -> str:
    is_from_operand = flow.source is not None and flow.source < num_operands
    if is_from_operand == (flow.target < num_operands):
        return "sideways"
    return "forward" if is_from_operand else "backward"


def _run(step: Step) -> str:
    said = [step.run.strategy.__name__.removeprefix("propagate_")]
    if step.run.priority < NUM_PRIORITIES - 1:
        said.append(f"operation priority {step.run.priority}")
    if step.run.user_priority:
        said.append(f"user priority {step.run.user_priority}")
    return ", ".join(said)


# --- What did not come ----------------------------------------------------------------------------


def _refused(record: Propagation, slot: int) -> Iterator[str]:
    for operation, refusal, relation in record.still_refused(slot):
        rule = relation.family.rule
        blocker = "" if refusal.blocker is None else f"{_tensor(refusal.blocker, rule)} "
        yield (
            f"{refusal.axis} of {_tensor(refusal.source, rule)} of "
            f"{record.operation(operation)}, along {_factor(rule, refusal.factor)}: "
            f"{blocker}{refusal.reason.value}"
        )


# --- Words ----------------------------------------------------------------------------------------


def _tensor(position: int, rule: OpShardingRule) -> str:
    """A tensor by its position among operands and results."""
    num_operands = len(rule.operand_mappings)
    if position < num_operands:
        return f"operand {position}"
    return f"result {position - num_operands}"


def _factor(rule: OpShardingRule, factor: int) -> str:
    """A factor by its name and size, and its kind if that is a special one."""
    kind = rule.factor_type(factor)
    word = "" if kind is FactorType.PASS_THROUGH else f"{kind.name.lower().replace('_', '-')} "
    return f"{word}factor {factor_name(factor)}={rule.factor_sizes[factor]}"
