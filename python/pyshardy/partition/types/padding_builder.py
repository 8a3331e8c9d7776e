# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that add padding, slice it off, and overwrite it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from mlir_sdy.attributes import AttributeCache
from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import Shape, TensorSharding, TensorShardingPerValue
from mlir_sdy.values import SHARDING, get_sharding
from pyshardy.irtools.stablehlo_builder import StablehloBuilder, splat_literal
from pyshardy.irtools.tensor_types import element_type_of, shape_of, with_element, with_shape
from pyshardy.sizes.size import Number, Quotient, Size, number_of

Content: TypeAlias = tuple[Number, ...]
"""The shape of a tensor without its padding; sizes that are known at run time are expressions."""


class PaddingBuilder:
    """Builds operations at the insertion point, with the shardings of their operands.

    Args:
        cache: makes attributes.
        symbols: the values of the symbols in sizes, scalars of type i32.
    """

    def __init__(self, cache: AttributeCache, symbols: Mapping[str, ir.Value] | None = None):
        self.cache = cache
        self._symbols: Mapping[str, ir.Value] = {} if symbols is None else symbols

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
        self, value: ir.Value, sizes: Content, dims: Iterable[int], neutral: ir.Value
    ) -> ir.Value:
        """Build a padded value with a scalar at positions beyond `sizes` in some dimensions."""
        builder = self.sharded(get_sharding(value))
        shape = shape_of(value.type)
        integers = with_element(value.type, ir.IntegerType.get_signless(32))
        is_content: ir.Value | None = None
        for dim in dims:
            position = builder.iota(integers, dim)
            limit = self.number(with_shape(integers, ()), sizes[dim])
            within = builder.compare("LT", position, builder.broadcast_in_dim(limit, shape))
            if is_content is not None:
                within = builder.binary("and", is_content, within)
            is_content = within
        if is_content is None:
            return value
        fill = builder.broadcast_in_dim(neutral, shape)
        return builder.select(is_content, value, fill)

    def number(self, scalar: ir.Type, size: Number) -> ir.Value:
        """Build a size as a scalar of an integer type."""
        builder, size = self.sharded(None), number_of(size)
        if isinstance(size, int):
            return builder.splat(scalar, size)
        integer = ir.RankedTensorType.get([], ir.IntegerType.get_signless(32))
        return builder.convert(self._computed(size, integer), element_type_of(scalar))

    def _computed(self, size: Size, integer: ir.Type) -> ir.Value:
        builder = self.sharded(None)
        total: ir.Value | None = None
        for monomial, count in size.terms:
            term = builder.splat(integer, count) if count != 1 or not monomial else None
            for atom, power in monomial:
                factor = self._atom(atom, integer)
                for _ in range(power):
                    term = factor if term is None else builder.binary("multiply", term, factor)
            assert term is not None, "a term has a factor"
            total = term if total is None else builder.binary("add", total, term)
        return builder.splat(integer, 0) if total is None else total

    def _atom(self, atom: str | Quotient, integer: ir.Type) -> ir.Value:
        if isinstance(atom, str):
            return self._symbols[atom]
        builder = self.sharded(None)
        divisor = builder.splat(integer, atom.divisor)
        dividend = self._computed(atom.size, integer)
        rest = builder.binary("remainder", dividend, divisor)  # below 0 if the dividend is
        rest = builder.binary("remainder", builder.binary("add", rest, divisor), divisor)
        if atom.function == "mod":
            return rest
        return builder.binary("divide", builder.binary("subtract", dividend, rest), divisor)

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
