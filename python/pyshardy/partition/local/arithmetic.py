# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elementwise operations for local forms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import AxisRef, Mesh
from pyshardy.partition.local.builder import LocalBuilder
from pyshardy.partition.op_facts.neutral_elements import neutral_element


def like(value: ir.Value, element_type: ir.Type) -> ir.RankedTensorType:
    """Return the type of a tensor with another element type."""
    return ir.RankedTensorType.get(list(ir.RankedTensorType(value.type).shape), element_type)


def element_type_of(value: ir.Value) -> ir.Type:
    """Return the element type of a tensor."""
    return ir.RankedTensorType(value.type).element_type


def boolean() -> ir.Type:
    """Return the type i1."""
    return ir.IntegerType.get_signless(1)


def binary(builder: LocalBuilder, name: str, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
    """Build an operation on two tensors of one type, which is that of the result."""
    return builder.create(f"stablehlo.{name}", (lhs, rhs), (lhs.type,)).result


def compare(builder: LocalBuilder, direction: str, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
    """Build a comparison of the elements of two tensors, such as `LT`."""
    how = ir.Attribute.parse(f"#stablehlo<comparison_direction {direction}>")
    result = like(lhs, boolean())
    attributes = {"comparison_direction": how}
    return builder.create("stablehlo.compare", (lhs, rhs), (result,), attributes).result


def clamp(builder: LocalBuilder, low: ir.Value, value: ir.Value, high: ir.Value) -> ir.Value:
    """Build a clamp of the elements to bounds."""
    return builder.create("stablehlo.clamp", (low, value, high), (value.type,)).result


def select(builder: LocalBuilder, which: ir.Value, yes: ir.Value, no: ir.Value) -> ir.Value:
    """Build a selection of the elements of two tensors; the predicate may be a scalar."""
    return builder.create("stablehlo.select", (which, yes, no), (yes.type,)).result


def convert(builder: LocalBuilder, value: ir.Value, element_type: ir.Type) -> ir.Value:
    """Build a conversion of the elements to another type."""
    if element_type_of(value) == element_type:
        return value
    return builder.create("stablehlo.convert", (value,), (like(value, element_type),)).result


def broadcast(
    builder: LocalBuilder, value: ir.Value, shape: Sequence[int], dims: Sequence[int] = ()
) -> ir.Value:
    """Build a broadcast of a tensor, whose dimensions become `dims` of the result."""
    tensor = ir.RankedTensorType(value.type)
    if tuple(tensor.shape) == tuple(shape):
        return value
    attributes = {"broadcast_dimensions": ir.DenseI64ArrayAttr.get(list(dims))}
    result = ir.RankedTensorType.get(list(shape), tensor.element_type)
    return builder.create("stablehlo.broadcast_in_dim", (value,), (result,), attributes).result


def neutral(builder: LocalBuilder, name: str, element_type: ir.Type) -> ir.Value:
    """Build the neutral scalar of a reduction.

    Raises:
        PassError: the type has no neutral element.
    """
    literal = neutral_element(name, element_type)
    if literal is None:
        raise PassError(
            error(
                f"'{name}' has no neutral element of type {element_type}, which shards without "
                "data need: constrain the operation to replicated operands",
                location_of(ir.Location.current),
            )
        )
    return builder.create("stablehlo.constant", (), (literal.type,), {"value": literal}).result


def value_where(builder: LocalBuilder, flag: ir.Value, value: ir.Value, name: str) -> ir.Value:
    """Build a selection: the value where a flag is set, else the neutral element of a reduction.

    Args:
        builder: builds the operations.
        flag: a scalar, or a tensor of the shape of the value.
        value: the value.
        name: the operation that reduces.
    """
    tensor = ir.RankedTensorType(value.type)
    nothing = neutral(builder, name, tensor.element_type)
    return select(builder, flag, value, broadcast(builder, nothing, tensor.shape))


def is_first(builder: LocalBuilder, mesh: Mesh, axes: Sequence[AxisRef]) -> ir.Value:
    """Build a flag for the first device along some axes, a scalar i1."""
    return builder.equals(builder.offset(mesh, axes, 1), builder.index(0))


def all_along(builder: LocalBuilder, flags: ir.Value, dim: int) -> ir.Value:
    """Build the conjunction of flags along a dimension."""
    shape = list(ir.RankedTensorType(flags.type).shape)
    if shape.pop(dim) == 1:
        return builder.with_shape(flags, shape)
    true = builder.constant(np.array(True))
    result = ir.RankedTensorType.get(shape, boolean())
    attributes = {"dimensions": ir.DenseI64ArrayAttr.get([dim])}
    reduced = builder.create("stablehlo.reduce", (flags, true), (result,), attributes, regions=1)
    builder.fill_body(reduced.regions[0], boolean(), "stablehlo.and")
    return reduced.result
