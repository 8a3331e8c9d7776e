# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Asynchronous operations: propagation as in C++ Shardy, and further; the numbers of programs."""

import numpy as np
import pytest

from mlir_sdy.assembly import asm, parse
from pyshardy.api import propagate
from pyshardy.pipeline import run_pipeline
from pyshardy.program import partition

MESH = 'sdy.mesh @m = <["x"=2, "y"=4]>\n'
ROWS = '<@m, [{"x", ?}, {?}]>'
GIVEN = f"{{sdy.sharding = #sdy.sharding{ROWS}}}"
MADE = f"{{sdy.sharding = #sdy.sharding_per_value<[{ROWS}]>}}"
T = "tensor<8x8xf32>"

SLICE = "%2 = stablehlo.slice %b [2:6, 0:8] : (tensor<8x8xf32>) -> tensor<4x8xf32>"
REDUCE = """%2 = "stablehlo.all_reduce"(%b) <{
        replica_groups = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
        use_global_device_ids}> ({
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        %5 = stablehlo.add %p, %q : tensor<f32>
        stablehlo.return %5 : tensor<f32>
      }) : (tensor<8x8xf32>) -> tensor<8x8xf32>"""


def asynchronous(operand: str, inner: str, result: str) -> str:
    return f"""%0 = "stablehlo.async_start"({operand}) ({{
    ^bb0(%b: {T}):
      {inner}
      stablehlo.return %2 : {result}
    }}) : ({T}) -> !stablehlo.future<{result}>
    %1 = "stablehlo.async_done"(%0) : (!stablehlo.future<{result}>) -> {result}"""


def program(inner: str, result: str = T, *, given: str = GIVEN, wanted: str = "") -> str:
    return f"""{MESH}func.func @main(%a: {T} {given}) -> ({result} {wanted}) {{
    {asynchronous("%a", inner, result)}
    %3 = stablehlo.negate %1 : {result}
    return %3 : {result}
    }}"""


CASES = {
    "forward through a slice": program(SLICE, "tensor<4x8xf32>"),
    "backward through a slice": program(SLICE, "tensor<4x8xf32>", given="", wanted=GIVEN),
    "forward through a collective": program(REDUCE),
    "backward through a collective": program(REDUCE, given="", wanted=GIVEN),
}


@pytest.mark.parametrize("name", CASES)
def test_compatible(shardy, context, name):
    module = parse(CASES[name], context)
    expected = shardy.run(asm(module), "builtin.module(sdy-basic-propagate)")
    run_pipeline(module, "sdy-basic-propagate{compatible=true}")
    assert asm(module) == asm(parse(expected, context))


@pytest.mark.parametrize("name", CASES)
def test_shardings_pass_through_the_future(context, name):
    """Shardy stops at the future; with it, each end has the sharding of the other one."""
    module = parse(CASES[name], context)
    run_pipeline(module, "sdy-basic-propagate")
    text = asm(module)
    assert text.count(MADE) == 3, text  # the inner operation, `async_done`, and what uses that
    assert text.count(GIVEN) == 2, text


@pytest.mark.parametrize("backend", ["interpreter", "xla"])
def test_numbers_of_a_slice(context, backend):
    module = parse(CASES["forward through a slice"], context)
    propagate(module)
    inputs = [np.arange(64, dtype=np.float32).reshape(8, 8)]
    (found,) = partition(module).run(inputs, backend=backend)
    assert np.array_equal(found, -inputs[0][2:6])


@pytest.mark.parametrize("backend", ["interpreter", "xla"])
def test_numbers_in_a_manual_computation(context, backend):
    sharding = '<@m, [{"x"}, {}], replicated={"y"}>'
    text = f"""{MESH}func.func @main(%a: tensor<16x8xf32>) -> tensor<16x8xf32> {{
  %r = sdy.manual_computation(%a) in_shardings=[{sharding}] out_shardings=[{sharding}]
      manual_axes={{"x", "y"}} (%c: {T}) {{
    {asynchronous("%c", REDUCE, T)}
    sdy.return %1 : {T}
  }} : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return %r : tensor<16x8xf32> }}"""
    module = parse(text, context)
    propagate(module)
    value = np.arange(128, dtype=np.float32).reshape(16, 8)
    (found,) = partition(module).run([value], backend=backend)
    assert np.array_equal(found, np.tile(value[:8] + value[8:], (2, 1)))


def test_collective_reduce(context):
    """The root has the sum, and the others have zeros."""
    sharding = '<@m, [{"x"}], replicated={"y"}>'
    text = f"""{MESH}func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {{
  %r = sdy.manual_computation(%a) in_shardings=[{sharding}] out_shardings=[{sharding}]
      manual_axes={{"x", "y"}} (%c: tensor<2xf32>) {{
    %1 = "stablehlo.collective_reduce"(%c) <{{
        replica_groups = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
        use_global_device_ids}}> ({{
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %5 = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }}) : (tensor<2xf32>) -> tensor<2xf32>
    sdy.return %1 : tensor<2xf32>
  }} : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32> }}"""
    module = parse(text, context)
    propagate(module)
    (found,) = partition(module).run([np.array([1, 2, 3, 4], np.float32)])
    assert found.tolist() == [4, 6, 0, 0]
