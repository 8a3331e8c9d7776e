# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans with uneven shards: priced with their padding, and partitioned as predicted."""

import re

import pytest
from auto_programs import HARDWARE, assert_correct, least_cost, random_program

import pyshardy as sdy
from mlir_sdy.model import DimMapping, OpShardingRule, TensorMapping
from pyshardy.auto.strategies.strategy import strategies_of_rule
from pyshardy.cli.auto import main
from pyshardy.partition.choice.enumerate import AxisChoices

SIZES = {"2": "45", "3": "54", "4": "63"}
"""Sizes in place of those of random programs: two axes of size 2 divide none of them."""


def plans_of(text, **options):
    """Return the plans with even and with uneven shards."""
    return [
        sdy.auto_shard(sdy.parse(text), hardware=HARDWARE, gap=0.0, uneven=uneven, **options)
        for uneven in (False, True)
    ]


def assert_predicted(plan, tolerance=0.02):
    """Check that the partitioned program sends the predicted bytes, in the predicted time."""
    check = plan.check()
    assert sum(check.counted.values()) <= sum(check.predicted.values()) + 1e-6, check
    assert plan.estimate.seconds <= plan.cost * (1 + tolerance)
    assert plan.estimate.peak_bytes <= plan.memory * 1.1
    for port in (*plan.program.inputs, *plan.program.outputs):
        sizes = zip(port.spec.shape, port.local_spec.shape, strict=True)
        assert all(size % local == 0 for size, local in sizes), "even at the boundary"


@pytest.mark.parametrize("seed", [8, 25, 29, 55])
def test_random_programs(seed):
    text = re.sub(r"(?<=[<x:])[234](?=[x,\]])", lambda match: SIZES[match[0]], random_program(seed))
    even, uneven = plans_of(text)
    assert uneven.cost <= even.cost
    assert uneven.cost == pytest.approx(least_cost(uneven.search.built.problem), rel=1e-6)
    assert_predicted(uneven)
    if seed % 8 == 0:
        assert_correct(uneven)


MLP = """
sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(%x: tensor<30x40xf32>, %up: tensor<40x501xf32>, %down: tensor<501x40xf32>)
    -> tensor<30x40xf32> {
  %h = stablehlo.dot_general %x, %up, contracting_dims = [1] x [0]
    : (tensor<30x40xf32>, tensor<40x501xf32>) -> tensor<30x501xf32>
  %a = stablehlo.tanh %h : tensor<30x501xf32>
  %y = stablehlo.dot_general %a, %down, contracting_dims = [1] x [0]
    : (tensor<30x501xf32>, tensor<501x40xf32>) -> tensor<30x40xf32>
  return %y : tensor<30x40xf32>
}"""


def test_a_batch_and_features_that_axes_dont_divide():
    """30 rows on 4 devices are at most 8 on each, and 501 columns on 2 devices 251."""
    even, uneven = plans_of(MLP)
    assert uneven.cost < even.cost
    assert_predicted(uneven)
    assert_correct(uneven)


def test_partial_results_are_scattered_along_uneven_rows():
    """31 rows on 4 devices are padded to 32 before the reduce-scatter."""
    text = """
sdy.mesh @mesh = <["x"=4]>
func.func @main(%x: tensor<31x640xf32>, %w: tensor<640x30xf32>, %v: tensor<30x7xf32>)
    -> tensor<31x7xf32> {
  %h = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<31x640xf32>, tensor<640x30xf32>) -> tensor<31x30xf32>
  %a = stablehlo.tanh %h : tensor<31x30xf32>
  %y = stablehlo.dot_general %a, %v, contracting_dims = [1] x [0]
    : (tensor<31x30xf32>, tensor<30x7xf32>) -> tensor<31x7xf32>
  return %y : tensor<31x7xf32>
}"""
    _, uneven = plans_of(text)
    assert uneven.prediction.bytes_by_kind["reduce_scatter", "x"] == 32 * 30 * 4 * 3 / 4
    assert_predicted(uneven)
    assert_correct(uneven)


def test_the_work_of_a_shard_includes_padding():
    """Along a blocked factor, or one whose shards must be even, there is no strategy."""
    mesh = sdy.Mesh({"x": 4})
    mapping = TensorMapping((DimMapping((0,)), DimMapping((1,))))
    rule = OpShardingRule((10, 6), (mapping,), (mapping,))
    choices = AxisChoices(mesh, ("x",), uneven=True)

    def parts(even, choices):
        found = strategies_of_rule(rule, ((10, 6),) * 2, frozenset(), choices, even)
        return [each.num_parts for each in found]

    assert parts(frozenset(), choices) == pytest.approx([1, 10 / 3, 6 / 2])
    assert parts(frozenset({1}), choices) == pytest.approx([1, 10 / 3])
    assert parts(frozenset(), AxisChoices(mesh, ("x",))) == [1]


STENCIL = """
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.slice %a [0:254, 1:255] : (tensor<256x256xf32>) -> tensor<254x254xf32>
  %1 = stablehlo.slice %a [2:256, 1:255] : (tensor<256x256xf32>) -> tensor<254x254xf32>
  %2 = stablehlo.add %0, %1 : tensor<254x254xf32>
  %3 = stablehlo.tanh %2 : tensor<254x254xf32>
  %4 = stablehlo.pad %3, %zero, low = [1, 1], high = [1, 1], interior = [0, 0]
    : (tensor<254x254xf32>, tensor<f32>) -> tensor<256x256xf32>
  return %4 : tensor<256x256xf32>
}"""


def test_uneven_windows_exchange_their_halos():
    even, uneven = plans_of(STENCIL)
    assert uneven.cost < even.cost
    assert {each.kind for each in uneven.program.collectives} == {"collective_permute"}
    assert_predicted(uneven, 0.05)
    assert_correct(uneven)


def test_options_of_the_pass_and_of_the_tool(tmp_path, capsys):
    text = MLP.replace("30x", "301x").replace("40", "405")
    texts: list[str] = []
    for flag in ("false", "true"):
        module = sdy.parse(text)
        sdy.run_pipeline(module, f"sdy-auto-shard{{hardware=cpu uneven={flag}}}")
        texts.append(sdy.asm(module))
    assert '{"data"' not in texts[0]
    assert '{"data"' in texts[1]
    path = tmp_path / "mlp.mlir"
    path.write_text(text)
    assert main([str(path), "--hardware=cpu", "--uneven", "--check", "--no-guard"]) == 0
    assert "bytes beyond the prediction: +0.00%" in capsys.readouterr().out


def test_given_shardings_of_arguments_that_dont_divide(capsys):
    """The search knows that the partitioner drops such axes."""
    text = MLP.replace(
        "%x: tensor<30x40xf32>",
        '%x: tensor<30x40xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}',
    )
    for plan in plans_of(text):
        assert str(plan.shardings["arg0"]) == '<@mesh, [{"data":(1)2}, {}]>'
        assert_predicted(plan)
    assert "4 shards along" in capsys.readouterr().err
