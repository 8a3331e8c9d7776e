# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sorting, scatters that reduce, and images of other sizes."""

from __future__ import annotations

from collections.abc import Sequence

from mlir_sdy.host import ir
from mlir_sdy.late_numpy import np
from pyshardy.frontends.torch.lowerings.builder import (
    LoweringBuilder,
    highest,
    lowering,
    lowest,
)
from pyshardy.irtools.stablehlo_builder import i64_attribute
from pyshardy.irtools.tensor_types import element_type_of, shape_of, with_element


@lowering("aten.sort.default", "aten.sort.stable")
def sort(
    build: LoweringBuilder,
    value: ir.Value,
    dim: int = -1,
    descending: bool = False,
    *,
    stable: bool | None = None,
) -> Sequence[ir.Value]:
    """Sort along a dimension, and return the positions of the elements, too.

    The order is stable, and NaN is the largest number.
    """
    shape = shape_of(value.type)
    dim %= len(shape)
    positions = build.iota(build.result_types[1], dim)
    attributes = {"dimension": i64_attribute(dim), "is_stable": ir.BoolAttr.get(True)}
    types = [value.type, positions.type]
    operation = build.create("stablehlo.sort", (value, positions), types, attributes, regions=1)
    scalars = [ir.RankedTensorType.get([], element_type_of(each)) for each in types]
    elements = [scalar for scalar in scalars for _ in range(2)]
    locations = [ir.Location.current] * len(elements)
    with ir.InsertionPoint(
        operation.regions[0].blocks.append(*elements, arg_locs=locations)
    ) as point:
        first, second = point.block.arguments[:2]
        build.return_values([_precedes(build, first, second, descending)])
    return list(operation.results)


def _precedes(
    build: LoweringBuilder, first: ir.Value, second: ir.Value, descending: bool
) -> ir.Value:
    """Whether an element comes before another one."""
    if descending:
        first, second = second, first
    is_less = build.compare("LT", first, second)
    if isinstance(element_type_of(first.type), ir.IntegerType):
        return is_less
    is_nan, is_number = build.compare("NE", second, second), build.compare("EQ", first, first)
    return build.binary("or", is_less, build.binary("and", is_nan, is_number))


_OPERATIONS = {
    "sum": "add",
    "mean": "add",
    "prod": "multiply",
    "amax": "maximum",
    "amin": "minimum",
}


@lowering("aten.scatter_reduce.two")
def scatter_reduce(
    build: LoweringBuilder,
    value: ir.Value,
    dim: int,
    index: ir.Value,
    source: ir.Value,
    reduce: str,
    *,
    include_self: bool = True,
) -> ir.Value:
    """Reduce elements with those of another tensor."""
    shape = shape_of(index.type)
    source = build.slice_prefix(source, shape)
    dim %= max(len(shape), 1)
    if not shape:
        value, index, source = (build.reshape(each, [1]) for each in (value, index, source))
    positions = _positions(build, index, dim)
    name = f"stablehlo.{_OPERATIONS[reduce]}"
    ones = build.filled_like(source, 1)
    initial = value
    if not include_self:
        element = element_type_of(value.type)
        neutral = {"prod": 1.0, "amax": lowest(element), "amin": highest(element)}.get(reduce, 0.0)
        integer = ir.IntegerType.get_signless(32)
        hits = build.filled(with_element(value.type, integer), 0)
        hits = _scatter(build, hits, positions, build.convert(ones, integer), "stablehlo.add")
        is_hit = build.compare("GT", hits, build.filled_like(hits, 0))
        initial = build.select(is_hit, build.filled_like(value, neutral), value)
    result = _scatter(build, initial, positions, source, name)
    if reduce == "mean":
        count = build.filled_like(value, 1 if include_self else 0)
        count = _scatter(build, count, positions, ones, "stablehlo.add")
        count = build.binary("maximum", count, build.filled_like(count, 1))
        result = _divided(build, result, count)
    return result if shape else build.reshape(result, [])


