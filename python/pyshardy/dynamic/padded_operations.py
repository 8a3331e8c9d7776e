# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that are fitted to padded operands beyond what the partitioner's records do.

Each function fits one operation, and returns the dimensions that it has fitted and the sizes of its
results, or None if it has replaced the operation. Vectors of an operation are sizes that were
operands before refinement; without vectors, its attributes hold for all sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn, TypeAlias

from mlir_sdy.diagnostics import error
from mlir_sdy.host import ir, location_of
from mlir_sdy.traversal import terminator_of
from mlir_sdy.values import get_sharding, result_shardings_of, set_result_shardings_of
from pyshardy.dynamic.size_map import num_windows
from pyshardy.dynamic.valid_sizes import CapacityError
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
from pyshardy.sizes.size import Number, Size, number_of, size_of

Place: TypeAlias = tuple[int, int]
"""A dimension of an operand or result: the position of the tensor, and the dimension."""

Vectors: TypeAlias = "Sequence[Sequence[Size] | None]"
"""Sizes in operands; None for those that have no expression."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """The dimensions that a function has fitted.

    Attributes:
        operands: dimensions of operands.
        results: the sizes of dimensions of results.
    """

    operands: Collection[Place] = ()
    results: Mapping[Place, Number] = field(default_factory=dict[Place, Number])


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


Fit: TypeAlias = Callable[[Contents, ir.Operation, Vectors], Fitted | None]


def _numbers(vectors: Vectors, index: int, static: Sequence[int]) -> list[Number] | None:
    """Return the sizes in an operand, or those in attributes if there is none; None if unknown."""
    if not vectors:
        return list(static)
    vector = vectors[index]
    return None if vector is None else list(map(number_of, vector))


def _fit_reshape(known: Contents, operation: ir.Operation, vectors: Vectors) -> Fitted:
    """Fit a reshape that merges or splits dimensions of which only the first one is padded."""
    value, result = operation.operands[0], operation.results[0]
    before, after = shape_of(value.type), shape_of(result.type)
    content, wanted = known.content(value), vectors[0] if vectors else None
    padded = known.dims(value)
    if not padded:
        return Fitted()
    if wanted is None:
        known.refuse(operation, value, padded[0])
    found: list[Number] = list(after)
    for old, new in _groups(before, after):
        first = next((dim for dim in old if before[dim] > 1 or dim in padded), None)
        if not any(dim in padded for dim in old):
            continue
        target = next((dim for dim in new if after[dim] > 1), new[0] if new else None)
        others = [dim for dim in old if dim != first]
        if target is None or first is None or any(dim in padded for dim in others):
            known.refuse(operation, value, padded[0])
        total = size_of(content[first]) * Size.of(math.prod(before[dim] for dim in others))
        rest = math.prod(after[dim] for dim in new if dim != target)
        size = total.floordiv(rest)
        if size * Size.of(rest) != total:
            known.refuse(operation, value, first)
        found[target] = number_of(size)
    if found != list(map(number_of, wanted)):
        known.refuse(operation, value, padded[0])
    return Fitted([(0, dim) for dim in padded], {(0, dim): n for dim, n in enumerate(found)})


def _groups(before: Sequence[int], after: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """Return the least groups of dimensions with equal products, in order."""
    groups: list[tuple[list[int], list[int]]] = []
    old: list[int] = []
    new: list[int] = []
    place = 0
    for dim in range(len(before)):
        old.append(dim)
        size = math.prod(before[each] for each in old)
        while place < len(after) and math.prod(after[each] for each in new) < size:
            new.append(place)
            place += 1
        if math.prod(after[each] for each in new) == size and (size > 1 or dim == len(before) - 1):
            groups.append((old, new))
            old, new = [], []
    if groups:
        groups[-1] = [*groups[-1][0], *old], [*groups[-1][1], *range(place, len(after))]
    return groups


def _fit_slice(known: Contents, operation: ir.Operation, vectors: Vectors) -> Fitted:
    """Fit a slice that begins at a constant."""
    value, view = operation.operands[0], SliceView(operation)
    static = view.start_indices, view.limit_indices, view.strides
    bounds = [_numbers(vectors, index, each) for index, each in enumerate(static)]
    padded = known.dims(value)
    sizes: dict[Place, Number] = {}
    for dim in range(len(static[0])):
        start, limit, stride = (None if each is None else each[dim] for each in bounds)
        if dim not in padded and (start, limit) == (static[0][dim], static[1][dim]):
            continue
        if start != static[0][dim] or stride != static[2][dim] or limit is None:
            known.refuse(operation, value, dim)
        known.needs_check |= isinstance(limit, int)
        length = size_of(limit) - Size.of(static[0][dim] - static[2][dim] + 1)
        sizes[0, dim] = number_of(length.floordiv(static[2][dim]))
    return Fitted([(0, dim) for dim in padded], sizes)


def _fit_concatenate(known: Contents, operation: ir.Operation, _: Vectors) -> Fitted | None:
    """Fit a concatenation of padded operands, each of which overwrites the padding before it.

    Returns:
        None if the operation is replaced.
    """
    dim, result = ConcatenateView(operation).dimension, operation.results[0]
    if not any(dim in known.dims(value) for value in operation.operands):
        return Fitted()
    first, total = known.content(operation.operands[0]), Size.of(0)
    builder = known.builder.sharded(get_sharding(result))
    scalar = ir.RankedTensorType.get([], ir.IntegerType.get_signless(32))
    joined = builder.splat(result.type, 0)
    for value in operation.operands:
        for other, size in enumerate(known.content(value)):
            if other != dim and size != first[other]:
                known.refuse(operation, value, other)
        starts = [number_of(total) if other == dim else 0 for other in range(len(first))]
        at = [known.builder.number(scalar, each) for each in starts]
        joined = builder.dynamic_update_slice(joined, value, at)
        total += size_of(known.content(value)[dim])
    known.contents[joined] = (*first[:dim], number_of(total), *first[dim + 1 :])
    result.replace_all_uses_with(joined)
    operation.erase()
    return None


def _fit_sort(known: Contents, operation: ir.Operation, _: Vectors) -> Fitted | None:
    """Fit a sort of a padded dimension: padding is last, by an operand that is compared first.

    Returns:
        None, as the operation is replaced.
    """
    dim, operands = SortView(operation).dimension, list(operation.operands)
    if dim not in known.dims(operands[0]):
        return Fitted()
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
    for old, result, value in zip(operation.results, new.results, operands, strict=False):
        old.replace_all_uses_with(result)
        known.contents[result] = known.content(value)
    operation.erase()
    return None


def _fit_top_k(known: Contents, operation: ir.Operation, _: Vectors) -> Fitted:
    """Fit a selection along a padded dimension, whose padding becomes the least number."""
    value = operation.operands[0]
    last = len(shape_of(value.type)) - 1
    if last not in known.dims(value):
        return Fitted()
    least = neutral_element("stablehlo.maximum", element_type_of(value.type))
    if least is None:
        known.refuse(operation, value, last)
    known.needs_check = True
    known.mask(operation, PaddingMask(0, [last], least))
    return Fitted([(0, last)])


def _fit_pad(known: Contents, operation: ir.Operation, vectors: Vectors) -> Fitted:
    """Fit a pad, whose operand is masked by its record."""
    value, static = operation.operands[0], PadView(operation).amounts
    amounts = [_numbers(vectors, index, each) for index, each in enumerate(static)]
    padded, sizes = known.dims(value), dict[Place, Number]()
    for dim, (before, _, between) in enumerate(zip(*static, strict=True)):
        low, high, interior = (each[dim] if each else None for each in amounts)
        if dim in padded or not isinstance(high, int):
            if high is None or (low, interior) != (before, between):
                known.refuse(operation, value, dim)
            content = known.content(value)[dim]
            sizes[0, dim] = num_windows(content, before, high, 1, 1, between + 1)
    return Fitted([(0, dim) for dim in padded], sizes)


def _fit_windows(known: Contents, operation: ir.Operation, vectors: Vectors) -> Fitted:
    """Fit a reduction of windows: padding becomes the initial value, as beyond the ends.

    Windows that grow with the dimension are those of a cumulative reduction.
    """
    count, value, view = len(operation.results), operation.operands[0], WindowsView(operation)
    static = paddings(view.padding, len(view.window_dimensions))
    lengths = _numbers(vectors[:1], 0, view.window_dimensions)
    edges = _numbers(vectors[-1:], 0, [each for pair in static for each in pair])
    fitted: dict[Place, Number] = {}
    for dim in known.dims(value):
        window, size = windows_of(operation)[dim], known.content(value)[dim]
        if (window, *static[dim]) == (Window(), 0, 0):
            continue
        length = view.window_dimensions[dim]
        given = (lengths[dim], *edges[2 * dim : 2 * dim + 2]) if lengths and edges else None
        wanted = num_windows(size, *static[dim], window.size, window.stride, window.dilation)
        if given != (length, *static[dim]):
            rest = number_of(size_of(size) - Size.of(1))
            names = combining_operations(operation.regions[0].blocks[0])
            is_cumulative = given in ((size, rest, 0), (size, 0, rest))
            is_cumulative &= (window.stride, window.dilation, window.size) == (1, 1, length)
            initial = list(operation.operands)[count:]
            if not is_cumulative or not all(map(is_neutral, initial, names or ())):
                known.refuse(operation, value, dim)
            wanted = size
        for index in range(count):
            known.mask(operation, PaddingMask(index, [dim], operation.operands[count + index]))
            fitted[index, dim] = wanted
    return Fitted(fitted, fitted)


def _fit_convolution(known: Contents, operation: ir.Operation, vectors: Vectors) -> Fitted:
    """Fit a convolution along padded dimensions, whose padding becomes zero."""
    value, sizes = operation.operands[0], dict[Place, Number]()
    spatial = list(spatial_dims(operation))
    padded, static = (
        known.dims(value),
        paddings(ConvolutionView(operation).padding, len(spatial)),
    )
    edges = _numbers(vectors, 0, [each for pair in static for each in pair])
    fitted = [each.dims[0] for each in spatial if each.dims[0] in padded]
    for at, each in enumerate(spatial):
        dim, _, out = each.dims
        if dim in fitted:
            if edges is None or edges[2 * at] != each.low:
                known.refuse(operation, value, dim)
            content, high = known.content(value)[dim], edges[2 * at + 1]
            steps = each.stride, each.input_dilation
            sizes[0, out] = num_windows(content, each.low, high, each.reach, *steps)
            known.mask(operation, PaddingMask(0, [dim], 0))
    return Fitted([(0, dim) for dim in fitted], sizes)


def _fit_update(known: Contents, operation: ir.Operation, _: Vectors) -> Fitted:
    """Fit an update of a part of a padded dimension, whose start its record clamps."""
    value, update = operation.operands[0], operation.operands[1]
    sizes = shape_of(value.type)
    taken = shape_of(update.type)
    dims = [dim for dim in known.dims(value) if sizes[dim] != taken[dim]]
    for dim in known.dims(update):
        if sizes[dim] != taken[dim]:
            known.refuse(operation, update, dim)
    known.needs_check |= bool(dims)
    content = known.content(value)
    return Fitted([(0, dim) for dim in dims], {(0, dim): content[dim] for dim in dims})


def _fit_dynamic_slice(known: Contents, operation: ir.Operation, _: Vectors) -> Fitted:
    """Fit a slice of a padded dimension, whose start its record clamps."""
    value = operation.operands[0]
    taken = shape_of(operation.results[0].type)
    dims = [dim for dim in known.dims(value) if shape_of(value.type)[dim] != taken[dim]]
    known.needs_check |= any(taken[dim] > 1 for dim in dims)
    return Fitted([(0, dim) for dim in dims])


def _fit_gather(known: Contents, operation: ir.Operation, vectors: Vectors) -> Fitted:
    """Fit a gather of slices whose sizes depend on symbols, or that take a part of a dimension."""
    value, view = operation.operands[0], GatherView(operation)
    numbers, sizes = view.dimension_numbers, view.slice_sizes
    given = _numbers(vectors, 0, sizes)
    without = {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
    offsets = iter(numbers.offset_dims)
    padded, fitted = known.dims(value), list[Place]()
    found: dict[Place, Number] = {}
    for dim, size in enumerate(shape_of(value.type)):
        offset = None if dim in without else next(offsets)
        if dim in numbers.operand_batching_dims:
            continue
        if given is None:
            known.refuse(operation, value, dim)
        content = known.content(value)[dim]
        length = content if not vectors and sizes[dim] == size else given[dim]
        if length == content and sizes[dim] == size:
            continue  # it takes the whole dimension
        fitted += [(0, dim)] * (dim in padded)
        known.needs_check |= dim in padded and sizes[dim] > 1
        if offset is not None:
            found[0, offset] = length
    return Fitted(fitted, found)


def _fit_reverse(known: Contents, operation: ir.Operation, _: Vectors) -> Fitted | None:
    """Fit a reversal: content that it moves to the end is moved back to the beginning.

    Returns:
        None, as the operation is replaced.
    """
    value, result = operation.operands[0], operation.results[0]
    dims = {*ReverseView(operation).dimensions} & {*known.dims(value)}
    if not dims:
        return Fitted()
    shape, content = shape_of(result.type), known.content(value)
    margins = [size if dim in dims else 0 for dim, size in enumerate(shape)]
    scalar = ir.RankedTensorType.get([], ir.IntegerType.get_signless(32))
    with ir.InsertionPoint.after(operation):
        starts = [
            known.builder.number(
                scalar, number_of(Size.of(size) - size_of(content[dim])) if dim in dims else 0
            )
            for dim, size in enumerate(shape)
        ]
        builder = known.builder.sharded(get_sharding(result))
        zero = known.builder.scalar(result, 0)
        moved = builder.pad(result, zero, [0] * len(shape), margins)
        back = builder.dynamic_slice(moved, starts, shape)
    result.replace_all_uses_except(back, moved.owner.operation)
    known.contents[back] = content
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
        missing = size_of(known.content(value)[dim]) - size_of(known.content(update)[window])
        left = Size.of(shape_of(value.type)[dim] - shape_of(update.type)[window])
        if left == Size.of(0) or window not in known.dims(update):
            continue
        find = record_of(operation.name).neutral_values
        neutrals = (find and find(operation)) or {}
        if missing != left or len(neutrals) != count:
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
    content = known.content(value)
    ends = {(index, dim): n for index in range(count) for dim, n in enumerate(content)}
    return Fitted(fitted, ends)


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
