# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Indices of gathers and scatters that count 0, 1, 2, ... along a dimension."""

from __future__ import annotations

from mlir_sdy.fold.pattern import producer
from mlir_sdy.host import ir
from pyshardy.irtools.stablehlo_views import BroadcastView, ConcatenateView, IotaView


def counts_along_first_dimension(indices: ir.Value, component: int, index_vector_dim: int) -> bool:
    """Whether a component of all index vectors is its vector's position in dimension 0.

    1. If the indices are a concatenation along the dimension of index vectors, the part with the
       component is examined, and it must have size 1 there.
    2. The indices, or that part, must be an `iota` along dimension 0, possibly followed by
       - broadcasts and reshapes that keep dimension 0 first, of the same size;
       - clamps, which are assumed not to change valid indices;
       - selects, which are assumed not to change valid indices: of the two values the second is
         examined if it is an iota, else the first.

    Args:
        indices: the index vectors.
        component: the index of the component.
        index_vector_dim: the dimension of the index vectors, not 0.
    """
    concatenate = producer(indices, "stablehlo.concatenate")
    value: ir.Value | None = indices
    if concatenate is not None:
        if ConcatenateView(concatenate).dimension != index_vector_dim:
            return False
        value = _part_with(concatenate, component, index_vector_dim)
    while value is not None and not isinstance(value, ir.BlockArgument):
        operation = value.owner.operation
        if operation.name == "stablehlo.iota":
            return IotaView(operation).iota_dimension == 0
        value = _same_along_first_dimension(operation)
    return False


def _part_with(concatenate: ir.Operation, component: int, dim: int) -> ir.Value | None:
    """Return the part of a concatenation that is just one component of index vectors."""
    start = 0
    for part in concatenate.operands:
        size = ir.RankedTensorType(part.type).shape[dim]
        if start <= component < start + size:
            return part if size == 1 else None
        start += size
    return None


def _same_along_first_dimension(operation: ir.Operation) -> ir.Value | None:
    """Return the operand with the same values along dimension 0 as the result; None if unknown."""
    operands = operation.operands
    match operation.name:
        case "stablehlo.clamp":
            return operands[1]
        case "stablehlo.select":
            on_false_counts = producer(operands[2], "stablehlo.iota") is not None
            return operands[2] if on_false_counts else operands[1]
        case "stablehlo.broadcast_in_dim":
            dims = BroadcastView(operation).broadcast_dimensions
            keeps_first = bool(dims) and dims[0] == 0
            return operands[0] if keeps_first and _have_same_first_size(operation) else None
        case "stablehlo.reshape":
            return operands[0] if _have_same_first_size(operation) else None
        case _:
            return None


def _have_same_first_size(operation: ir.Operation) -> bool:
    first_sizes = [
        ir.RankedTensorType(value.type).shape[:1]
        for value in (operation.operands[0], operation.results[0])
    ]
    return first_sizes[0] == first_sizes[1] != []
