# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversion of MLIR types and constants to specs and NumPy arrays, and back."""

from __future__ import annotations

import re

from mlir_sdy.diagnostics import SourceLocation, UsageError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.late_numpy import np
from pyshardy.irtools.stablehlo_views import ConstantView
from pyshardy.irtools.walks import operations_named
from pyshardy.local_program.errors import ExecutionError
from pyshardy.local_program.tensor_spec import Array, TensorSpec

_CONTENTS = re.compile(r': "0x[0-9A-Fa-f]{8}([0-9A-Fa-f]*)"')
"""A resource in the text of a module: the alignment, and the elements."""

_SUPPORTED = "tensors of static shape are supported"
_OF_QUANTIZED = (
    "run 'func.func(stablehlo-legalize-quant-to-math)' on the program before it is propagated"
)


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
    remedy = _OF_QUANTIZED if "!quant." in str(tensor_type) else _SUPPORTED
    raise UsageError(error(f"{message}; {remedy}", location))


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


def use_dense_constants(module: ir.Module) -> None:
    """Replace constants with resources by constants with their elements, in place.

    Engines read resources wrongly, or not at all.

    Raises:
        ExecutionError: a resource has no contents, or too many or few.
    """
    for constant in operations_named({"stablehlo.constant"}, module):
        literal = ConstantView(constant).value
        if not isinstance(literal, ir.DenseElementsAttr):
            ConstantView(constant).value = _dense(constant)


def _dense(constant: ir.Operation) -> ir.DenseElementsAttr:
    # The bindings show the contents in the text of a module only.
    holder = ir.Module.create(constant.location)
    holder.body.append(constant.clone(ip=False))
    contents = _CONTENTS.search(str(holder))
    try:
        literal = ir.DenseResourceElementsAttr(ConstantView(constant).value)
        data = np.frombuffer(bytes.fromhex(contents[1] if contents else ""), np.uint8)
        return ir.DenseElementsAttr.get(data, type=literal.type, context=constant.context)
    except ValueError:
        message = (
            f"the elements of this constant of type {constant.results[0].type} are unknown: it is "
            "elided or sparse, or its resource has another size; print the program with all "
            "elements (without '--mlir-elide-elementsattrs-if-larger')"
        )
        raise ExecutionError(error(message, location_of(constant.location))) from None
