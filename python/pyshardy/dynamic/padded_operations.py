# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that are fitted to padded operands beyond what the partitioner's records do.

Each function fits one operation, and returns the dimensions of operands that it has fitted, or None
if it has replaced the operation. Vectors of an operation are the sizes that were operands of its
dynamic form; without vectors, its attributes hold for all sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NoReturn, TypeAlias

from mlir_sdy.attributes import AttributeCache
from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import TensorSharding
from mlir_sdy.traversal import terminator_of
from mlir_sdy.values import get_sharding, result_shardings_of, set_result_shardings_of
from pyshardy.irtools.stablehlo_builder import StablehloBuilder
from pyshardy.irtools.stablehlo_views import (
    ConcatenateView,
    GatherView,
    PadView,
    ReverseView,
    ScatterView,
    SliceView,
    SortView,
)
from pyshardy.irtools.tensor_types import element_type_of, shape_of, with_element, with_shape
from pyshardy.partition.op_facts.record import PaddingMask
from pyshardy.partition.op_facts.reduction_bodies import combining_operations
from pyshardy.partition.op_facts.scatter_windows import window_dims
from pyshardy.partition.padding.neutral import neutral_values, overwrite
from pyshardy.partition.partial.reductions import is_neutral
from pyshardy.partition.records.convolution import spatial_dims
from pyshardy.partition.types.padding_builder import Content, PaddingBuilder
from pyshardy.partition.types.reshapes import reshape_groups
from pyshardy.sizes.reduce_windows import window_numbers
from pyshardy.sizes.size import Atom, Number, Quotient, Size, number_of, size_of
from pyshardy.sizes.size_map import SizeMap

Place: TypeAlias = tuple[int, int]
"""A dimension of an operand or result: the position of the tensor, and the dimension."""

Vectors: TypeAlias = "Sequence[Sequence[Size] | None]"
"""Sizes in operands; None for those that have no expression."""


class CapacityError(UsageError):
    """An operation can't be computed for sizes below a capacity."""


