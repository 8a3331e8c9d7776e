# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Indices of gathers and scatters that count 0, 1, 2, ... along a dimension."""

from __future__ import annotations

from mlir_sdy.fold.pattern import producer
from mlir_sdy.host import ir
from pyshardy.irtools.constants import splat_of
from pyshardy.irtools.stablehlo_views import (
    BroadcastView,
    CompareView,
    ConcatenateView,
    IotaView,
)


def counts_along_first_dimension(indices: ir.Value, component: int, index_vector_dim: int) -> bool:
    """Whether a component of all index vectors is its vector's position in dimension 0.

    1. If the indices are a concatenation along the dimension of index vectors, the part with the
       component is examined, and it must have size 1 there.
    2. The indices, or that part, must be an `iota` along dimension 0, possibly followed by
       - broadcasts and reshapes that keep dimension 0 first, of the same size;
       - clamps by constants that include all positions;
       - selects of two values that both count, or by whether a value that counts is negative, which
         it never is: `select(i < 0, i + n, i)`.

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
    return value is not None and _counts(value)


def _part_with(concatenate: ir.Operation, component: int, dim: int) -> ir.Value | None:
    """Return the part of a concatenation that is just one component of index vectors."""
    start = 0
    for part in concatenate.operands:
        size = ir.RankedTensorType(part.type).shape[dim]
        if start <= component < start + size:
            return part if size == 1 else None
        start += size
    return None


def _counts(value: ir.Value) -> bool:
    """Whether a value is the position in dimension 0."""
    if isinstance(value, ir.BlockArgument):
        return False
    operation = value.owner.operation
    operands = operation.operands
    match operation.name:
        case "stablehlo.iota":
            return IotaView(operation).iota_dimension == 0
        case "stablehlo.clamp":
            return _includes_positions(operation) and _counts(operands[1])
        case "stablehlo.select":
            is_true, is_false = _decided(operands[0])
            return (is_true or _counts(operands[2])) and (is_false or _counts(operands[1]))
        case "stablehlo.broadcast_in_dim":
            dims = BroadcastView(operation).broadcast_dimensions
            keeps_first = bool(dims) and dims[0] == 0
            return keeps_first and _have_same_first_size(operation) and _counts(operands[0])
        case "stablehlo.reshape":
            return _have_same_first_size(operation) and _counts(operands[0])
        case _:
            return False


def _includes_positions(clamp: ir.Operation) -> bool:
    """Whether a clamp keeps all positions in dimension 0."""
    low, high = (_constant_of(clamp.operands[index]) for index in (0, 2))
    size = ir.RankedTensorType(clamp.results[0].type).shape[0]
    return low is not None and low <= 0 and high is not None and high >= size - 1


def _decided(predicate: ir.Value) -> tuple[bool, bool]:
    """Return whether a predicate is always true, and whether it is always false."""
    compare = producer(predicate, "stablehlo.compare")
    if compare is None or _constant_of(compare.operands[1]) != 0:
        return False, False
    direction = CompareView(compare).comparison_direction
    if direction not in ("GE", "LT") or not _counts(compare.operands[0]):
        return False, False
    return direction == "GE", direction == "LT"


def _constant_of(value: ir.Value) -> int | None:
    """Return the integer that all elements of a value are, or None."""
    while (broadcast := producer(value, "stablehlo.broadcast_in_dim")) is not None:
        value = broadcast.operands[0]
    element = splat_of(value)
    return element.value if isinstance(element, ir.IntegerAttr) else None


def _have_same_first_size(operation: ir.Operation) -> bool:
    first_sizes = [
        ir.RankedTensorType(value.type).shape[:1]
        for value in (operation.operands[0], operation.results[0])
    ]
    return first_sizes[0] == first_sizes[1] != []
