# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operation priorities: what may flow when."""

import pytest

from mlir_sdy.model import DimMapping, OpShardingRule, PropagationDirection, TensorMapping
from pyshardy.propagation.op_priority import NUM_PRIORITIES, PriorityClass, directions_at

NONE, FORWARD, BACKWARD, BOTH = PropagationDirection

TENSOR = TensorMapping(tuple(DimMapping((factor,)) for factor in range(3)))
RULE = OpShardingRule((2, 2, 2), (TENSOR,), (), reduction_factors=(1,))
"""A factor that passes through, one of a reduction, and another one that passes through."""


@pytest.mark.parametrize(
    ("priority_class", "single_use", "pass_through", "special"),
    [
        (PriorityClass.ALWAYS, False, [BOTH] * 5, [BOTH] * 5),
        (PriorityClass.PASS_THROUGH, True, [BOTH] * 5, [BOTH] * 5),
        (PriorityClass.PASS_THROUGH, False, [NONE, *[BOTH] * 4], [NONE, *[BOTH] * 4]),
        (
            PriorityClass.DYNAMIC_SLICE,
            True,
            [FORWARD, FORWARD, BOTH, BOTH, BOTH],
            [FORWARD, FORWARD, FORWARD, BOTH, BOTH],
        ),
        (
            PriorityClass.DYNAMIC_SLICE,
            False,
            [NONE, FORWARD, BOTH, BOTH, BOTH],
            [NONE, FORWARD, FORWARD, BOTH, BOTH],
        ),
        (
            PriorityClass.BROADCAST,
            True,
            [NONE, NONE, BACKWARD, BACKWARD, BOTH],
            [NONE, NONE, NONE, BACKWARD, BOTH],
        ),
        (PriorityClass.OTHER, True, [NONE, NONE, *[BOTH] * 3], [NONE, NONE, NONE, BOTH, BOTH]),
    ],
)
def test_directions(priority_class, single_use, pass_through, special):
    found = [
        directions_at(RULE, priority_class, priority, single_use)
        for priority in range(NUM_PRIORITIES)
    ]
    assert [directions[0] for directions in found] == pass_through
    assert [directions[1] for directions in found] == special
    assert [directions[2] for directions in found] == pass_through


@pytest.mark.parametrize("priority_class", PriorityClass)
@pytest.mark.parametrize("priority", range(NUM_PRIORITIES))
def test_blocked_factors_stay_blocked(priority_class, priority):
    rule = OpShardingRule((2,), (), (), blocked_propagation_factors=(0,))
    assert directions_at(rule, priority_class, priority, True) == (NONE,)


# A product between element-wise operations: its axes come only when those agree.
CHAIN = """
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {?}]>},
                %y: tensor<8x8xf32>,
                %z: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{?}, {"a"}]>})
    -> tensor<8x8xf32> {
  %0 = stablehlo.dot %x, %y : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = OPERATION %0 : tensor<8x8xf32>
  %2 = stablehlo.add %1, %z : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}"""


@pytest.mark.parametrize(
    "operation", ["stablehlo.tanh", "stablehlo.reshape", "chlo.square", "chlo.erf"]
)
def test_pass_through_operations_come_first(outcome, operation):
    text = CHAIN.replace("OPERATION", operation)
    if operation == "stablehlo.reshape":
        text = text.replace("%0 : tensor<8x8xf32>", "%0 : (tensor<8x8xf32>) -> tensor<8x8xf32>")
    if operation.startswith("chlo"):
        text = text.replace("%0 : tensor<8x8xf32>", "%0 : tensor<8x8xf32> -> tensor<8x8xf32>")
    with_priorities = outcome(text, "sdy-op-priority-propagate")
    assert with_priorities.of("stablehlo.dot") == ['[{?}, {"a", ?}]']
    without = outcome(text, "sdy-op-priority-propagate{run-op-priority-propagation=false}")
    assert without.of("stablehlo.dot") == ['[{"a", ?}, {?}]']


def test_runs_in_the_record(recorded):
    text = CHAIN.replace("OPERATION", "stablehlo.tanh")
    record = recorded(text, by_operation=True).record
    assert (record[0].name, record[0].run.priority) == ("stablehlo.add", 0)
    assert {step.run.priority for step in record if step.name == "stablehlo.dot"} == {2}


@pytest.mark.parametrize("uses", [1, 2])
def test_operands_with_other_uses_wait(recorded, uses):
    more = "%2 = stablehlo.abs %x : tensor<8xf32>" if uses == 2 else ""
    text = f"""
    func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {{
      %1 = stablehlo.tanh %x {{sdy.sharding = #sdy.sharding_per_value<[<@m, [{{"a"}}]>]>}}
          : tensor<8xf32>
      {more}
      return %1, {"%2" if more else "%1"} : tensor<8xf32>, tensor<8xf32>
    }}"""
    record = recorded(text, by_operation=True).record
    step = next(step for step in record if step.name == "stablehlo.tanh")
    assert step.run.priority == uses - 1


def test_scalars_may_have_any_number_of_uses(recorded):
    text = """
    func.func @main(%s: tensor<f32>,
                    %x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}]>})
        -> tensor<8xf32> {
      %0 = stablehlo.clamp %s, %x, %s : (tensor<f32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }"""
    record = recorded(text, by_operation=True).record
    assert next(step for step in record if step.name == "stablehlo.clamp").run.priority == 0
