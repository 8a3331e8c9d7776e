# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products over no elements, at which the reference interpreter aborts.

Before:

    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<3x0xf32>, tensor<0x2xf32>) -> tensor<3x2xf32>

After:

    %0 = stablehlo.constant dense<0.0> : tensor<3x2xf32>
"""

from __future__ import annotations

import math

from mlir_sdy.host import ir
from pyshardy.backends.decompositions.tensors import Tensor, constant
from pyshardy.irtools.modules import copy_of
from pyshardy.irtools.walks import operations_named

_PRODUCT = "stablehlo.dot_general"


def without_empty_products(module: ir.Module) -> ir.Module:
    """Return a program with zeros for products whose contracted dimensions have no elements.

    The module isn't changed, and is the result if there is nothing to do.
    """
    if not any(map(_is_empty, operations_named({_PRODUCT}, module))):
        return module
    copy = copy_of(module)
    for product in operations_named({_PRODUCT}, copy):
        if _is_empty(product):
            result = Tensor(product.results[0])
            with product.context, product.location, ir.InsertionPoint(product):
                zeros = constant(0, result.element, result.shape)
            product.results[0].replace_all_uses_with(zeros.value)
            product.erase()
    return copy


def _is_empty(product: ir.Operation) -> bool:
    """Whether a product has elements, and its operands have none."""
    count = math.prod(Tensor(product.results[0]).shape)
    return count > 0 and any(0 in Tensor(operand).shape for operand in product.operands)
