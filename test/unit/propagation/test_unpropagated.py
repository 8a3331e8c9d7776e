# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that were never propagated are told from those where nothing can be propagated."""

from pathlib import Path

import pytest

import pyshardy as sdy
from mlir_sdy.diagnostics import redirect
from pyshardy.irtools.functions import functions_of, has_body
from pyshardy.propagation.unpropagated import looks_unpropagated

CORPUS = Path(__file__).resolve().parents[2] / "corpus" / "mlir"
MESH = 'sdy.mesh @mesh = <["x"=2]>\n'
ARGUMENT = '%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}'


def module_of(body: str, context, argument: str = ARGUMENT):
    return sdy.parse(f"{MESH}func.func @main({argument}) {{\n{body}\n  return\n}}", context)


def main_of(module):
    (function,) = functions_of(module)
    return function


NEGATE = "%0 = stablehlo.negate %a : tensor<8x4xf32>"
SUM = """
%z = stablehlo.constant dense<0.0> : tensor<f32>
%0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [DIM]
    : (tensor<8x4xf32>, tensor<f32>) -> tensor<TYPE>"""
CALL = "%0 = stablehlo.custom_call @f(%a) : (tensor<8x4xf32>) -> tensor<8x4xf32>"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(NEGATE, True, id="elementwise"),
        pytest.param(SUM.replace("DIM", "1").replace("TYPE", "8xf32"), True, id="kept dimension"),
        pytest.param(SUM.replace("DIM", "0").replace("TYPE", "4xf32"), False, id="reduced"),
        pytest.param(CALL, False, id="without a rule"),
        pytest.param("", False, id="no operation"),
    ],
)
def test_before_propagation(body, expected, context):
    assert looks_unpropagated(main_of(module_of(body, context))) is expected


def test_without_shardings(context):
    assert not looks_unpropagated(main_of(module_of(NEGATE, context, "%a: tensor<8x4xf32>")))


def test_partition_warns_once(context):
    module = module_of(NEGATE, context)
    warnings = []
    with redirect(warnings.append):
        sdy.partition(module)
        assert [each.message for each in warnings] == [
            "no operation of the program is sharded, although its arguments are; propagate their "
            "shardings first: sdy.propagate(module)"
        ]
        sdy.propagate(module)
        sdy.partition(module)
    assert len(warnings) == 1


BLOCKED = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%x: tensor<8x8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}, {}]>},
                %k: tensor<16x8x3x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}, {}, {}]>})
    -> tensor<4x16x8x8xf32> {
  %0 = stablehlo.convolution(%x, %k)
      dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]}
      {batch_group_count = 2 : i64, feature_group_count = 1 : i64}
      : (tensor<8x8x8x8xf32>, tensor<16x8x3x3xf32>) -> tensor<4x16x8x8xf32>
  return %0 : tensor<4x16x8x8xf32>
}"""
CONFLICT = """
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %b: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
    -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.add %a, %b : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}"""


@pytest.mark.parametrize("text", [BLOCKED, CONFLICT], ids=["convolution", "conflict"])
def test_no_warning_where_nothing_can_be_sharded(context, text):
    module = sdy.parse(text, context)
    warnings = []
    with redirect(warnings.append):
        sdy.propagate(module)
        sdy.partition(module)
    assert not warnings


def test_propagated_programs_of_the_corpus(context):
    propagated = 0
    for path in sorted(CORPUS.glob("*.mlir"))[::4]:
        module = sdy.parse(path.read_text(encoding="utf-8"), context)
        with redirect(lambda _: None):
            sdy.propagate(module)
        for function in functions_of(module):
            if has_body(function):
                assert not looks_unpropagated(function), path.stem
                propagated += 1
    assert propagated > 30
