# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans with sub-axes: optimal, kept by propagation, and partitioned as predicted."""

import re

import pytest
from auto_programs import HARDWARE, assert_correct, assert_kept, least_cost, random_program

import pyshardy as sdy
from mlir_sdy.model import AxisRef, DimMapping, OpShardingRule, TensorMapping
from pyshardy.auto.strategies.strategy import strategies_of_rule
from pyshardy.cli.auto import main
from pyshardy.partition.choice.enumerate import AxisChoices, assignments

MESHES = ('"x"=4, "y"=3', '"x"=12, "y"=2', '"x"=8')
SIZES = {"2": "2", "3": "6", "4": "8"}
"""Sizes in place of those of random programs: an axis of 4 or 12 divides few of them."""


def plans_of(text, **options):
    """Return the plans with whole axes only, and with sub-axes."""
    return [
        sdy.auto_shard(sdy.parse(text), hardware=HARDWARE, gap=0.0, sub_axes=sub_axes, **options)
        for sub_axes in (False, True)
    ]


def assert_as_predicted(plan):
    """Check that propagation keeps each sharding, and that the partitioner sends as predicted."""
    assert_kept(plan)
    check = plan.check()
    for kind, counted in check.counted.items():
        assert counted <= check.predicted[kind] + 1, check  # counted bytes are whole


@pytest.mark.parametrize("seed", [8, 9, 19])
def test_random_programs(seed):
    text = random_program(seed).replace('"x"=2, "y"=2', MESHES[seed % 3])
    text = re.sub(r"(?<=[<x])[234](?=x)", lambda match: SIZES[match[0]], text)
    whole, parts = plans_of(text)
    assert parts.cost < whole.cost
    assert parts.cost == pytest.approx(least_cost(parts.search.built.problem), rel=1e-6)
    assert_as_predicted(parts)
    assert_correct(parts)


ATTENTION = """
sdy.mesh @mesh = <["x"=8]>
func.func @main(%x: tensor<1x30x64xf32>, %wq: tensor<64x64xf32>, %wk: tensor<64x4x16xf32>,
    %wo: tensor<4x16x64xf32>) -> tensor<1x30x64xf32> {
  %f = stablehlo.dot_general %x, %wq, contracting_dims = [2] x [0]
    : (tensor<1x30x64xf32>, tensor<64x64xf32>) -> tensor<1x30x64xf32>
  %q = stablehlo.reshape %f : (tensor<1x30x64xf32>) -> tensor<1x30x4x16xf32>
  %k = stablehlo.dot_general %x, %wk, contracting_dims = [2] x [0]
    : (tensor<1x30x64xf32>, tensor<64x4x16xf32>) -> tensor<1x30x4x16xf32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3]
    : (tensor<1x30x4x16xf32>, tensor<1x30x4x16xf32>) -> tensor<1x4x30x30xf32>
  %t = stablehlo.tanh %s : tensor<1x4x30x30xf32>
  %a = stablehlo.dot_general %t, %k, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1]
    : (tensor<1x4x30x30xf32>, tensor<1x30x4x16xf32>) -> tensor<1x4x30x16xf32>
  %y = stablehlo.dot_general %a, %wo, contracting_dims = [1, 3] x [0, 1]
    : (tensor<1x4x30x16xf32>, tensor<4x16x64xf32>) -> tensor<1x30x64xf32>
  return %y : tensor<1x30x64xf32>
}"""
"""Attention with 4 heads: 8 devices divide neither the heads nor the 30 tokens."""


def test_four_heads_on_eight_devices():
    """Heads are along a part of the axis, and the tokens of the queries along the rest."""
    whole, parts = plans_of(ATTENTION)
    assert parts.cost < 0.5 * whole.cost
    assert str(parts.shardings["arg3"]) == '<@mesh, [{"x":(1)4}, {}, {}]>'
    assert '[{}, {"x":(1)4}, {"x":(4)2}, {}]' in sdy.asm(parts.module), "the scores"
    assert_as_predicted(parts)
    assert_correct(parts)
    assert parts.check().counted == parts.check().predicted
    assert parts.estimate.seconds == pytest.approx(parts.cost, rel=0.02)
    assert parts.estimate.peak_bytes <= parts.memory * 1.1