class Contents:
    """The sizes that values have for given values of symbols, in a program for capacities.

    Attributes:
        symbols: the symbols.
        sizes: the sizes of the values of the dynamic program.
        scalars_of: the scalars that the program computes for symbols, and for other sizes.
        builder: builds sizes and masks.
        contents: the shape without padding of each value that is padded.
        needs_check: whether the program may be invalid for some sizes that it runs.
    """

    def __init__(self, symbols: Collection[str], sizes: SizeMap, cache: AttributeCache):
        self.scalars_of: dict[str, ir.Value] = {}
        self.builder = PaddingBuilder(cache, self.scalars_of)
        self.contents: dict[ir.Value, Content] = {}
        self.needs_check = bool(sizes.equalities)
        self.symbols, self.sizes = symbols, sizes

    def content(self, value: ir.Value) -> Content:
        """Return the shape of a value without padding."""
        if not isinstance(value.type, ir.RankedTensorType):
            return ()
        return self.contents.get(value) or shape_of(value.type)

    def dims(self, value: ir.Value) -> list[int]:
        """Return the dimensions of a value that are padded."""
        content = self.contents.get(value, ())
        return [dim for dim, size in enumerate(content) if size != shape_of(value.type)[dim]]

    def keep(self, value: ir.Value, content: Content) -> None:
        """Note the shape of a value without padding."""
        if content != shape_of(value.type):
            self.contents[value] = content

    def grows(self, size: Number) -> bool | None:
        """Whether a size is largest for the capacities; None if that isn't known."""
        found: set[bool | None] = set()
        for monomial, count in size_of(size).terms:
            of_atoms = {self._grows(atom) for atom, _ in monomial}
            if count < 0:
                of_atoms = {None} if {None, False} & of_atoms else {not of_atoms}
            found |= of_atoms
        return False if False in found else None if None in found else True

    def _grows(self, atom: Atom) -> bool | None:
        if isinstance(atom, Quotient):
            return self.grows(atom.size) if atom.function == "floordiv" else False
        return None if atom in self.sizes.scalars else True

    def mask(self, operation: ir.Operation, mask: PaddingMask) -> None:
        """Overwrite the padding of an operand."""
        content = self.content(operation.operands[mask.operand])
        overwrite(operation, mask, self.contents, (), self.builder)
        self.keep(operation.operands[mask.operand], content)

    def scalars(self, numbers: Iterable[Number]) -> list[ir.Value]:
        """Build sizes as scalars."""
        scalar = ir.RankedTensorType.get([], ir.IntegerType.get_signless(32))
        return [self.builder.number(scalar, each) for each in numbers]

    def from_starts(self, value: ir.Value, starts: Iterable[Number], like: ir.Value) -> ir.Value:
        """Build what a value has from given starts on, padded to the type of another one."""
        shape, numbers = shape_of(like.type), list(map(number_of, starts))
        margins = [0 if each == 0 else n for each, n in zip(numbers, shape, strict=True)]
        builder = self.builder.sharded(get_sharding(like))
        wide = builder.pad(value, self.builder.scalar(value, 0), [0] * len(shape), margins)
        return builder.dynamic_slice(wide, self.scalars(numbers), shape)

    def places(self, count: int, *sizes: Sequence[Number]) -> ir.Value:
        """Build where elements are before a reshape, for all after it, as positions in rows.

        Args:
            count: the number of elements.
            sizes: those of the result with and without padding, and of the operand without and with
                it.
        """
        integer = ir.IntegerType.get_signless(32 if count < 2**31 else 64)
        builder = StablehloBuilder()
        total = builder.iota(ir.RankedTensorType.get([count], integer), 0)
        scalar, ones = with_shape(total.type, ()), builder.splat(total.type, 1)
        for divisors, factors in (sizes[:2], sizes[2:]):
            digits: list[tuple[ir.Value, ir.Value]] = []
            for divisor, factor in reversed([*zip(divisors, factors, strict=True)][1:]):
                by, times = (
                    builder.broadcast_in_dim(self.builder.number(scalar, each), [count])
                    for each in (divisor, factor)
                )
                by = builder.binary("maximum", by, ones)  # sizes may be 0
                digits.append((builder.binary("remainder", total, by), times))
                total = builder.binary("divide", total, by)
            for digit, times in reversed(digits):
                total = builder.binary("add", builder.binary("multiply", total, times), digit)
        return total

    def refuse(self, operation: ir.Operation, value: ir.Value, dim: int) -> NoReturn:
        """Raise the `CapacityError` of an operation whose result would depend on padding."""
        size = number_of(self.content(value)[dim])
        is_shown = isinstance(size, Size) and size.symbols <= {*self.symbols}
        message = (
            f"'{operation.name}' op can't be computed on padding: dimension {dim} of an operand of "
            f"type {value.type} may have a smaller size{f', {size}' if is_shown else ''}"
        )
        raise self.error(operation, message)

    def error(self, operation: ir.Operation, message: str) -> CapacityError:
        """Return the error of an operation that can't be in a program for capacities."""
        advice = f"leave {' and '.join(self.symbols)} out of 'buckets'"
        return CapacityError(error(f"{message}; {advice}", location_of(operation.location)))


Fitted: TypeAlias = "Collection[Place] | None"

Fit: TypeAlias = Callable[[Contents, ir.Operation, Vectors], Fitted]


def _for_all_sizes(vectors: Vectors, static: Sequence[Sequence[int]]) -> list[Sequence[Any]]:
    """Return numbers that attributes have for capacities, for all sizes; None if unknown."""
    pairs = zip(static, vectors, strict=True) if vectors else ()
    return [each or [None] * len(numbers) for numbers, each in pairs] or list(static)


def _fit_reshape(known: Contents, operation: ir.Operation, _: Vectors) -> Fitted:
    """Fit a reshape: where other dimensions than the first of a group are padded, rows are moved.

        %1 = reshape %0 : tensor<4x8xf32> -> tensor<32xf32>

    of content `2x5` takes element 8 of its operand as element 5.
    """
    value, result = operation.operands[0], operation.results[0]
    padded, before, after = known.dims(value), shape_of(value.type), shape_of(result.type)
    if not padded:
        return []
    old, new = known.content(value), known.content(result)
    if math.prod(old) != math.prod(new):
        known.refuse(operation, value, padded[0])
    groups = list(reshape_groups(before, after))
    if any(math.prod(old[i] for i in a) != math.prod(new[i] for i in b) for a, b in groups):
        groups = [(range(len(before)), range(len(after)))]
    moved: set[int] = set()
    for at, group in enumerate(groups):
        for each, shape, dims in zip((value, result), (before, after), group, strict=True):
            first = next((d for d in dims if shape[d] > 1 or d in known.dims(each)), None)
            if ({*dims} - {first}) & {*known.dims(each)}:
                moved.add(at)
    if moved:
        operation.operands[0] = _moved_rows(known, operation, groups, moved)
    return [(0, dim) for dim in range(len(shape_of(operation.operands[0].type)))]


