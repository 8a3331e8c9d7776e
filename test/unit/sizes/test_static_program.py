# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs for given sizes; test/frontends/test_dynamic_sizes.py runs them."""

import pyshardy as sdy
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
