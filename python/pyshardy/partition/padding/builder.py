# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that add padding, slice it off, and overwrite it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from mlir_sdy.attributes import AttributeCache
from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import TensorSharding, TensorShardingPerValue
from mlir_sdy.values import SHARDING, get_sharding
from pyshardy.irtools.tensor_types import Shape, shape_of, with_shape

_LESS = "#stablehlo<comparison_direction LT>"


class PaddingBuilder:
    """Builds operations at the insertion point, with the shardings of their operands."""

    def __init__(self, cache: AttributeCache):
        self.cache = cache

    def resized(self, value: ir.Value, shape: Shape) -> ir.Value:
        """Build a value padded with zeros, or sliced, at the end of its dimensions."""
        sharding = get_sharding(value)
        sizes = shape_of(value.type)
        if any(size > wanted for size, wanted in zip(sizes, shape, strict=True)):
            limits = list(map(min, sizes, shape))
            bounds = {
                "start_indices": [0] * len(sizes),
                "limit_indices": limits,
                "strides": [1] * len(sizes),
            }
            value = self.create(
                "stablehlo.slice",
                (value,),
                with_shape(value.type, limits),
                {name: ir.DenseI64ArrayAttr.get(at) for name, at in bounds.items()},
                sharding,
            )
        missing = [wanted - size for size, wanted in zip(shape_of(value.type), shape, strict=True)]
        if any(missing):
            none = ir.DenseI64ArrayAttr.get([0] * len(sizes))
            value = self.create(
                "stablehlo.pad",
                (value, self.scalar(value, 0)),
                with_shape(value.type, shape),
                {
                    "edge_padding_low": none,
                    "edge_padding_high": ir.DenseI64ArrayAttr.get(missing),
                    "interior_padding": none,
                },
                sharding,
            )
        return value

    def masked(
        self, value: ir.Value, sizes: Shape, dims: Iterable[int], neutral: ir.Value
    ) -> ir.Value:
        """Build a padded value with a scalar at positions beyond `sizes` in some dimensions."""
        sharding = get_sharding(value)
        shape = shape_of(value.type)
        integers = ir.RankedTensorType.get(list(shape), ir.IntegerType.get_signless(32))
        booleans = ir.RankedTensorType.get(list(shape), ir.IntegerType.get_signless(1))
        is_less = {"comparison_direction": ir.Attribute.parse(_LESS, value.context)}
        is_content: ir.Value | None = None
        for dim in dims:
            along = {"iota_dimension": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), dim)}
            position = self.create("stablehlo.iota", (), integers, along, sharding)
            end = ir.DenseElementsAttr.get_splat(
                integers, ir.IntegerAttr.get(integers.element_type, sizes[dim])
            )
            limit = self.create("stablehlo.constant", (), integers, {"value": end}, sharding)
            within = self.create(
                "stablehlo.compare", (position, limit), booleans, is_less, sharding
            )
            if is_content is not None:
                within = self.create("stablehlo.and", (is_content, within), booleans, {}, sharding)
            is_content = within
        if is_content is None:
            return value
        to_all = {"broadcast_dimensions": ir.DenseI64ArrayAttr.get([])}
        filling = self.create(
            "stablehlo.broadcast_in_dim", (neutral,), value.type, to_all, sharding
        )
        choice = (is_content, value, filling)
        return self.create("stablehlo.select", choice, value.type, {}, sharding)

    def scalar(self, like: ir.Value, number: int) -> ir.Value:
        """Build a constant with the element type of a tensor.

        Raises:
            PassError: the type has no such constants.
        """
        element_type = ir.RankedTensorType(like.type).element_type
        try:
            literal = ir.Attribute.parse(
                f"dense<{_literal(element_type, number)}> : tensor<{element_type}>", like.context
            )
        except ir.MLIRError:
            place = location_of(ir.Location.current)
            raise PassError(
                error(
                    f"cannot pad {like.type}: its element type has no zero constant; constrain it "
                    "to a sharding that divides its dimensions",
                    place,
                )
            ) from None
        return self.constant(ir.DenseElementsAttr(literal))

    def constant(self, literal: ir.DenseElementsAttr) -> ir.Value:
        """Build a replicated constant."""
        return self.create("stablehlo.constant", (), literal.type, {"value": literal}, None)

    def create(
        self,
        name: str,
        operands: Sequence[ir.Value],
        result: ir.Type,
        attributes: Mapping[str, ir.Attribute],
        sharding: TensorSharding | None,
    ) -> ir.Value:
        """Build an operation with one result, of a sharding."""
        given = dict(attributes)
        if sharding is not None:
            given[SHARDING] = self.cache[TensorShardingPerValue((sharding,))]
        return ir.Operation.create(
            name, results=[result], operands=list(operands), attributes=given
        ).result


def _literal(element_type: ir.Type, number: int) -> str:
    if isinstance(element_type, ir.ComplexType):
        return f"({_literal(element_type.element_type, number)}, 0.0)"
    if isinstance(element_type, ir.IntegerType):
        return str(number) if element_type.width > 1 else str(bool(number)).lower()
    return f"{number}.0"
