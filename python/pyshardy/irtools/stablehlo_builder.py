# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The builder of StableHLO operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlir_sdy.host import ir
from mlir_sdy.late_numpy import np
from pyshardy.irtools.tensor_types import element_type_of, shape_of, with_element, with_shape


class StablehloBuilder:
    """Builds operations at the current insertion point and location.

    The types of results follow from the operands; attributes are plain numbers. No operation is
    built where the result would be the operand: see the methods.

    Args:
        attributes: discardable attributes that each operation gets, such as shardings.
    """

    def __init__(self, attributes: Mapping[str, ir.Attribute] | None = None):
        self._attributes = attributes or {}

    def create(
        self,
        name: str,
        operands: Sequence[ir.Value],
        results: Sequence[ir.Type],
        attributes: Mapping[str, ir.Attribute] | None = None,
        *,
        regions: int = 0,
    ) -> ir.Operation:
        """Build an operation that has no method here, by its name."""
        return ir.Operation.create(
            name,
            results=list(results),
            operands=list(operands),
            attributes={**(attributes or {}), **self._attributes},
            regions=regions,
        )

    # --- Constants --------------------------------------------------------------------------

    def literal(self, elements: ir.Attribute, tensor: ir.Type | None = None) -> ir.Value:
        """Build a constant of a `DenseElementsAttr`.

        Args:
            elements: the elements.
            tensor: the type of the constant, if its elements are quantized.
        """
        result = elements.type if tensor is None else tensor
        return self.create("stablehlo.constant", (), (result,), {"value": elements}).result

    def constant(self, values: np.ndarray) -> ir.Value:
        """Build a constant with the values of an array."""
        return self.literal(ir.DenseElementsAttr.get(values))

    def index(self, value: int) -> ir.Value:
        """Build a scalar constant of type i64."""
        return self.constant(np.array(value, np.int64))

    def splat(self, tensor: ir.Type, number: int) -> ir.Value:
        """Build a constant of a type that is filled with a number.

        Raises:
            ir.MLIRError: the element type has no such constant.
        """
        return self.literal(splat_literal(tensor, number))

    def empty(self, tensor: ir.Type) -> ir.Value:
        """Build a constant of a type that has dimensions of size 0."""
        return self.literal(ir.Attribute.parse(f"dense<> : {tensor}"))

    def iota(self, tensor: ir.Type, dim: int) -> ir.Value:
        """Build the positions along a dimension."""
        attributes = {"iota_dimension": i64_attribute(dim)}
        return self.create("stablehlo.iota", (), (tensor,), attributes).result

    # --- Elementwise operations -------------------------------------------------------------

    def unary(self, name: str, value: ir.Value) -> ir.Value:
        """Build an operation on a tensor of the type of its result, such as `negate`."""
        return self.create(f"stablehlo.{name}", (value,), (value.type,)).result

    def binary(self, name: str, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        """Build an operation on two tensors of the type of its result, such as `add`."""
        return self.create(f"stablehlo.{name}", (lhs, rhs), (lhs.type,)).result

    def compare(self, direction: str, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        """Build a comparison of the elements of two tensors, such as `LT`."""
        text = f"#stablehlo<comparison_direction {direction}>"
        attributes = {"comparison_direction": ir.Attribute.parse(text)}
        flags = with_element(lhs.type, ir.IntegerType.get_signless(1))
        return self.create("stablehlo.compare", (lhs, rhs), (flags,), attributes).result

    def clamp(self, low: ir.Value, value: ir.Value, high: ir.Value) -> ir.Value:
        """Build a clamp of the elements to bounds, which may be scalars."""
        return self.create("stablehlo.clamp", (low, value, high), (value.type,)).result

    def select(self, predicate: ir.Value, yes: ir.Value, no: ir.Value) -> ir.Value:
        """Build a selection of the elements of two tensors; the predicate may be a scalar."""
        return self.create("stablehlo.select", (predicate, yes, no), (yes.type,)).result

    def convert(self, value: ir.Value, element_type: ir.Type) -> ir.Value:
        """Build a conversion of the elements, unless they have the type."""
        if element_type_of(value.type) == element_type:
            return value
        result = with_element(value.type, element_type)
        return self.create("stablehlo.convert", (value,), (result,)).result

    def bitcast_convert(self, value: ir.Value, element_type: ir.Type) -> ir.Value:
        """Build a reinterpretation of the elements as another type of the same width."""
        result = with_element(value.type, element_type)
        return self.create("stablehlo.bitcast_convert", (value,), (result,)).result

    def part(self, name: str, value: ir.Value) -> ir.Value:
        """Build the `real` or `imag` part of complex numbers."""
        element = ir.ComplexType(element_type_of(value.type)).element_type
        return self.create(
            f"stablehlo.{name}", (value,), (with_element(value.type, element),)
        ).result

    def complex(self, real: ir.Value, imag: ir.Value) -> ir.Value:
        """Build complex numbers from their parts."""
        result = with_element(real.type, ir.ComplexType.get(element_type_of(real.type)))
        return self.create("stablehlo.complex", (real, imag), (result,)).result

    # --- Shapes -----------------------------------------------------------------------------

    def broadcast_in_dim(
        self, value: ir.Value, shape: Sequence[int], dims: Sequence[int] = ()
    ) -> ir.Value:
        """Build a broadcast, unless it changes nothing.

        Args:
            value: the tensor.
            shape: the shape of the result.
            dims: the dimension of the result for each dimension of the tensor.
        """
        if shape_of(value.type) == tuple(shape) and list(dims) == list(range(len(dims))):
            return value
        attributes = {"broadcast_dimensions": ir.DenseI64ArrayAttr.get(list(dims))}
        result = with_shape(value.type, shape)
        return self.create("stablehlo.broadcast_in_dim", (value,), (result,), attributes).result

    def reshape(self, value: ir.Value, shape: Sequence[int]) -> ir.Value:
        """Build a reshape."""
        return self.create("stablehlo.reshape", (value,), (with_shape(value.type, shape),)).result

    def transpose(self, value: ir.Value, permutation: Sequence[int]) -> ir.Value:
        """Build a transpose: dimension `i` of the result is `permutation[i]` of the operand."""
        sizes = shape_of(value.type)
        result = with_shape(value.type, [sizes[dim] for dim in permutation])
        attributes = {"permutation": ir.DenseI64ArrayAttr.get(list(permutation))}
        return self.create("stablehlo.transpose", (value,), (result,), attributes).result

    def reverse(self, value: ir.Value, dims: Sequence[int]) -> ir.Value:
        """Build a reversal of the order along some dimensions."""
        attributes = {"dimensions": ir.DenseI64ArrayAttr.get(list(dims))}
        return self.create("stablehlo.reverse", (value,), (value.type,), attributes).result

    def concatenate(self, values: Sequence[ir.Value], dim: int) -> ir.Value:
        """Build the concatenation of tensors along a dimension, unless there is only one."""
        if len(values) == 1:
            return values[0]
        shape = list(shape_of(values[0].type))
        shape[dim] = sum(shape_of(value.type)[dim] for value in values)
        attributes = {"dimension": i64_attribute(dim)}
        result = with_shape(values[0].type, shape)
        return self.create("stablehlo.concatenate", values, (result,), attributes).result

    def pad(
        self,
        value: ir.Value,
        scalar: ir.Value,
        low: Sequence[int],
        high: Sequence[int],
        interior: Sequence[int] | None = None,
    ) -> ir.Value:
        """Build a tensor padded with a scalar, in each dimension before, after and between."""
        sizes = shape_of(value.type)
        between = interior or [0] * len(sizes)
        shape = [
            before + size + max(size - 1, 0) * inner + after
            for before, size, inner, after in zip(low, sizes, between, high, strict=True)
        ]
        amounts = {"edge_padding_low": low, "edge_padding_high": high, "interior_padding": between}
        attributes = _arrays(amounts)
        result = with_shape(value.type, shape)
        return self.create("stablehlo.pad", (value, scalar), (result,), attributes).result

    # --- Slices -----------------------------------------------------------------------------

    def slice(
        self,
        value: ir.Value,
        starts: Sequence[int],
        limits: Sequence[int],
        strides: Sequence[int] | None = None,
    ) -> ir.Value:
        """Build a slice from `starts` to `limits`, exclusive."""
        steps = strides or [1] * len(starts)
        shape = [
            max(0, -(-(limit - start) // step))
            for start, limit, step in zip(starts, limits, steps, strict=True)
        ]
        bounds = {"start_indices": starts, "limit_indices": limits, "strides": steps}
        attributes = _arrays(bounds)
        result = with_shape(value.type, shape)
        return self.create("stablehlo.slice", (value,), (result,), attributes).result

    def slice_prefix(self, value: ir.Value, shape: Sequence[int]) -> ir.Value:
        """Build a slice of the beginning of each dimension, unless it is the whole tensor."""
        if shape_of(value.type) == tuple(shape):
            return value
        return self.slice(value, [0] * len(shape), shape)

    def slice_dim(self, value: ir.Value, dim: int, start: int, size: int) -> ir.Value:
        """Build a slice of one dimension."""
        limits = list(shape_of(value.type))
        starts = [0] * len(limits)
        starts[dim], limits[dim] = start, start + size
        return self.slice(value, starts, limits)

    def dynamic_slice(
        self, value: ir.Value, starts: Sequence[ir.Value], sizes: Sequence[int]
    ) -> ir.Value:
        """Build a slice that begins at scalars."""
        attributes = {"slice_sizes": ir.DenseI64ArrayAttr.get(list(sizes))}
        result = with_shape(value.type, sizes)
        name = "stablehlo.dynamic_slice"
        return self.create(name, (value, *starts), (result,), attributes).result

    def dynamic_update_slice(
        self, value: ir.Value, update: ir.Value, starts: Sequence[ir.Value]
    ) -> ir.Value:
        """Build a tensor with a slice, which begins at scalars, overwritten."""
        name = "stablehlo.dynamic_update_slice"
        return self.create(name, (value, update, *starts), (value.type,)).result

    def gather(
        self,
        value: ir.Value,
        indices: ir.Value,
        dimension_numbers: ir.Attribute,
        slice_sizes: Sequence[int],
        shape: Sequence[int],
        *,
        indices_are_sorted: bool | None = None,
    ) -> ir.Value:
        """Build a gather of slices of a tensor, with a result of a shape."""
        attributes: dict[str, ir.Attribute] = {
            "dimension_numbers": dimension_numbers,
            "slice_sizes": ir.DenseI64ArrayAttr.get(list(slice_sizes)),
        }
        if indices_are_sorted is not None:
            attributes["indices_are_sorted"] = ir.BoolAttr.get(indices_are_sorted)
        result = with_shape(value.type, shape)
        return self.create("stablehlo.gather", (value, indices), (result,), attributes).result

    # --- Reductions and control -------------------------------------------------------------

    def reduce(
        self, value: ir.Value, initial: ir.Value, dims: Sequence[int], operation: str
    ) -> ir.Value:
        """Build a reduction along some dimensions by an operation such as `stablehlo.add`."""
        sizes = enumerate(shape_of(value.type))
        result = with_shape(value.type, [size for dim, size in sizes if dim not in dims])
        attributes = {"dimensions": ir.DenseI64ArrayAttr.get(list(dims))}
        name = "stablehlo.reduce"
        reduced = self.create(name, (value, initial), (result,), attributes, regions=1)
        self.fill_body(reduced.regions[0], result.element_type, operation)
        return reduced.result

    def fill_body(self, region: ir.Region, element_type: ir.Type, operation: str) -> None:
        """Fill the body of a reduction: one operation on two scalars."""
        scalar = ir.RankedTensorType.get([], element_type)
        location = ir.Location.current
        block = region.blocks.append(scalar, scalar, arg_locs=[location, location])
        with ir.InsertionPoint(block):
            result = self.create(operation, list(block.arguments), (scalar,)).result
            self.return_values([result])

    def return_values(self, values: Sequence[ir.Value]) -> None:
        """Build the terminator of a region."""
        self.create("stablehlo.return", values, ())

    def optimization_barrier(self, values: Sequence[ir.Value]) -> list[ir.Value]:
        """Build a barrier after values, so that they aren't merged with their definitions."""
        types = [value.type for value in values]
        return list(self.create("stablehlo.optimization_barrier", values, types).results)

    def custom_call(
        self,
        target: str,
        operands: Sequence[ir.Value],
        results: Sequence[ir.Type],
        attributes: Mapping[str, ir.Attribute] | None = None,
    ) -> ir.Operation:
        """Build a custom call."""
        given = {"call_target_name": ir.StringAttr.get(target), **(attributes or {})}
        return self.create("stablehlo.custom_call", operands, results, given)

    def token(self) -> ir.Value:
        """Build a token that waits for nothing."""
        token_type = ir.Type.parse("!stablehlo.token")
        return self.create("stablehlo.after_all", (), (token_type,)).result


def splat_literal(tensor: ir.Type, number: int) -> ir.DenseElementsAttr:
    """Return the elements of a constant that is filled with a number.

    Raises:
        ir.MLIRError: the element type has no such constant.
    """
    text = _element_text(element_type_of(tensor), number)
    return ir.DenseElementsAttr(ir.Attribute.parse(f"dense<{text}> : {tensor}", tensor.context))


def integer_literal(tensor: ir.Type, numbers: Sequence[int]) -> ir.DenseElementsAttr:
    """Return the elements of a constant of integers, in the order of rows."""
    if len({*numbers}) <= 1:
        return splat_literal(tensor, numbers[0] if numbers else 0)
    element = element_type_of(tensor)
    attributes = [ir.IntegerAttr.get(element, each) for each in numbers]
    return ir.DenseElementsAttr.get(attributes, type=tensor)


def _element_text(element_type: ir.Type, number: int) -> str:
    if isinstance(element_type, ir.ComplexType):
        part = element_type.element_type
        return f"({_element_text(part, number)}, {_element_text(part, 0)})"
    if isinstance(element_type, ir.IntegerType):
        return str(number) if element_type.width > 1 else str(bool(number)).lower()
    return f"{number}.0"


def _arrays(values: Mapping[str, Sequence[int]]) -> dict[str, ir.Attribute]:
    return {name: ir.DenseI64ArrayAttr.get(list(each)) for name, each in values.items()}


def i64_attribute(number: int) -> ir.Attribute:
    """Return an integer attribute of type i64."""
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)
