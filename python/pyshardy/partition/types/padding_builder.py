# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that add padding, slice it off, and overwrite it."""

from __future__ import annotations

from collections.abc import Iterable

from mlir_sdy.attributes import AttributeCache
from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import Shape, TensorSharding, TensorShardingPerValue
from mlir_sdy.values import SHARDING, get_sharding
from pyshardy.irtools.stablehlo_builder import StablehloBuilder, splat_literal
from pyshardy.irtools.tensor_types import shape_of, with_element, with_shape


class PaddingBuilder:
    """Builds operations at the insertion point, with the shardings of their operands."""

    def __init__(self, cache: AttributeCache):
        self.cache = cache

    def sharded(self, sharding: TensorSharding | None) -> StablehloBuilder:
        """Return a builder of operations whose only result has a sharding."""
        if sharding is None:
            return StablehloBuilder()
        return StablehloBuilder({SHARDING: self.cache[TensorShardingPerValue((sharding,))]})

    def resized(self, value: ir.Value, shape: Shape) -> ir.Value:
        """Build a value padded with zeros, or sliced, at the end of its dimensions."""
        builder = self.sharded(get_sharding(value))
        value = builder.slice_prefix(value, list(map(min, shape_of(value.type), shape)))
        missing = [wanted - size for size, wanted in zip(shape_of(value.type), shape, strict=True)]
        if not any(missing):
            return value
        return builder.pad(value, self.scalar(value, 0), [0] * len(shape), missing)

    def masked(
        self, value: ir.Value, sizes: Shape, dims: Iterable[int], neutral: ir.Value
    ) -> ir.Value:
        """Build a padded value with a scalar at positions beyond `sizes` in some dimensions."""
        builder = self.sharded(get_sharding(value))
        shape = shape_of(value.type)
        integers = with_element(value.type, ir.IntegerType.get_signless(32))
        is_content: ir.Value | None = None
        for dim in dims:
            position = builder.iota(integers, dim)
            limit = self.sharded(None).splat(with_shape(integers, ()), sizes[dim])
            within = builder.compare("LT", position, builder.broadcast_in_dim(limit, shape))
            if is_content is not None:
                within = builder.binary("and", is_content, within)
            is_content = within
        if is_content is None:
            return value
        fill = builder.broadcast_in_dim(neutral, shape)
        return builder.select(is_content, value, fill)

    def scalar(self, like: ir.Value, number: int) -> ir.Value:
        """Build a constant with the element type of a tensor.

        Raises:
            PassError: the type has no such constants.
        """
        try:
            literal = splat_literal(with_shape(like.type, ()), number)
        except ir.MLIRError:
            place = location_of(ir.Location.current)
            raise PassError(
                error(
                    f"cannot pad {like.type}: its element type has no zero constant; constrain it "
                    "to a sharding that divides its dimensions",
                    place,
                )
            ) from None
        return StablehloBuilder().literal(literal)
