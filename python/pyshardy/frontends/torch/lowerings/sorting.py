# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sorting, which is stable and has NaN as the largest number."""

from __future__ import annotations

from collections.abc import Sequence

from mlir_sdy.host import ir
from pyshardy.frontends.torch.lowerings.builder import LoweringBuilder, lowering
from pyshardy.irtools.stablehlo_builder import i64_attribute
from pyshardy.irtools.tensor_types import element_type_of, shape_of


@lowering("aten.sort.default")
def sort(
    build: LoweringBuilder, value: ir.Value, dim: int = -1, descending: bool = False
) -> Sequence[ir.Value]:
    """Sort along a dimension, and return the positions of the elements, too."""
    return _sort(build, value, dim, descending)


@lowering("aten.sort.stable")
def stable_sort(
    build: LoweringBuilder,
    value: ir.Value,
    *,
    stable: bool | None = None,
    dim: int = -1,
    descending: bool = False,
) -> Sequence[ir.Value]:
    """Sort as `sort` does."""
    return _sort(build, value, dim, descending)


def _sort(
    build: LoweringBuilder, value: ir.Value, dim: int, descending: bool
) -> Sequence[ir.Value]:
    shape = shape_of(value.type)
    dim %= len(shape)
    positions = build.iota(build.result_types[1], dim)
    attributes = {"dimension": i64_attribute(dim), "is_stable": ir.BoolAttr.get(True)}
    types = [value.type, positions.type]
    made = build.create("stablehlo.sort", (value, positions), types, attributes, regions=1)
    scalars = [ir.RankedTensorType.get([], element_type_of(each)) for each in types]
    elements = [scalar for scalar in scalars for _ in range(2)]
    locations = [ir.Location.current] * len(elements)
    with ir.InsertionPoint(made.regions[0].blocks.append(*elements, arg_locs=locations)) as point:
        first, second = point.block.arguments[:2]
        build.return_values([_precedes(build, first, second, descending)])
    return list(made.results)


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
