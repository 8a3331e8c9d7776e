# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scatters that reduce."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.frontends.torch.lowerings.builder import (
    LoweringBuilder,
    highest,
    lowering,
    lowest,
)
from pyshardy.irtools.tensor_types import element_type_of, shape_of, with_element

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
    made = _scatter(build, initial, positions, source, name)
    if reduce == "mean":
        count = build.filled_like(value, 1 if include_self else 0)
        count = _scatter(build, count, positions, ones, "stablehlo.add")
        count = build.binary("maximum", count, build.filled_like(count, 1))
        made = _divided(build, made, count)
    return made if shape else build.reshape(made, [])


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
    made = build.create("stablehlo.scatter", operands, [value.type], attributes, regions=1)
    build.fill_body(made.regions[0], element_type_of(value.type), operation)
    return made.result
