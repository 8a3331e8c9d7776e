# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that are fitted to padded operands beyond what the partitioner's records do.

Each function fits one operation, and returns the dimensions of operands that it has fitted, or None
if it has replaced the operation. Vectors of an operation are the sizes that were operands of its
dynamic form; without vectors, its attributes hold for all sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NoReturn, TypeAlias

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.traversal import terminator_of
from mlir_sdy.values import get_sharding, result_shardings_of, set_result_shardings_of
from pyshardy.irtools.stablehlo_builder import StablehloBuilder
from pyshardy.irtools.stablehlo_views import (
    ConcatenateView,
    ConvolutionView,
    GatherView,
    PadView,
    ReverseView,
    ScatterView,
    SliceView,
    SortView,
    WindowsView,
)
from pyshardy.irtools.tensor_types import element_type_of, shape_of, with_element, with_shape
from pyshardy.partition.halo.windowed import Window, paddings
from pyshardy.partition.op_facts.record import PaddingMask, record_of
from pyshardy.partition.op_facts.reduction_bodies import combining_operations
from pyshardy.partition.op_facts.scatter_windows import window_dims
from pyshardy.partition.padding.neutral import overwrite
from pyshardy.partition.partial.reductions import is_neutral
from pyshardy.partition.records.convolution import spatial_dims
from pyshardy.partition.records.reduce_window import windows_of
from pyshardy.partition.types.neutral_elements import neutral_element
from pyshardy.partition.types.padding_builder import Content, PaddingBuilder
from pyshardy.partition.types.reshapes import reshape_groups
from pyshardy.sizes.size import Number, Size, number_of, size_of

Place: TypeAlias = tuple[int, int]
"""A dimension of an operand or result: the position of the tensor, and the dimension."""

Vectors: TypeAlias = "Sequence[Sequence[Size] | None]"
"""Sizes in operands; None for those that have no expression."""


class CapacityError(UsageError):
    """An operation can't be computed for sizes below a capacity."""


class Contents:
    """The sizes that values have for given values of symbols, in a program for capacities.

    Args:
        symbols: the symbols.
        builder: builds sizes and masks.

    Attributes:
        contents: the shape without padding of each value that is padded.
        needs_check: whether the program may be invalid for some sizes that it runs.
    """

    def __init__(self, symbols: Collection[str], builder: PaddingBuilder):
        self.builder = builder
        self.contents: dict[ir.Value, Content] = {}
        self.needs_check = False
        self._symbols = symbols
        self.advice = f"leave {' and '.join(symbols)} out of 'buckets'"

    def content(self, value: ir.Value) -> Content:
        """Return the shape of a value without padding."""
        if not isinstance(value.type, ir.RankedTensorType):
            return ()
        return self.contents.get(value) or shape_of(value.type)

    def dims(self, value: ir.Value) -> list[int]:
        """Return the dimensions of a value that are padded."""
        content = self.contents.get(value, ())
        return [dim for dim, size in enumerate(content) if size != shape_of(value.type)[dim]]

    def keep(self, value: ir.Value, content: Sequence[Number]) -> None:
        """Note the shape of a value without padding."""
        if tuple(content) != shape_of(value.type):
            self.contents[value] = tuple(content)

    def mask(self, operation: ir.Operation, mask: PaddingMask) -> None:
        """Overwrite the padding of an operand."""
        content = self.content(operation.operands[mask.operand])
        overwrite(operation, mask, self.contents, (), self.builder)
        self.keep(operation.operands[mask.operand], content)

    def refuse(self, operation: ir.Operation, value: ir.Value, dim: int) -> NoReturn:
        """Raise the `CapacityError` of an operation whose result would depend on padding."""
        size = self.content(value)[dim]
        is_known = size_of(size).symbols <= {*self._symbols}
        shown = f", {size}" if is_known and not isinstance(size, int) else ""
        message = (
            f"'{operation.name}' op can't be computed on padding: dimension {dim} of an operand of "
            f"type {value.type} may have a smaller size{shown}; {self.advice}"
        )
        raise CapacityError(error(message, location_of(operation.location)))


Fitted: TypeAlias = "Collection[Place] | None"

Fit: TypeAlias = Callable[[Contents, ir.Operation, Vectors], Fitted]


def _numbers(vectors: Vectors, index: int, static: Sequence[int]) -> list[Number] | None:
    """Return the sizes in an operand, or those in attributes if there is none; None if unknown."""
    if not vectors:
        return list(static)
    vector = vectors[index]
    return None if vector is None else list(map(number_of, vector))


