# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversion of MLIR types and constants to specs and NumPy arrays, and back."""

from __future__ import annotations

from mlir_sdy.diagnostics import SourceLocation, UsageError, error
from mlir_sdy.host import ir
from mlir_sdy.late_numpy import np
from pyshardy.local_program.tensor_spec import Array, TensorSpec


def spec_of(tensor_type: ir.Type, location: SourceLocation | None = None) -> TensorSpec:
    """Return the spec of a type that has a NumPy equivalent.

    Args:
        tensor_type: a ranked tensor type of static shape.
        location: the location for a diagnostic.

    Raises:
        UsageError: the type is a token, a tuple, of dynamic shape, quantized ...
    """
    tensor_type = tensor_type.maybe_downcast()
    if isinstance(tensor_type, ir.RankedTensorType) and tensor_type.has_static_shape:
        spec = TensorSpec(tuple(tensor_type.shape), str(tensor_type.element_type))
        if spec.is_supported:
            return spec
    message = f"there is no NumPy array for a value of type '{tensor_type}'"
    raise UsageError(error(f"{message}; tensors of static shape are supported", location))


def attribute_of(array: Array) -> ir.DenseElementsAttr:
    """Return the constant with the values of an array, whose element type MLIR must have.

    A context and a location must be active.
    """
    # Not `ascontiguousarray`, which gives an array of rank 0 a dimension.
    data = memoryview(np.asarray(array, order="C"))  # pyright: ignore[reportArgumentType]
    return ir.DenseElementsAttr.get(data, signless=array.dtype.kind != "u")


def array_of(attribute: ir.DenseElementsAttr) -> Array:
    """Return a copy of the values of a constant, whose type must be neither complex nor carried."""
    return np.array(attribute)
