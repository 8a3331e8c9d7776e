# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations on shards for local forms: selections by device, neutral elements, and indices.

An index counts along several dimensions of a tensor, its *components*. An index tensor holds the
components of an index along one of its dimensions, or has one component and no such dimension.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import AxisRef, Mesh, shard_index
from pyshardy.irtools.tensor_types import element_type_of, shape_of
from pyshardy.partition.op_facts.record import Conversion
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


# --- Local forms that many operations share -------------------------------------------------------


def retype_only(operation: ir.Operation, builder: LocalBuilder) -> None:
    """Leave an operation that is valid on shards as it is: only its types change."""


def fit_only(fit_sizes: Callable[[ir.Operation], None]) -> Conversion:
    """Return the local form of operations that are valid on shards once their sizes fit."""

    @functools.wraps(fit_sizes)
    def convert(operation: ir.Operation, _: LocalBuilder) -> None:
        fit_sizes(operation)

    return convert


# --- Indices into shards --------------------------------------------------------------------------


_MAX_I32 = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Component:
    """One component of the indices.

    Attributes:
        axes: the axes that shard the dimension; none if global and local indices are equal.
        shard_size: the size of the dimension on a device.
        least: the lower bound; all smaller indices have the same effect.
        greatest: the upper bound; all greater indices have the same effect.
    """

    axes: tuple[AxisRef, ...]
    shard_size: int
    least: int | None
    greatest: int


@dataclass(frozen=True, slots=True)
class Indices:
    """An index tensor on a device.

    Attributes:
        value: the tensor.
        vector_dim: the dimension that holds components; the rank if there is none.
    """

    value: ir.Value
    vector_dim: int

    def bounds(self, builder: LocalBuilder, numbers: Sequence[int]) -> ir.Value:
        """Build a tensor with a number for each component, as a bound of a clamp."""
        element_type = element_type_of(self.value.type)
        if len({*numbers}) == 1:
            return _constant(builder, str(numbers[0]), ir.RankedTensorType.get([], element_type))
        vector = ir.RankedTensorType.get([len(numbers)], element_type)
        return self.spread(builder, _constant(builder, str(list(numbers)), vector))

    def spread(self, builder: LocalBuilder, vector: ir.Value) -> ir.Value:
        """Broadcast a vector with a number for each component to all indices."""
        shape = ir.RankedTensorType(self.value.type).shape
        return builder.broadcast_in_dim(vector, shape, [self.vector_dim])


def indices_into_shard(
    indices: Indices,
    components: Sequence[Component],
    mesh: Mesh,
    builder: LocalBuilder,
    width: Literal[32, 64] = 32,
) -> Indices:
    """Build indices relative to the device's shard; out of bounds for other shards.

    1. Indices are clamped to their bounds, so that nothing overflows.
    2. They are converted to an integer type that holds all of these and negative ones.
    3. The offset of the shard is subtracted.

    Args:
        indices: indices into global tensors, of any integer type.
        components: the components of an index.
        mesh: the mesh of the axes.
        builder: builds the operations.
        width: the least number of bits of the integer type.
    """
    element_type = ir.IntegerType(element_type_of(indices.value.type))
    least, greatest = _range_of(element_type)
    low, high = (
        indices.bounds(builder, numbers)
        for numbers in (
            [
                least if part.least is None else min(max(part.least, least), greatest)
                for part in components
            ],
            [min(part.greatest, greatest) for part in components],
        )
    )
    value = builder.clamp(low, indices.value, high)
    is_small = max(part.greatest for part in components) < _MAX_I32
    fits = is_small and (element_type.is_unsigned or element_type.width <= 32)
    signed = ir.IntegerType.get_signless(width if fits else 64)
    cut = Indices(builder.convert(value, signed), indices.vector_dim)
    if not any(part.axes for part in components):
        return cut
    if len(components) == 1:
        (part,) = components
        offset = builder.convert(builder.offset(mesh, part.axes, part.shard_size), signed)
        offsets = builder.broadcast_in_dim(offset, ir.RankedTensorType(value.type).shape)
    else:
        offset = builder.convert(_offsets(components, mesh, builder), signed)
        offsets = cut.spread(builder, offset)
    return Indices(builder.binary("subtract", cut.value, offsets), indices.vector_dim)


def _offsets(components: Sequence[Component], mesh: Mesh, builder: LocalBuilder) -> ir.Value:
    """Build the start of the device's shard, a vector with a number for each component."""
    rows = [
        [shard_index(mesh, device, part.axes) * part.shard_size for part in components]
        for device in range(mesh.total_size)
    ]
    table, starts = np.array(rows, np.int64), [builder.device_id(), builder.index(0)]

    def build() -> ir.Value:
        row = builder.dynamic_slice(builder.constant(table), starts, [1, len(components)])
        return builder.reshape(row, [len(components)])

    return builder.once_in_block((len(components), table.tobytes()), build)


def _range_of(integer: ir.IntegerType) -> tuple[int, int]:
    if integer.is_unsigned:
        return 0, 2**integer.width - 1
    return -(2 ** (integer.width - 1)), 2 ** (integer.width - 1) - 1


def _constant(builder: LocalBuilder, numbers: str, tensor: ir.Type) -> ir.Value:
    def build() -> ir.Value:
        return builder.literal(ir.Attribute.parse(f"dense<{numbers}> : {tensor}"))

    return builder.once_in_block((numbers, tensor), build)