def _fit_reshape(known: Contents, operation: ir.Operation, _: Vectors) -> Fitted:
    """Fit a reshape that merges or splits dimensions of which only the first one is padded."""
    values = operation.operands[0], operation.results[0]
    padded, shapes = known.dims(values[0]), [shape_of(each.type) for each in values]
    for groups in reshape_groups(*shapes) if padded else ():
        products: list[Size] = []
        for value, shape, dims in zip(values, shapes, groups, strict=True):
            first = next((d for d in dims if shape[d] > 1 or d in known.dims(value)), None)
            if ({*dims} - {first}) & {*known.dims(value)}:
                known.refuse(operation, values[0], padded[0])
            sizes = (known.content(value)[dim] for dim in dims)
            products.append(size_of(math.prod(sizes)))
        if products[0] != products[1]:
            known.refuse(operation, values[0], padded[0])
    return [(0, dim) for dim in padded]


def _fit_slice(known: Contents, operation: ir.Operation, vectors: Vectors) -> Fitted:
    """Fit a slice that begins at a constant."""
    value, view = operation.operands[0], SliceView(operation)
    static = view.start_indices, view.limit_indices, view.strides
    bounds = [_numbers(vectors, index, each) for index, each in enumerate(static)]
    padded = known.dims(value)
    for dim in range(len(static[0])):
        start, limit, stride = (None if each is None else each[dim] for each in bounds)
        if dim not in padded and (start, limit) == (static[0][dim], static[1][dim]):
            continue
        if start != static[0][dim] or stride != static[2][dim] or limit is None:
            known.refuse(operation, value, dim)
        known.needs_check |= isinstance(limit, int)
    return [(0, dim) for dim in padded]


def _fit_concatenate(known: Contents, operation: ir.Operation, _: Vectors) -> Fitted:
    """Fit a concatenation of padded operands, each of which overwrites the padding before it."""
    dim, result = ConcatenateView(operation).dimension, operation.results[0]
    if not any(dim in known.dims(value) for value in operation.operands):
        return ()
    start, builder = Size.of(0), known.builder.sharded(get_sharding(result))
    scalar = ir.RankedTensorType.get([], ir.IntegerType.get_signless(32))
    joined = builder.splat(result.type, 0)
    for value in operation.operands:
        starts = [number_of(start) if d == dim else 0 for d in range(len(shape_of(value.type)))]
        at = [known.builder.number(scalar, each) for each in starts]
        joined = builder.dynamic_update_slice(joined, value, at)
        start += known.content(value)[dim]
    known.keep(joined, known.content(result))
    result.replace_all_uses_with(joined)
    operation.erase()
    return None


def _fit_sort(known: Contents, operation: ir.Operation, _: Vectors) -> Fitted:
    """Fit a sort of a padded dimension: padding is last, by an operand that is compared first."""
    dim, operands = SortView(operation).dimension, list(operation.operands)
    if dim not in known.dims(operands[0]):
        return ()
    content, builder = known.content(operands[0]), StablehloBuilder()
    flags = with_element(operands[0].type, ir.IntegerType.get_signless(32))
    scalar = with_shape(flags, ())
    shardings = result_shardings_of(operation)
    sharded = known.builder.sharded(shardings[0] if shardings else None)
    zero, one = sharded.splat(flags, 0), builder.splat(scalar, 1)
    flag = known.builder.masked(zero, content, [dim], one)
    new = ir.Operation.create(
        operation.name,
        results=[*(result.type for result in operation.results), flags],
        operands=[*operands, flag],
        attributes=dict(operation.attributes.items()),
        regions=1,
    )
    if shardings:
        set_result_shardings_of(new, dict(enumerate([*shardings, shardings[0]])))
    body = operation.regions[0].blocks[0]
    body.append_to(new.regions[0])
    left, right = (body.add_argument(scalar, operation.location) for _ in range(2))
    end = terminator_of(body)
    with ir.InsertionPoint(end):
        differ, is_first = (builder.compare(kind, left, right) for kind in ("NE", "LT"))
        end.operands[0] = builder.select(differ, is_first, end.operands[0])
    for old, result in zip(operation.results, new.results, strict=False):
        known.keep(result, known.content(old))
        old.replace_all_uses_with(result)
    operation.erase()
    return None