def _moved_rows(
    known: Contents,
    operation: ir.Operation,
    groups: Sequence[tuple[range, range]],
    moved: Collection[int],
) -> ir.Value:
    """Build the operand of a reshape with a dimension for each group, its rows where they go.

    Args:
        known: the contents of values.
        operation: the reshape.
        groups: the dimensions of the operand and of the result that have the same elements.
        moved: the groups whose rows move, which shards don't have alone.
    """
    value, result = operation.operands[0], operation.results[0]
    before, after = shape_of(value.type), shape_of(result.type)
    old, new, sharding = known.content(value), known.content(result), get_sharding(value)
    if sharding is not None:
        axes = [
            sharding.dim_axes[dims[0]] if len(dims) == 1 and at not in moved else ()
            for at, (dims, _) in enumerate(groups)
        ]
        sharding = TensorSharding.from_axes(sharding.mesh_or_ref, axes)
    builder = known.builder.sharded(sharding)
    shape = [math.prod(before[i] for i in dims) for dims, _ in groups]
    rows = builder.reshape(value, shape)
    for at in sorted(moved):
        a, b = groups[at]
        sizes = [[each[i] for i in dims] for dims, each in ((b, after), (b, new), (a, old))]
        places = known.places(shape[at], *sizes, [before[i] for i in a])
        others = [dim for dim in range(len(groups)) if dim != at]
        numbers = ir.Attribute.parse(
            f"#stablehlo.gather<offset_dims = {others}, collapsed_slice_dims = [{at}], "
            f"start_index_map = [{at}], index_vector_dim = 1>"
        )
        lengths = [1 if dim == at else size for dim, size in enumerate(shape)]
        rows = builder.gather(rows, places, numbers, lengths, shape)
    return rows


def _fit_ends(known: Contents, operation: ir.Operation, vectors: Vectors) -> Fitted:
    """Fit a slice, or a pad, which its record masks: only the end of a dimension is cut or moved.

    The numbers are starts, ends and strides, or the padding before, behind and between elements.
    """
    value, is_slice = operation.operands[0], operation.name == "stablehlo.slice"
    slice_, padded = SliceView(operation), known.dims(value)
    static = (
        (slice_.start_indices, slice_.limit_indices, slice_.strides)
        if is_slice
        else PadView(operation).amounts
    )
    first, end, step = _for_all_sizes(vectors, static)
    names = known.scalars_of.keys()
    is_known = None not in first and all(size_of(each).symbols <= names for each in first)
    if is_known and [*first] != [*static[0]] and {*step} == {1 if is_slice else 0}:
        return _fit_moving_slice(known, operation, first)
    for dim in range(len(end)):
        if end[dim] is None or (first[dim], step[dim]) != (static[0][dim], static[2][dim]):
            known.refuse(operation, value, dim)
        is_number = isinstance(number_of(end[dim]), int)
        known.needs_check |= is_slice and dim in padded and is_number
    return [(0, dim) for dim in padded]


def _fit_moving_slice(known: Contents, operation: ir.Operation, starts: Sequence[Number]) -> None:
    """Replace a slice whose start depends on symbols, by one that ends in padding at most.

    A pad is a slice of its operand in wide padding, which begins before the operand.
    """
    value, result, known.needs_check = operation.operands[0], operation.results[0], True
    if operation.name == "stablehlo.pad":
        known.mask(operation, PaddingMask(0, known.dims(value), operation.operands[1]))
        value, wide = operation.operands[0], shape_of(result.type)
        builder = known.builder.sharded(get_sharding(result))
        value = builder.pad(value, operation.operands[1], wide, wide)
        numbers = [number - start for number, start in zip(wide, starts, strict=True)]
        moved = builder.dynamic_slice(value, known.scalars(numbers), wide)
    else:
        moved = known.from_starts(value, starts, result)
    known.keep(moved, known.content(result))
    result.replace_all_uses_with(moved)
    operation.erase()


