# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The axes of reshapes whose dimensions have axes that fit no factor."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model_helpers import mesh_of_sizes, refs

from mlir_sdy.assembly import asm, parse
from mlir_sdy.model import AxisRef
from pyshardy.partition.types.compatible_shardings import deal_to_all
from pyshardy.pipeline import run_pipeline

MESH = mesh_of_sizes(x=4, y=2, z=3)


@pytest.mark.parametrize(
    ("axes", "sizes", "dealt", "left"),
    [
        ("x y", (6, 2), ["x:(1)2", "x:(2)2"], "y"),
        ("x y", (2, 2), ["x:(1)2", "x:(2)2"], "y"),
        ("x y", (8,), ["x y"], ""),
        ("z x", (2, 6), ["x:(1)2", "z x:(2)2"], ""),
        ("x z", (5,), [""], "x z"),
        ("z x y", (2, 2), ["", ""], "z x y"),
        ("y x", (2, 1, 4), ["y", "", "x"], ""),
        ("", (4,), [""], ""),
    ],
)
def test_dealing(axes, sizes, dealt, left):
    assert deal_to_all(refs(axes), sizes, MESH) == (list(map(refs, dealt)), refs(left))


@settings(max_examples=100, deadline=None)
@given(st.permutations(["x", "y", "z"]), st.lists(st.integers(1, 24), min_size=1, max_size=3))
def test_what_is_dealt_divides_its_factor(names, sizes):
    axes = [AxisRef(name) for name in names]
    dealt, left = deal_to_all(axes, sizes, MESH)
    for held, size in zip(dealt, sizes, strict=True):
        assert size % MESH.axes_size(held) == 0
    whole = math.prod(map(MESH.axes_size, dealt)) * MESH.axes_size(left)
    assert whole == MESH.axes_size(axes)


@pytest.mark.parametrize(
    ("operand", "result", "new_operand", "new_result"),
    [
        # Both keep the part that divides the leading factor.
        ('[{"x", "y"}]', "[{}, {}]", '[{"x":(1)2}]', '[{"x":(1)2}, {}]'),
        # The operand has more pieces, so that its axes are dealt.
        ('[{"y", "x"}]', '[{"x"}, {}]', '[{"y"}]', '[{"y"}, {}]'),
    ],
)
def test_reshapes(context, operand, result, new_operand, new_result):
    module = parse(
        f"""sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%a: tensor<12xf32> {{sdy.sharding = #sdy.sharding<@mesh, {operand}>}})
    -> (tensor<6x2xf32> {{sdy.sharding = #sdy.sharding<@mesh, {result}>}}) {{
  %0 = stablehlo.reshape %a {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, {result}>]>}}
      : (tensor<12xf32>) -> tensor<6x2xf32>
  return %0 : tensor<6x2xf32>
}}""",
        context,
    )
    run_pipeline(module, "func.func(sdy-insert-explicit-reshards{enable-full-version=true})")
    text = asm(module)
    assert f"sdy.reshard %arg0 <@mesh, {new_operand}>" in text
    assert (
        f"stablehlo.reshape %0 {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, {new_result}>]>}}"
        in text
    )
    assert f"sdy.reshard %1 <@mesh, {result}>" in text
