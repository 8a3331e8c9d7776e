# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The record of a propagation, step by step."""

import pytest

PROGRAM = """
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {}]>},
                %y: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@m, [{?}, {"a"}]>})
    -> tensor<8x8xf32> {
  %0 = stablehlo.dot %x, %y : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.tanh %0 : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}"""


def test_a_step(recorded):
    record = recorded(PROGRAM).record
    step = record[0]
    assert (step.number, step.name, str(step.location)) == (0, "stablehlo.dot", "t.mlir:6:8")
    assert str(step.rule) == "<([i, k], [k, j])->([i, j]) {i=8, j=8, k=4} reduction={k}>"
    assert [str(sharding) for sharding in step.before] == [
        '<@m, [{"a"}, {}]>',
        '<@m, [{?}, {"a"}]>',
        "None",
    ]
    assert [str(sharding) for sharding in step.after][2] == '<@m, [{"a", ?}, {?}]>'
    assert [tensor.description for tensor in step.tensors] == [
        "argument 0 of @main",
        "argument 1 of @main",
        "result 0 of stablehlo.dot",
    ]
    (flow,) = step.flows
    assert (flow.source, flow.target, flow.factor, flow.dim) == (0, 2, 0, 0)
    (refusal,) = step.refusals
    assert (refusal.source, refusal.target, refusal.factor) == (1, 2, 1)


def test_order_and_indices(recorded):
    record = recorded(PROGRAM).record
    assert [step.name for step in record] == ["stablehlo.dot", "stablehlo.tanh", "func.func"]
    assert [step.number for step in record] == [0, 1, 2]
    assert record[-1] == record[2]
    with pytest.raises(IndexError):
        record[3]


def test_replaying_the_steps_gives_the_outcome(recorded):
    """What a step starts from is what the program and the steps before it have left."""
    record = recorded(PROGRAM, by_operation=True).record
    shardings = {}
    for step in record:
        for tensor, before, after in zip(step.tensors, step.before, step.after, strict=True):
            assert shardings.get(tensor.slot, record.given(tensor.slot)) == before
            shardings[tensor.slot] = after
    for slot, sharding in shardings.items():
        assert record.engine.sharding(slot) == sharding


def test_every_gain_has_a_flow(recorded):
    record = recorded(PROGRAM, by_operation=True).record
    for step in record:
        changed = {
            position
            for position, (before, after) in enumerate(zip(step.before, step.after, strict=True))
            if before != after
        }
        assert {flow.target for flow in step.flows} == changed