def _fit_top_k(known: Contents, operation: ir.Operation, _: Vectors) -> Fitted:
    """Fit a selection along a padded dimension, whose padding becomes the least number."""
    value = operation.operands[0]
    last = len(shape_of(value.type)) - 1
    if last not in known.dims(value):
        return ()
    least = neutral_element("stablehlo.maximum", element_type_of(value.type))
    if least is None:
        known.refuse(operation, value, last)
    known.needs_check = True
    known.mask(operation, PaddingMask(0, [last], least))
    return [(0, last)]


def _fit_pad(known: Contents, operation: ir.Operation, vectors: Vectors) -> Fitted:
    """Fit a pad, whose operand is masked by its record."""
    value, static = operation.operands[0], PadView(operation).amounts
    amounts = [_numbers(vectors, index, each) for index, each in enumerate(static)]
    padded = known.dims(value)
    for dim, (before, _, between) in enumerate(zip(*static, strict=True)):
        low, high, interior = (each[dim] if each else None for each in amounts)
        is_other = dim in padded or not isinstance(high, int)
        if is_other and (high is None or (low, interior) != (before, between)):
            known.refuse(operation, value, dim)
    return [(0, dim) for dim in padded]


def _fit_windows(known: Contents, operation: ir.Operation, vectors: Vectors) -> Fitted:
    """Fit a reduction of windows: padding becomes the initial value, as beyond the ends.

    Windows that grow with the dimension are those of a cumulative reduction.
    """
    count, value, view = len(operation.results), operation.operands[0], WindowsView(operation)
    static = paddings(view.padding, len(view.window_dimensions))
    lengths = _numbers(vectors[:1], 0, view.window_dimensions)
    edges = _numbers(vectors[-1:], 0, [each for pair in static for each in pair])
    fitted: list[Place] = []
    for dim in known.dims(value):
        window, size = windows_of(operation)[dim], known.content(value)[dim]
        if (window, *static[dim]) == (Window(), 0, 0):
            continue
        length = view.window_dimensions[dim]
        given = (lengths[dim], *edges[2 * dim : 2 * dim + 2]) if lengths and edges else None
        if given != (length, *static[dim]):
            rest = number_of(size_of(size) - 1)
            names = combining_operations(operation.regions[0].blocks[0])
            is_cumulative = given in ((size, rest, 0), (size, 0, rest))
            is_cumulative &= (window.stride, window.dilation, window.size) == (1, 1, length)
            initial = list(operation.operands)[count:]
            if not is_cumulative or not all(map(is_neutral, initial, names or ())):
                known.refuse(operation, value, dim)
        for index in range(count):
            known.mask(operation, PaddingMask(index, [dim], operation.operands[count + index]))
            fitted.append((index, dim))
    return fitted


def _fit_convolution(known: Contents, operation: ir.Operation, vectors: Vectors) -> Fitted:
    """Fit a convolution along padded dimensions, whose padding becomes zero."""
    value, spatial = operation.operands[0], list(spatial_dims(operation))
    static = paddings(ConvolutionView(operation).padding, len(spatial))
    edges = _numbers(vectors, 0, [each for pair in static for each in pair])
    fitted: list[Place] = []
    for at, each in enumerate(spatial):
        dim = each.dims[0]
        if dim in known.dims(value):
            if edges is None or edges[2 * at] != each.low:
                known.refuse(operation, value, dim)
            known.mask(operation, PaddingMask(0, [dim], 0))
            fitted.append((0, dim))
    return fitted


def _fit_update(known: Contents, operation: ir.Operation, _: Vectors) -> Fitted:
    """Fit an update of a part of a padded dimension, whose start its record clamps."""
    value, update = operation.operands[0], operation.operands[1]
    sizes, taken = shape_of(value.type), shape_of(update.type)
    for dim in known.dims(update):
        if sizes[dim] != taken[dim]:
            known.refuse(operation, update, dim)
    dims = [dim for dim in known.dims(value) if sizes[dim] != taken[dim]]
    known.needs_check |= bool(dims)
    return [(0, dim) for dim in dims]


def _fit_dynamic_slice(known: Contents, operation: ir.Operation, _: Vectors) -> Fitted:
    """Fit a slice of a padded dimension, whose start its record clamps."""
    value = operation.operands[0]
    taken = shape_of(operation.results[0].type)
    dims = [dim for dim in known.dims(value) if shape_of(value.type)[dim] != taken[dim]]
    known.needs_check |= any(taken[dim] > 1 for dim in dims)
    return [(0, dim) for dim in dims]