def _divided(build: LoweringBuilder, total: ir.Value, count: ir.Value) -> ir.Value:
    """Divide, and round integers down."""
    quotient = build.binary("divide", total, count)
    if not isinstance(element_type_of(total.type), ir.IntegerType):
        return quotient
    rest = build.binary("remainder", total, count)
    zero = build.filled_like(total, 0)
    less = build.binary("subtract", quotient, build.filled_like(total, 1))
    return build.select(build.compare("LT", rest, zero), less, quotient)


def _positions(build: LoweringBuilder, index: ir.Value, dim: int) -> ir.Value:
    """Return the position in all dimensions of each element, along a new last dimension."""
    shape = shape_of(index.type)
    columns = [index if each == dim else build.iota(index.type, each) for each in range(len(shape))]
    return build.concatenate([build.reshape(column, [*shape, 1]) for column in columns], len(shape))


def _scatter(
    build: LoweringBuilder,
    value: ir.Value,
    positions: ir.Value,
    updates: ir.Value,
    operation: str,
) -> ir.Value:
    rank = len(shape_of(value.type))
    dims = list(range(rank))
    numbers = (
        f"inserted_window_dims = {dims}, scatter_dims_to_operand_dims = {dims}, "
        f"index_vector_dim = {rank}"
    )
    attributes = {"scatter_dimension_numbers": ir.Attribute.parse(f"#stablehlo.scatter<{numbers}>")}
    operands = value, positions, updates
    output = build.create("stablehlo.scatter", operands, [value.type], attributes, regions=1)
    build.fill_body(output.regions[0], element_type_of(value.type), operation)
    return output.result


@lowering(
    "aten.upsample_nearest1d.vec", "aten.upsample_nearest2d.vec", "aten.upsample_nearest3d.vec"
)
def upsample_nearest(
    build: LoweringBuilder,
    value: ir.Value,
    output_size: Sequence[int] | None,
    scale_factors: Sequence[float] | None,
) -> ir.Value:
    """Return for each element of the result the element of the operand at its relative position.

    1. Along a dimension whose elements are all repeated equally often, the operand is broadcast and
       reshaped, so that the dimension can stay sharded.
    2. Other dimensions are gathered.
    """
    sizes, results = (shape_of(each)[2:] for each in (value.type, build.result_types[0]))
    for index, (size, result) in enumerate(zip(sizes, results, strict=True)):
        factor = scale_factors[index] if scale_factors else None
        positions = _nearest(size, result, factor)
        if result % size == 0 and positions == [each // (result // size) for each in range(result)]:
            value = _repeated(build, value, index + 2, result // size)
        else:
            value = _taken(build, value, index + 2, positions)
    return value


def _nearest(size: int, result: int, factor: float | None) -> list[int]:
    """Return the position in the operand of each element, computed with 32 bits as by PyTorch."""
    scale = np.float32(size / result if factor is None else 1 / factor)
    positions = np.floor(np.arange(result, dtype=np.float32) * scale).astype(int)
    return np.minimum(positions, size - 1).tolist()


def _repeated(build: LoweringBuilder, value: ir.Value, dim: int, count: int) -> ir.Value:
    """Repeat each element of a dimension."""
    if count == 1:
        return value
    shape = shape_of(value.type)
    kept = [each for each in range(len(shape) + 1) if each != dim + 1]
    wide = build.broadcast_in_dim(value, [*shape[: dim + 1], count, *shape[dim + 1 :]], kept)
    return build.reshape(wide, [*shape[:dim], shape[dim] * count, *shape[dim + 1 :]])


def _taken(build: LoweringBuilder, value: ir.Value, dim: int, positions: Sequence[int]) -> ir.Value:
    """Return the elements of a dimension at some positions."""
    shape = list(shape_of(value.type))
    others = [each for each in range(len(shape)) if each != dim]
    numbers = (
        f"offset_dims = {others}, collapsed_slice_dims = [{dim}], start_index_map = [{dim}], "
        "index_vector_dim = 1"
    )
    indices = build.constant(np.array(positions, np.int64))
    slice_sizes = [1 if each == dim else size for each, size in enumerate(shape)]
    shape[dim] = len(positions)
    attribute = ir.Attribute.parse(f"#stablehlo.gather<{numbers}>")
    return build.gather(value, indices, attribute, slice_sizes, shape)