def _fit_concatenate(known: Contents, operation: ir.Operation, _: Vectors) -> Fitted:
    """Fit a concatenation of padded operands, each of which overwrites the padding before it."""
    dim, result = ConcatenateView(operation).dimension, operation.results[0]
    if not any(dim in known.dims(value) for value in operation.operands):
        return ()
    start: Number = 0
    builder = known.builder.sharded(get_sharding(result))
    joined = builder.splat(result.type, 0)
    for value in operation.operands:
        at = known.scalars(start if d == dim else 0 for d in range(len(known.content(value))))
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
    neutrals = neutral_values(operation)
    if neutrals is None:
        known.refuse(operation, value, last)
    known.needs_check = True
    known.mask(operation, PaddingMask(0, [last], neutrals[0]))
    return [(0, last)]


def _fit_windows(known: Contents, operation: ir.Operation, vectors: Vectors) -> Fitted:
    """Fit a reduction of windows: padding becomes the initial value, as beyond the ends.

    Windows that grow with the dimension are those of a cumulative reduction.
    """
    count, value = len(operation.results), operation.operands[0]
    names = combining_operations(operation.regions[0].blocks[0])
    are_neutral = all(map(is_neutral, list(operation.operands)[count:], names or ()))
    static = window_numbers(operation)
    *given, edges = _for_all_sizes(vectors, static)
    fitted: list[Place] = []
    for dim, (length, *steps) in enumerate(zip(*given, strict=True)):
        (low, high), size = edges[2 * dim : 2 * dim + 2], known.content(value)[dim]
        fixed = [each[dim] for each in static[:-1]], static[-1][2 * dim]
        is_cumulative = are_neutral and steps == [1, 1, 1] and dim in known.dims(value)
        is_cumulative &= (length, low, high) in ((size, size - 1, 0), (size, 0, size - 1))
        if high is None or (([length, *steps], low) != fixed and not is_cumulative):
            known.refuse(operation, value, dim)
        if dim in known.dims(value) and (length, *steps, low, high) != (1, 1, 1, 1, 0, 0):
            for index in range(count):
                known.mask(operation, PaddingMask(index, [dim], operation.operands[count + index]))
                fitted.append((index, dim))
    return fitted


def _fit_convolution(known: Contents, operation: ir.Operation, vectors: Vectors) -> Fitted:
    """Fit a convolution along padded dimensions, whose padding becomes zero."""
    value, fitted = operation.operands[0], list[Place]()
    for at, each in enumerate(spatial_dims(operation)):
        dim = each.dims[0]
        if vectors and (vectors[0] is None or vectors[0][2 * at] != each.low):
            known.refuse(operation, value, dim)
        if dim in known.dims(value):
            known.mask(operation, PaddingMask(0, [dim], 0))
            fitted.append((0, dim))
    return fitted


def _fit_starts(known: Contents, operation: ir.Operation, _: Vectors) -> Fitted:
    """Fit a slice that begins anywhere, or its update, whose start its record clamps."""
    value, is_update = operation.operands[0], operation.name == "stablehlo.dynamic_update_slice"
    taken = operation.operands[1] if is_update else operation.results[0]
    contents, fitted = (known.content(value), known.content(taken)), list[Place]()
    if is_update and known.dims(taken) and contents[0] != contents[1]:
        return _fit_update(known, operation)
    for dim, (size, length) in enumerate(zip(*contents, strict=True)):
        if size == length:
            continue  # it begins at 0, for all sizes
        if not known.grows(size - length):
            known.refuse(operation, taken if is_update else value, dim)
        if dim in known.dims(value):
            known.needs_check |= length != 1
            fitted.append((0, dim))
    return fitted


def _fit_update(known: Contents, operation: ir.Operation) -> None:
    """Replace a padded update, whose padding becomes what it would overwrite."""
    value, update, *starts = operation.operands
    result, full, shape = operation.results[0], shape_of(value.type), shape_of(update.type)
    contents = zip(known.content(value), known.content(update), strict=True)
    margins = [shape[dim] if dim in known.dims(update) else 0 for dim in range(len(full))]
    builder, known.needs_check = known.builder.sharded(get_sharding(result)), True
    wide = builder.pad(value, known.builder.scalar(value, 0), [0] * len(full), margins)
    for at, (size, length) in enumerate(contents):
        start = starts[at]
        low, high = (known.builder.number(start.type, n) for n in (0, size - length))
        starts[at] = StablehloBuilder().clamp(low, start, high)
    part = known.builder.sharded(get_sharding(update))
    flags = with_element(update.type, ir.IntegerType.get_signless(1))
    outside = StablehloBuilder().splat(with_shape(flags, ()), 0)
    sizes, dims = known.content(update), known.dims(update)
    inside = known.builder.masked(part.splat(flags, 1), sizes, dims, outside)
    merged = part.select(inside, update, part.dynamic_slice(wide, starts, shape))
    written = builder.dynamic_update_slice(wide, merged, starts)
    updated = builder.slice_prefix(written, full)
    known.keep(updated, known.content(result))
    result.replace_all_uses_with(updated)
    operation.erase()


