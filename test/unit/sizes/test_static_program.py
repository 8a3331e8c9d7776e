# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs for given sizes; test/frontends/test_dynamic_sizes.py runs them."""

import pytest

import pyshardy as sdy
from mlir_sdy.diagnostics import UsageError
from pyshardy.sizes.static_program import static_at


def test_a_function_without_a_body_is_refused():
    """The host would crash."""
    module = sdy.parse(
        """func.func @main(%a: tensor<7xf32>, %b: tensor<?x2xf32>) -> tensor<7xf32> {
             %0 = call @f(%a) : (tensor<7xf32>) -> tensor<7xf32>
             return %0 : tensor<7xf32>
           }
           func.func private @f(tensor<7xf32>) -> tensor<7xf32>"""
    )
    with pytest.raises(UsageError, match=":2:19: error: calls 'f', which has no body, so that"):
        static_at(module, {})
