# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The program without its shardings."""

from pathlib import Path

import pytest

from mlir_sdy.assembly import parse
from mlir_sdy.diagnostics import PassError
from pyshardy.backends.unsharded import unsharded

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.mark.parametrize("name", ["mlp", "transformer_block"])
def test_examples(context, name):
    module = parse((EXAMPLES / f"{name}.mlir").read_text(), context)
    before = str(module)
    plain = unsharded(module)
    assert "sdy" not in str(plain)
    assert plain.operation.verify()
    assert str(module) == before


def test_every_operation(context):
    module = parse(
        """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>, my.note = "kept"})
    -> tensor<4xf32> {
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<4xf32>
  sdy.sharding_group %0 group_id=1 : tensor<4xf32>
  %1 = sdy.propagation_barrier %0 allowed_direction=NONE : tensor<4xf32>
  %2 = sdy.reshard %1 <@mesh, [{}]> : tensor<4xf32>
  %3 = sdy.constant dense<1.0> : tensor<4xf32>
  %4 = sdy.named_computation<"f">(%2, %3) (%x: tensor<4xf32>, %y: tensor<4xf32>) {
    %5 = sdy.sharding_constraint %y <@mesh, [{"x"}]> : tensor<4xf32>
    %6 = stablehlo.add %x, %5 : tensor<4xf32>
    sdy.return %6 : tensor<4xf32>
  } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %4 : tensor<4xf32>
}
""",
        context,
    )
    assert str(unsharded(module)) == (
        "module {\n"
        '  func.func @main(%arg0: tensor<4xf32> {my.note = "kept"}) -> tensor<4xf32> {\n'
        "    %cst = stablehlo.constant dense<1.000000e+00> : tensor<4xf32>\n"
        "    %0 = stablehlo.add %arg0, %cst : tensor<4xf32>\n"
        "    return %0 : tensor<4xf32>\n"
        "  }\n}\n"
    )


def test_manual_computations_are_refused(context):
    text = """sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>]
      out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%b: tensor<2xf32>) {
    sdy.return %b : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
    with pytest.raises(PassError, match=r"m.mlir:3:8: error: .*'sdy.manual_computation'"):
        unsharded(parse(text, context, "m.mlir"))
