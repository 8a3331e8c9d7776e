# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dimensions that the operands and results of an operation share, and that can be split in all.

`LINKED_OPERATIONS` declares for each operation which dimensions those are, and which attributes
number them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise

from mlir_sdy.discardable import has_discardable
from mlir_sdy.host import ir, stablehlo
from pyshardy.irtools.stablehlo_views import (
    BroadcastView,
    ConcatenateView,
    DotView,
    IotaView,
    PadView,
    ReduceView,
    ReverseView,
    SliceView,
    TransposeView,
)
from pyshardy.irtools.stablehlo_views.fields import Field, FieldValues
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.propagation.elementwise import ELEMENTWISE_OPERATIONS
from pyshardy.rules.families.pointwise import POINTWISE_BEYOND_SHARDY

Parts = tuple[tuple[int, ...], ...]
"""For each dimension of a tensor the sizes of the parts that it is split into, one if it isn't."""

Place = tuple[int, int]
"""The index of an operand or result, and its dimension."""

_ATTRIBUTES = ("sdy.sharding", "sdy.sharding_rule", "mhlo.sharding")


@dataclass(frozen=True, slots=True)
class SharedDimension:
    """A dimension that operands and results share.

    Attributes:
        operands: its places in operands; none if the values are equal along the dimension.
        results: its places in results; none if the operation sums or reduces over it.
    """

    operands: tuple[Place, ...]
    results: tuple[Place, ...]


LinksOf = Callable[[ir.Operation], Iterable[SharedDimension]]
Renumbering = Callable[[ir.Operation, Sequence[Parts], Sequence[Parts]], FieldValues]


@dataclass(frozen=True, slots=True)
class LinkedOperation:
    """An operation with dimensions that can be split.

    Attributes:
        links: returns those dimensions. All others stay as they are.
        renumbered: returns the attributes that number dimensions, after splits of the operands and
            results into parts.
    """

    links: LinksOf
    renumbered: Renumbering


def links_of(operation: ir.Operation) -> tuple[SharedDimension, ...]:
    """Return the dimensions of an operation that can be split; none if its name isn't declared."""
    declared = LINKED_OPERATIONS.get(operation.name)
    return tuple(declared.links(operation)) if declared else ()


def renumbered(
    operation: ir.Operation, operands: Sequence[Parts], results: Sequence[Parts]
) -> FieldValues:
    """Return the attributes of an operation that number dimensions, after splits into parts."""
    return LINKED_OPERATIONS[operation.name].renumbered(operation, operands, results)


def new_dims(parts: Parts) -> list[range]:
    """Return for each dimension its dimensions after a split.

    Example: `((8, 6), (64,))` gives `[range(0, 2), range(2, 3)]`.
    """
    ends = accumulate((len(sizes) for sizes in parts), initial=0)
    return [range(start, end) for start, end in pairwise(ends)]


def _expand(dims: Iterable[int], parts: Parts) -> list[int]:
    """Return the dimensions after a split for some dimensions before it."""
    after = new_dims(parts)
    return [new for dim in dims for new in after[dim]]


def _rank(value: ir.Value) -> int:
    return len(shape_of(value.type))


# --- Operations that keep all or most dimensions ------------------------------------------------


def _same_dims(
    operation: ir.Operation, leaving_out: Collection[int] = ()
) -> Iterable[SharedDimension]:
    """Return the dimensions of an operation whose tensors all have them, except for scalars."""
    links = _links_of_ranks(
        tuple(map(_rank, operation.operands)),
        _rank(operation.results[0]),
        len(operation.results),
    )
    return [link for dim, link in enumerate(links) if dim not in leaving_out]


@lru_cache(maxsize=1024)
def _links_of_ranks(
    operands: tuple[int, ...], rank: int, num_results: int
) -> tuple[SharedDimension, ...]:
    """Return the dimensions of the results, if all operands but scalars have the same rank."""
    with_dims = [index for index, each in enumerate(operands) if each]
    if any(operands[index] != rank for index in with_dims):
        return ()
    return tuple(
        SharedDimension(
            tuple((index, dim) for index in with_dims),
            tuple((index, dim) for index in range(num_results)),
        )
        for dim in range(rank)
    )


