# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Between types and constants of MLIR, and specs and arrays of NumPy."""

from __future__ import annotations

import numpy as np

from mlir_sdy.diagnostics import SourceLocation, UsageError, error
from mlir_sdy.host import ir
from pyshardy.local_program.tensor_spec import Array, TensorSpec


def spec_of(tensor_type: ir.Type, location: SourceLocation | None = None) -> TensorSpec:
    """The spec of a type whose values arrays can stand for.

    Args:
        tensor_type: a ranked tensor type of static shape.
        location: what a diagnostic points to.

    Raises:
        UsageError: it is a token, a tuple, of dynamic shape, quantized ...
    """
    tensor_type = tensor_type.maybe_downcast()
    if isinstance(tensor_type, ir.RankedTensorType) and tensor_type.has_static_shape:
        spec = TensorSpec(tuple(tensor_type.shape), str(tensor_type.element_type))
        if spec.is_supported:
            return spec
    message = f"no array can stand for a value of type '{tensor_type}'"
    raise UsageError(error(f"{message}; tensors of static shape are supported", location))


def attribute_of(array: Array) -> ir.DenseElementsAttr:
    """The constant with the values of `array`, whose element type MLIR must have too.

    A context and a location must be in force.
    """
    # Not `ascontiguousarray`, which gives an array of rank 0 a dimension.
    data = memoryview(np.asarray(array, order="C"))  # pyright: ignore[reportArgumentType]
    return ir.DenseElementsAttr.get(data, signless=array.dtype.kind != "u")


def array_of(attribute: ir.DenseElementsAttr) -> Array:
    """The values of a constant, copied; its element type must be neither complex nor carried."""
    return np.array(attribute)