def test_texts_of_plans():
    """Tables have sub-axes; the code for JAX has a mesh whose axes are split."""
    whole, parts = plans_of(ATTENTION)
    assert ("%wo", 'P("x":(1)4, None, None)') in parts.table().rows
    code = parts.to_jax()
    assert 'mesh = jax.make_mesh((4, 2), ("x:(1)4", "x:(4)2"))' in code
    assert "'%wq': NamedSharding(mesh, P(None, ('x:(1)4', 'x:(4)2')))" in code
    assert 'mesh = jax.make_mesh((8,), ("x",))' in whole.to_jax()


def found_for(sizes, mesh, *, sub_axes=True, even=frozenset({0, 1})):
    """Return the axes of the two factors of a tensor in each assignment."""
    mapping = TensorMapping((DimMapping((0,)), DimMapping((1,))))
    choices = AxisChoices(mesh, mesh.axis_names, sub_axes=sub_axes)
    return [*assignments(OpShardingRule(sizes, (mapping,), (mapping,)), frozenset(), choices, even)]


def test_an_axis_is_split_only_where_it_does_not_divide():
    x, y = AxisRef("x"), AxisRef("y")
    leading, trailing = AxisRef.sub("x", 1, 4), AxisRef.sub("x", 4, 2)
    whole = [((), ()), ((), (x,))]
    mesh = sdy.Mesh({"x": 8})
    assert found_for((4, 16), mesh, sub_axes=False) == whole
    assert found_for((4, 16), mesh) == [*whole, ((leading,), ()), ((leading,), (trailing,))]
    assert found_for((4, 3), mesh) == [((), ()), ((leading,), ())]
    assert found_for((3, 16), mesh) == whole
    several = found_for((8, 3), sdy.Mesh({"x": 8, "y": 2}))
    assert ((AxisRef.sub("x", 1, 4), y), ()) in several, "y leaves 4 to x"
    assert ((x,), ()) in several
    assert not any(x in own and y in own for own, _ in several)


def test_parts_of_factors_of_a_dimension_are_merged():
    """A dimension of 4 heads with 16 elements each is sharded along the whole axis."""
    heads, elements, joined = DimMapping((0,)), DimMapping((1,)), DimMapping((0, 1))
    rule = OpShardingRule((4, 16), (TensorMapping((joined,)),), (TensorMapping((heads, elements)),))
    choices = AxisChoices(sdy.Mesh({"x": 8}), ("x",), sub_axes=True)
    found = strategies_of_rule(rule, ((64,), (4, 16)), frozenset(), choices)
    parts = (AxisRef.sub("x", 1, 4),), (AxisRef.sub("x", 4, 2),)
    (operands,) = [each.operands for each in found if each.results == (parts,)]
    assert operands == (((AxisRef("x"),),),)


def test_options_of_the_pass_and_of_the_tool(tmp_path, capsys):
    text = ATTENTION.replace("30x", "1502x").replace("x30", "x1502")
    text = text.replace("16x", "256x").replace("64", "1024")
    texts: list[str] = []
    for flag in ("false", "true"):
        module = sdy.parse(text)
        sdy.run_pipeline(module, f"sdy-auto-shard{{hardware=cpu sub-axes={flag}}}")
        texts.append(sdy.asm(module))
    assert '"x":(' not in texts[0]
    assert '"x":(1)4' in texts[1]
    path = tmp_path / "attention.mlir"
    path.write_text(text)
    assert main([str(path), "--hardware=cpu", "--sub-axes", "--check", "--no-guard"]) == 0
    printed = capsys.readouterr().out
    assert '"x":(1)4' in printed
    assert "bytes beyond the prediction: +0.00%" in printed
