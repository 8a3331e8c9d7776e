# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dynamic programs from static programs; test_torch_dynamic_sizes.py runs them."""

import pytest

import pyshardy as sdy
from mlir_sdy.diagnostics import PassError
from pyshardy.frontends.torch.several_sizes import dynamic_program
from pyshardy.sizes.size import Size
from pyshardy.sizes.static_program import static_at

REPEATED = """func.func @main(%x: tensor<{b}x4xf32>) -> tensor<{rows}xf32> {{
  %0 = stablehlo.tanh %x : tensor<{b}x4xf32>
  %1 = stablehlo.reshape %0 : (tensor<{b}x4xf32>) -> tensor<{rows}xf32>
  return %1 : tensor<{rows}xf32>
}}"""
FILLED = """func.func @main(%x: tensor<4xf32>) -> tensor<{b}x4xf32> {{
  %0 = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<4xf32>) -> tensor<{b}x4xf32>
  return %0 : tensor<{b}x4xf32>
}}"""


def made(text, context, numbers=(7, 11, 13)):
    programs = [({"b": b}, sdy.parse(text.format(b=b, rows=4 * b), context)) for b in numbers]
    return dynamic_program(programs, [Size.symbol("b")])


def test_the_program_at_another_size(context):
    static = static_at(made(REPEATED, context), {"b": 3})
    assert "(tensor<3x4xf32>) -> tensor<12xf32>" in sdy.asm(static)


def test_a_size_of_no_argument(context):
    with pytest.raises(PassError, match="the size b can't be found from the shapes of the arg"):
        made(FILLED, context)


def test_programs_that_differ_in_more_than_sizes(context):
    first = sdy.parse(REPEATED.format(b=7, rows=28), context)
    other = REPEATED.replace("tanh", "negate")
    others = [sdy.parse(other.format(b=b, rows=4 * b), context) for b in (11, 13)]
    with pytest.raises(PassError, match=":2:8: error: "):
        dynamic_program(
            [({"b": b}, each) for b, each in zip((7, 11, 13), [first, *others], strict=True)],
            [Size.symbol("b")],
        )
