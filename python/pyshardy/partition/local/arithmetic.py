# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Selections by device, and neutral elements, for local forms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import AxisRef, Mesh
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.partition.types.local_builder import LocalBuilder
from pyshardy.partition.types.neutral_elements import neutral_element


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
    return builder.literal(literal)


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
    return builder.select(flag, value, builder.broadcast_in_dim(nothing, tensor.shape))


def is_first(builder: LocalBuilder, mesh: Mesh, axes: Sequence[AxisRef]) -> ir.Value:
    """Build a flag for the first device along some axes, a scalar i1."""
    return builder.compare("EQ", builder.offset(mesh, axes, 1), builder.index(0))


def all_along(builder: LocalBuilder, flags: ir.Value, dim: int) -> ir.Value:
    """Build the conjunction of flags along a dimension."""
    shape = list(shape_of(flags.type))
    if shape.pop(dim) == 1:
        return builder.reshape(flags, shape)
    return builder.reduce(flags, builder.constant(np.array(True)), [dim], "stablehlo.and")