def _changing(dims: Callable[[ir.Operation], Collection[int]]) -> LinksOf:
    """Return the links of an operation that changes positions along some dimensions."""

    def links(operation: ir.Operation) -> Iterable[SharedDimension]:
        return _same_dims(operation, dims(operation))

    return links


def _sliced(operation: ir.Operation) -> list[int]:
    view = SliceView(operation)
    bounds = zip(view.start_indices, view.limit_indices, view.strides, strict=True)
    sizes = shape_of(operation.operands[0].type)
    return [
        dim
        for dim, (bound, size) in enumerate(zip(bounds, sizes, strict=True))
        if bound != (0, size, 1)
    ]


def _padded(operation: ir.Operation) -> list[int]:
    amounts = zip(*PadView(operation).amounts, strict=True)
    return [dim for dim, amount in enumerate(amounts) if any(amount)]


def _not_numbered(
    operation: ir.Operation, operands: Sequence[Parts], results: Sequence[Parts]
) -> FieldValues:
    del operation, operands, results
    return {}


def _renumbered_dim(field: Field[int]) -> Renumbering:
    """Return the function that renumbers a dimension of the result."""

    def function(
        operation: ir.Operation, operands: Sequence[Parts], results: Sequence[Parts]
    ) -> FieldValues:
        del operands
        return {field: new_dims(results[0])[field.of(operation)].start}

    return function


def _renumbered_dims(field: Field[tuple[int, ...]]) -> Renumbering:
    """Return the function that renumbers a list of dimensions of the first operand."""

    def function(
        operation: ir.Operation, operands: Sequence[Parts], results: Sequence[Parts]
    ) -> FieldValues:
        del results
        return {field: _expand(field.of(operation), operands[0])}

    return function


def _per_part(
    fields: Iterable[Field[tuple[int, ...]]], of_parts: Callable[[int], Sequence[int]]
) -> Renumbering:
    """Return the function that repeats numbers of dimensions for the parts of a dimension.

    Args:
        fields: attributes with a number for each dimension.
        of_parts: returns these numbers for a part, from its size.
    """
    named = list(fields)

    def function(
        operation: ir.Operation, operands: Sequence[Parts], results: Sequence[Parts]
    ) -> FieldValues:
        del results
        values: dict[Field[tuple[int, ...]], list[int]] = {field: [] for field in named}
        old = [field.of(operation) for field in named]
        for dim, sizes in enumerate(operands[0]):
            for index, field in enumerate(named):
                kept = [old[index][dim]]
                split = [of_parts(size)[index] for size in sizes]
                values[field] += split if len(sizes) > 1 else kept
        return values

    return function


# --- Operations that add, drop or reorder dimensions --------------------------------------------


def _transposed(operation: ir.Operation) -> Iterable[SharedDimension]:
    for new, old in enumerate(TransposeView(operation).permutation):
        yield SharedDimension(((0, old),), ((0, new),))


def _broadcast(operation: ir.Operation) -> Iterable[SharedDimension]:
    before, after = (
        shape_of(value.type) for value in (operation.operands[0], operation.results[0])
    )
    dims = BroadcastView(operation).broadcast_dimensions
    kept = {new: old for old, new in enumerate(dims) if before[old] == after[new]}
    for new in range(len(after)):
        yield SharedDimension(((0, kept[new]),) if new in kept else (), ((0, new),))


def _renumbered_broadcast(
    operation: ir.Operation, operands: Sequence[Parts], results: Sequence[Parts]
) -> FieldValues:
    before, after = new_dims(operands[0]), new_dims(results[0])
    dims = BroadcastView(operation).broadcast_dimensions
    # A dimension of size 1 has one part; it becomes the last one of those of the result.
    new = [each for old, dim in enumerate(dims) for each in after[dim][-len(before[old]) :]]
    return {BroadcastView.broadcast_dimensions: new}


def _reduced(operation: ir.Operation) -> Iterable[SharedDimension]:
    inputs, results = range(len(operation.results)), range(len(operation.results))
    reduced = ReduceView(operation).dimensions
    kept = [dim for dim in range(_rank(operation.operands[0])) if dim not in reduced]
    for dim in range(_rank(operation.operands[0])):
        places = [(index, kept.index(dim)) for index in results] if dim in kept else []
        yield SharedDimension(tuple((index, dim) for index in inputs), tuple(places))


