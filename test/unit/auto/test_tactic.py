# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Automatic sharding as a tactic of a schedule."""

import pytest

import pyshardy as sdy

MLP = """
sdy.mesh @mesh = <["data"=2, "model"=4]>
func.func @main(
    %x: tensor<8x16xf32> loc("x"), %up: tensor<16x32xf32> loc("p['up']"),
    %down: tensor<32x16xf32> loc("p['down']")) -> tensor<8x16xf32> {
  %hidden = stablehlo.dot_general %x, %up, contracting_dims = [1] x [0]
    : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %active = stablehlo.tanh %hidden : tensor<8x32xf32>
  %y = stablehlo.dot_general %active, %down, contracting_dims = [1] x [0]
    : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}"""


def apply(*tactics):
    return sdy.Schedule(tactics).apply(sdy.parse(MLP))


def test_it_adds_axes_to_those_of_the_tactics_before():
    """The memory forces it to shard weights."""
    plan = apply(sdy.batch("x", axis="data"), sdy.auto(axes=["model"], memory="2.5kB", name="A"))
    assert str(plan.program.inputs[0].sharding) == '<@mesh, [{"data"}, {}]>'
    assigned = {each.value: (each.dim, each.axis) for each in plan[2].assigned}
    assert assigned == {"p['up']": (1, "model"), "p['down']": (0, "model")}


def test_unknown_axes():
    with pytest.raises(sdy.UsageError, match="the mesh has no axis 'modle'"):
        apply(sdy.auto(axes=["modle"]))
