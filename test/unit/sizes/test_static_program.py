# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs for given sizes; test/frontends/test_dynamic_sizes.py runs them."""

import pyshardy as sdy
from mlir_sdy.diagnostics import collect
from pyshardy.sizes.static_program import static_at


def test_a_function_without_a_body():
    module = sdy.parse(
        """func.func @main(%a: tensor<7xf32>, %b: tensor<?x2xf32>) -> tensor<7xf32> {
             %0 = call @f(%a) : (tensor<7xf32>) -> tensor<7xf32>
             return %0 : tensor<7xf32>
           }
           func.func private @f(tensor<7xf32>) -> tensor<7xf32>"""
    )
    assert "call @f(%arg0) : (tensor<7xf32>) -> tensor<7xf32>" in sdy.asm(static_at(module, {}))


def test_a_program_for_capacities_without_attributes():
    module = sdy.parse(
        """func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
             %0 = stablehlo.tanh %a : tensor<?xf32>
             return %0 : tensor<?xf32>
           }"""
    )
    sdy.run_pipeline(module, "builtin.module(sdy-dynamic-to-static{sizes=a0:8 capacity=true})")
    text = module.operation.get_asm(enable_debug_info=False)
    assert "@main(%arg0: tensor<8xf32>, %arg1: tensor<i32>) -> tensor<8xf32>" in text


def test_a_warning_of_sizes_that_nothing_checks():
    module = sdy.parse(
        """func.func @main(%a: tensor<?x4xf32>) -> tensor<6x4xf32> {
             %0 = stablehlo.slice %a [0:6, 0:4] : (tensor<?x4xf32>) -> tensor<6x4xf32>
             return %0 : tensor<6x4xf32>
           }"""
    )
    with collect() as said:
        sdy.run_pipeline(module, "builtin.module(sdy-dynamic-to-static{sizes=a0:8 capacity=true})")
    assert "nothing refuses smaller sizes for which the program is invalid" in said[0].message


def test_vectors_of_no_sizes():
    module = sdy.parse(
        """func.func @main(%a: tensor<?x4xf32>) -> tensor<0xi32> {
             %0 = stablehlo.constant dense<> : tensor<0xi32>
             %1 = stablehlo.add %0, %0 : tensor<0xi32>
             return %1 : tensor<0xi32>
           }"""
    )
    assert "tensor<0xi32>" in sdy.asm(static_at(module, {}))