def _fit_gather(known: Contents, operation: ir.Operation, vectors: Vectors) -> Fitted:
    """Fit a gather of slices whose sizes depend on symbols, or that take a part of a dimension.

    A slice isn't moved back from the end of a dimension if it begins at a number before it.
    """
    value, indices, *_ = operation.operands
    view, fitted = GatherView(operation), list[Place]()
    numbers, (given,) = view.dimension_numbers, _for_all_sizes(vectors, [view.slice_sizes])
    indexed: list[int] = list(numbers.start_index_map)
    is_last = numbers.index_vector_dim >= len(shape_of(indices.type)) - 1
    read = known.sizes.read(indices) if is_last else None
    for dim, (size, length) in enumerate(zip(given, view.slice_sizes, strict=True)):
        content, full = known.content(value)[dim], shape_of(value.type)[dim]
        is_moved = dim in indexed and not read
        if dim in indexed and read:
            ends = [
                known.sizes.bounds(each)[1] for each in read[indexed.index(dim) :: len(indexed)]
            ]
            is_moved = any(each is None or each > full - length for each in ends)
        if size is None or (size != length and is_moved and not known.grows(content - size)):
            known.refuse(operation, value, dim)
        is_whole = length == full and (size == content or not vectors)
        is_batch = dim in numbers.operand_batching_dims
        if dim in known.dims(value) and not is_whole and not is_batch:
            fitted.append((0, dim))
            known.needs_check |= length > 1
    return fitted


def _fit_reverse(known: Contents, operation: ir.Operation, _: Vectors) -> Fitted:
    """Fit a reversal: content that it moves to the end is moved back to the beginning."""
    value, result = operation.operands[0], operation.results[0]
    dims = {*ReverseView(operation).dimensions} & {*known.dims(value)}
    if not dims:
        return ()
    shape, content = shape_of(result.type), known.content(value)
    pairs = enumerate(zip(shape, content, strict=True))
    with ir.InsertionPoint.after(operation):
        starts = [full - size if dim in dims else 0 for dim, (full, size) in pairs]
        back = known.from_starts(result, starts, result)
    result.replace_all_uses_except(back, back.owner.operation.operands[0].owner.operation)
    known.keep(back, content)
    return None


def _fit_scatter(known: Contents, operation: ir.Operation, _: Vectors) -> Fitted:
    """Fit a scatter: updates in padding have indices that are out of bounds, and are skipped.

    Padding of windows becomes neutral, so that it changes nothing, or is written to padding.
    """
    count, value = len(operation.results), operation.operands[0]
    numbers = ScatterView(operation).scatter_dimension_numbers
    indices, update = operation.operands[count], operation.operands[count + 1]
    updates, neutrals = range(count + 1, 2 * count + 1), neutral_values(operation) or {}
    fitted: set[Place] = set()
    indexed: list[int] = list(numbers.scattered_dims_to_operand_dims)
    starts = dict(zip(indexed, known.sizes.read(indices) or (), strict=False))
    starts = starts if shape_of(indices.type) == (len(indexed),) else {}
    for dim, window in window_dims(operation).items():
        missing = known.content(value)[dim] - known.content(update)[window]
        left = shape_of(value.type)[dim] - shape_of(update.type)[window]
        if left == 0 or window not in known.dims(update):
            continue
        if missing != left or (len(neutrals) != count and starts.get(dim) != left):
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
    "stablehlo.dynamic_slice": _fit_starts,
    "stablehlo.dynamic_update_slice": _fit_starts,
    "stablehlo.gather": _fit_gather,
    "stablehlo.pad": _fit_ends,
    "stablehlo.reduce_window": _fit_windows,
    "stablehlo.reshape": _fit_reshape,
    "stablehlo.reverse": _fit_reverse,
    "stablehlo.scatter": _fit_scatter,
    "stablehlo.slice": _fit_ends,
    "stablehlo.sort": _fit_sort,
}