def _fit_gather(known: Contents, operation: ir.Operation, vectors: Vectors) -> Fitted:
    """Fit a gather of slices whose sizes depend on symbols, or that take a part of a dimension."""
    value, view = operation.operands[0], GatherView(operation)
    numbers, sizes = view.dimension_numbers, view.slice_sizes
    given, fitted = _numbers(vectors, 0, sizes), list[Place]()
    for dim in known.dims(value):
        if dim in numbers.operand_batching_dims:
            continue
        if given is None:
            known.refuse(operation, value, dim)
        is_whole = given[dim] == known.content(value)[dim] or not vectors
        if not is_whole or sizes[dim] != shape_of(value.type)[dim]:
            fitted.append((0, dim))
            known.needs_check |= sizes[dim] > 1
    return fitted


def _fit_reverse(known: Contents, operation: ir.Operation, _: Vectors) -> Fitted:
    """Fit a reversal: content that it moves to the end is moved back to the beginning."""
    value, result = operation.operands[0], operation.results[0]
    dims = {*ReverseView(operation).dimensions} & {*known.dims(value)}
    if not dims:
        return ()
    shape, content = shape_of(result.type), known.content(value)
    margins = [size if dim in dims else 0 for dim, size in enumerate(shape)]
    scalar = ir.RankedTensorType.get([], ir.IntegerType.get_signless(32))
    with ir.InsertionPoint.after(operation):
        starts = [
            known.builder.number(
                scalar, number_of(size - size_of(content[dim])) if dim in dims else 0
            )
            for dim, size in enumerate(shape)
        ]
        builder = known.builder.sharded(get_sharding(result))
        zero = known.builder.scalar(result, 0)
        moved = builder.pad(result, zero, [0] * len(shape), margins)
        back = builder.dynamic_slice(moved, starts, shape)
    result.replace_all_uses_except(back, moved.owner.operation)
    known.keep(back, content)
    return None


def _fit_scatter(known: Contents, operation: ir.Operation, _: Vectors) -> Fitted:
    """Fit a scatter: updates in padding have indices that are out of bounds, and are skipped.

    Padding of windows becomes neutral, so that it changes nothing.
    """
    count, value = len(operation.results), operation.operands[0]
    numbers = ScatterView(operation).scatter_dimension_numbers
    indices, update = operation.operands[count], operation.operands[count + 1]
    updates = range(count + 1, 2 * count + 1)
    fitted: set[Place] = set()
    for dim, window in window_dims(operation).items():
        missing = size_of(known.content(value)[dim]) - known.content(update)[window]
        left = shape_of(value.type)[dim] - shape_of(update.type)[window]
        if left == 0 or window not in known.dims(update):
            continue
        find = record_of(operation.name).neutral_values
        neutrals = (find and find(operation)) or {}
        if number_of(missing) != left or len(neutrals) != count:
            known.refuse(operation, update, window)
        for index, neutral in neutrals.items():
            known.mask(operation, PaddingMask(index, [window], neutral))
        fitted |= {*((index, window) for index in updates), *((at, dim) for at in range(count))}
    dims = [dim for dim in known.dims(indices) if dim != numbers.index_vector_dim]
    if dims:
        integer = ir.IntegerType(element_type_of(indices.type))
        beyond = 2**integer.width - 1 if integer.is_unsigned else -1
        known.mask(operation, PaddingMask(count, dims, beyond))
        ScatterView(operation).indices_are_sorted = False
        batch = {*known.dims(update)} - {*numbers.update_window_dims}
        fitted |= {(count, dim) for dim in dims} | {(at, dim) for at in updates for dim in batch}
    return fitted


FUNCTIONS: Mapping[str, Fit] = {
    "chlo.top_k": _fit_top_k,
    "stablehlo.concatenate": _fit_concatenate,
    "stablehlo.convolution": _fit_convolution,
    "stablehlo.dynamic_slice": _fit_dynamic_slice,
    "stablehlo.dynamic_update_slice": _fit_update,
    "stablehlo.gather": _fit_gather,
    "stablehlo.pad": _fit_pad,
    "stablehlo.reduce_window": _fit_windows,
    "stablehlo.reshape": _fit_reshape,
    "stablehlo.reverse": _fit_reverse,
    "stablehlo.scatter": _fit_scatter,
    "stablehlo.slice": _fit_slice,
    "stablehlo.sort": _fit_sort,
}
