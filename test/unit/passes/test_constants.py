# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Constants of any elements go through all passes."""

import pytest

from mlir_sdy.assembly import asm, parse
from mlir_sdy.dialect import Context
from mlir_sdy.host import ir
from pyshardy.irtools.walks import operations_named
from pyshardy.pipeline import run_pipeline

# For each type of elements a constant of one value and one of two.
VALUES = {
    "complex<f32>": ("dense<(1.0,2.0)>", "dense<[(1.0,2.0), (3.0,4.0)]>"),
    "complex<f64>": ("dense<(1.0,2.0)>", "dense<[(1.0,2.0), (3.0,4.0)]>"),
    "f4E2M1FN": ("dense<1.0>", "dense<[1.0, 2.0]>"),
    "f8E4M3FN": ("dense<1.0>", "dense<[1.0, 2.0]>"),
    "bf16": ("dense<1.0>", "dense<[1.0, 2.0]>"),
    "f32": ("dense<1.0>", "dense_resource<data>"),
    "i1": ("dense<true>", "dense<[true, false]>"),
    "i4": ("dense<-3>", "dense<[-3, 2]>"),
    "ui2": ("dense<3>", "dense<[3, 2]>"),
}
SHARDED = '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}'


def program(element: str) -> str:
    """Two constants, one of them given twice, each with several users."""
    one_value, two_values = VALUES[element]
    tensor = f"tensor<2x{element}>"
    return f"""
        sdy.mesh @mesh = <["x"=2]>
        func.func @main(%p: tensor<2xi1> {SHARDED}) -> ({tensor} {SHARDED}, {tensor} {SHARDED}) {{
          %0 = stablehlo.constant {one_value} : {tensor}
          %1 = stablehlo.constant {two_values} : {tensor}
          %2 = stablehlo.select %p, %0, %1 : tensor<2xi1>, {tensor}
          %3 = stablehlo.select %p, %1, %0 : tensor<2xi1>, {tensor}
          %4 = stablehlo.constant {one_value} : {tensor}
          %5 = stablehlo.select %p, %3, %4 : tensor<2xi1>, {tensor}
          return %2, %5 : {tensor}, {tensor}
        }}
{{-# dialect_resources: {{ builtin: {{ data: "0x040000000000803F00000040" }} }} #-}}"""


@pytest.mark.parametrize("element", VALUES)
def test_propagated(context: Context, element: str):
    module = parse(program(element), context)
    run_pipeline(module, "sdy-propagation-pipeline{debug-sharding-origins=true}")
    text = asm(module)
    assert text.count("sdy.constant {sdy.sharding") == text.count("sdy.constant") == 2
    parse(text, context)


@pytest.mark.parametrize("element", VALUES)
def test_partitioned(context: Context, element: str):
    module = parse(program(element), context)
    run_pipeline(module, "sdy-partition-pipeline")
    text = asm(module)
    assert f"tensor<1x{element}>" in text
    parse(text, context)


def test_strings(context: Context):
    text = """
        sdy.mesh @mesh = <["x"=2]>
        func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
          %0 = stablehlo.custom_call @f(%a) {names = dense<["a", "b"]> : tensor<2x!stablehlo.token>}
              : (tensor<2xf32>) -> tensor<2xf32>
          return %0 : tensor<2xf32>
        }"""
    module = parse(text, context)
    run_pipeline(module, "sdy-propagation-pipeline")
    assert 'names = dense<["a", "b"]>' in asm(module)


def test_handed_out(context: Context):
    module = parse(program("complex<f32>"), context)
    constants = operations_named({"stablehlo.constant"}, module)
    value = constants[0].attributes["value"]
    assert type(value) is ir.DenseElementsAttr
    assert value.is_splat
