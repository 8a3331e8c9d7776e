# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans of programs with dynamic sizes."""

import re

import numpy as np
import pytest

import pyshardy as sdy
from mlir_sdy.diagnostics import collect
from mlir_sdy.values import get_sharding
from pyshardy.irtools.walks import operations_named

DUPLICATES = """
sdy.mesh @mesh = <["data"=4]>
func.func @main(%b: tensor<i32> {jax.global_constant = "b"},
                %x: tensor<?x4xf32> {sdy.sizes = ["b", ""],
                                     sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>})
    -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %four = stablehlo.constant dense<4> : tensor<1xi32>
  %rows = stablehlo.reshape %b : (tensor<i32>) -> tensor<1xi32>
  %shape = stablehlo.concatenate %rows, %four, dim = 0
    : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %ones = stablehlo.dynamic_broadcast_in_dim %one, %shape, dims = []
    : (tensor<f32>, tensor<2xi32>) -> tensor<?x4xf32>
  %0 = stablehlo.add %x, %ones : tensor<?x4xf32>
  %unused = stablehlo.tanh %0 : tensor<?x4xf32>
  %more_unused = stablehlo.negate %unused : tensor<?x4xf32>
  %rows_again = stablehlo.reshape %b : (tensor<i32>) -> tensor<1xi32>
  %shape_again = stablehlo.concatenate %rows_again, %four, dim = 0
    : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %ones_again = stablehlo.dynamic_broadcast_in_dim %one, %shape_again, dims = []
    : (tensor<f32>, tensor<2xi32>) -> tensor<?x4xf32>
  %1 = stablehlo.multiply %0, %ones_again : tensor<?x4xf32>
  return %0, %1 : tensor<?x4xf32>, tensor<?x4xf32>
}
"""


def test_equal_operations_are_one_and_unused_ones_are_erased():
    module = sdy.parse(DUPLICATES)
    sdy.propagate(module, hints={"b": 16})
    block = module.body.operations[1].regions[0].blocks[0]
    operations = [view.operation for view in block.operations]
    names = [each.name.removeprefix("stablehlo.") for each in operations]
    assert names.count("concatenate") == 1
    assert not {"tanh", "negate"} & {*names}
    tensors = [each for each in operations if each.name.endswith(("add", "multiply", "_dim"))]
    for each in tensors:
        assert str(get_sharding(each.results[0])) == '<@mesh, [{"data"}, {}]>', each
    program = sdy.partition(module)
    assert not program.at(b=12).collectives


def test_operations_of_the_dialect():
    """Constraints get the shardings that were found for them, and groups are done with."""
    module = sdy.parse(
        DUPLICATES.replace(
            "%0 = stablehlo.add %x, %ones : tensor<?x4xf32>",
            """%sum = stablehlo.add %x, %ones : tensor<?x4xf32>
  %open = sdy.sharding_constraint %sum <@mesh, [{?}, {?}]> : tensor<?x4xf32>
  %0 = sdy.propagation_barrier %open allowed_direction=NONE : tensor<?x4xf32>
  %grouped = stablehlo.negate %x : tensor<?x4xf32>
  sdy.sharding_group %grouped group_id=0 : tensor<?x4xf32>""",
        )
    )
    sdy.propagate(module, hints={"b": 16})
    (reshard,) = operations_named({"sdy.reshard"}, module)
    assert str(get_sharding(reshard.results[0])) == '<@mesh, [{"data"}, {}]>'
    assert not operations_named({"sdy.sharding_group", "stablehlo.negate"}, module)


def test_propagated_programs_in_files(tmp_path):
    module = sdy.parse(DUPLICATES)
    sdy.propagate(module, hints={"b": 16})
    for kind in ("text", "portable"):
        file = tmp_path / kind
        sdy.write(module, file, kind)
        with collect() as said:
            read = sdy.partition(sdy.parse(file))
        assert said == []
        (guard,) = read.guards
        assert str(guard).startswith("4 divides b: padded")  # as the user has sharded it
        assert read.hints == {"b": 16}


FORMS = {
    "named computation": """%0 = sdy.named_computation<"f">(%x) (%a: T) {
    %1 = stablehlo.tanh %a : T
    sdy.return %1 : T
  } : (T) -> T""",
    "composite": """%0 = stablehlo.composite "my.tanh" %x {decomposition = @tanh} : (T) -> T""",
}


@pytest.mark.parametrize("form", FORMS)
def test_functions(form):
    text = f"""
sdy.mesh @mesh = <["data"=4]>
func.func private @tanh(%a: T) -> T {{
  %0 = stablehlo.tanh %a : T
  return %0 : T
}}
func.func @main(%x: T {{sdy.sharding = #sdy.sharding<@mesh, [{{"data"}}, {{}}]>}}) -> T {{
  {FORMS[form]}
  return %0 : T
}}"""
    module = sdy.parse(re.sub(r"\bT\b", "tensor<?x4xf32>", text))
    sdy.propagate(module)
    program = sdy.partition(module)
    assert program.outputs[0].axes == (("data",), ())
    x = np.arange(20, dtype="float32").reshape(5, 4)
    np.testing.assert_allclose(program.run([x])[0], np.tanh(x), rtol=1e-5)


@pytest.mark.parametrize("operand", [0, -1])
def test_invalid_programs_are_told_as_such(operand):
    module = sdy.parse(DUPLICATES)
    block = module.body.operations[1].regions[0].blocks[0]
    operations = [view.operation for view in block.operations]
    added = next(each for each in operations if each.name == "stablehlo.add")
    later = next(each for each in operations if each.name == "stablehlo.multiply").results[0]
    added.operands[1] = (block.arguments[0], later)[operand]  # of a wrong type; defined later
    before = str(module)
    with pytest.raises(sdy.VerificationError, match=r"same shape|not dominate"):
        sdy.propagate(module)
    assert str(module) == before