def _multiplied(operation: ir.Operation) -> Iterable[SharedDimension]:
    numbers = DotView(operation).dot_dimension_numbers
    lhs_batch, rhs_batch = numbers.lhs_batching_dimensions, numbers.rhs_batching_dimensions
    lhs_sum, rhs_sum = numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions
    for index, (lhs, rhs) in enumerate(zip(lhs_batch, rhs_batch, strict=True)):
        yield SharedDimension(((0, lhs), (1, rhs)), ((0, index),))
    for lhs, rhs in zip(lhs_sum, rhs_sum, strict=True):
        yield SharedDimension(((0, lhs), (1, rhs)), ())
    result_dim = len(lhs_batch)
    for operand, used in ((0, [*lhs_batch, *lhs_sum]), (1, [*rhs_batch, *rhs_sum])):
        for dim in range(_rank(operation.operands[operand])):
            if dim not in used:
                yield SharedDimension(((operand, dim),), ((0, result_dim),))
                result_dim += 1


def _renumbered_product(
    operation: ir.Operation, operands: Sequence[Parts], results: Sequence[Parts]
) -> FieldValues:
    del results
    numbers = DotView(operation).dot_dimension_numbers
    lhs, rhs = operands
    return {
        DotView.dot_dimension_numbers: stablehlo.DotDimensionNumbers.get(
            _expand(numbers.lhs_batching_dimensions, lhs),
            _expand(numbers.rhs_batching_dimensions, rhs),
            _expand(numbers.lhs_contracting_dimensions, lhs),
            _expand(numbers.rhs_contracting_dimensions, rhs),
            context=operation.context,
        )
    }


# --- The table ----------------------------------------------------------------------------------

_WITH_NUMBERED_DIMS = {"stablehlo.map", "stablehlo.collective_reduce"}
ELEMENTWISE_NAMES = frozenset(
    name
    for name in (*ELEMENTWISE_OPERATIONS, *POINTWISE_BEYOND_SHARDY)
    if not name.startswith(("sdy.", "chlo.broadcast_")) and name not in _WITH_NUMBERED_DIMS
)
"""The operations on elements at the same positions, without attributes that number dimensions."""

LINKED_OPERATIONS = {
    **dict.fromkeys(ELEMENTWISE_NAMES, LinkedOperation(_same_dims, _not_numbered)),
    "stablehlo.broadcast_in_dim": LinkedOperation(_broadcast, _renumbered_broadcast),
    "stablehlo.concatenate": LinkedOperation(
        _changing(lambda operation: [ConcatenateView(operation).dimension]),
        _renumbered_dim(ConcatenateView.dimension),
    ),
    "stablehlo.dot_general": LinkedOperation(_multiplied, _renumbered_product),
    "stablehlo.iota": LinkedOperation(
        _changing(lambda operation: [IotaView(operation).iota_dimension]),
        _renumbered_dim(IotaView.iota_dimension),
    ),
    "stablehlo.pad": LinkedOperation(
        _changing(_padded),
        _per_part(
            (PadView.edge_padding_low, PadView.edge_padding_high, PadView.interior_padding),
            lambda _: (0, 0, 0),
        ),
    ),
    "stablehlo.reduce": LinkedOperation(_reduced, _renumbered_dims(ReduceView.dimensions)),
    "stablehlo.reverse": LinkedOperation(
        _changing(lambda operation: ReverseView(operation).dimensions),
        _renumbered_dims(ReverseView.dimensions),
    ),
    "stablehlo.slice": LinkedOperation(
        _changing(_sliced),
        _per_part(
            (SliceView.start_indices, SliceView.limit_indices, SliceView.strides),
            lambda size: (0, size, 1),
        ),
    ),
    "stablehlo.transpose": LinkedOperation(
        _transposed, _renumbered_dims(TransposeView.permutation)
    ),
}
"""The operations with dimensions that can be split, by their names."""


def has_fixed_dims(operation: ir.Operation) -> bool:
    """Whether attributes of an operation, such as its sharding, refer to its dimensions."""
    return any(has_discardable(operation, name) for name in _ATTRIBUTES)
