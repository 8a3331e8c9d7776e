# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Expressions on tensors that build StableHLO, as NumPy's read.

    total = where(iota(4) < 2, weights @ x, 0)

Each operation is built at the current insertion point and location. Operands of an operator are
broadcast to each other as NumPy does, and a Python number is a constant of the other's type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mlir_sdy.host import ir
from pyshardy.irtools import tensor_types
from pyshardy.irtools.stablehlo_builder import StablehloBuilder
from pyshardy.local_program.tensor_spec import Array

Number = int | float

_BUILD = StablehloBuilder()


@dataclass(frozen=True, slots=True, eq=False)
class Tensor:
    """A value of a ranked tensor type of static shape.

    Attributes:
        value: the value.
    """

    value: ir.Value

    @property
    def type(self) -> ir.RankedTensorType:
        """The type of the value."""
        return ir.RankedTensorType(self.value.type)

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the dimensions."""
        return tuple(self.type.shape)

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def element(self) -> ir.Type:
        """The type of the elements."""
        return self.type.element_type

    @property
    def is_complex(self) -> bool:
        """Whether the elements are complex numbers."""
        return isinstance(self.element, ir.ComplexType)

    # --- Arithmetic -------------------------------------------------------------------------

    def __add__(self, other: Tensor | Number) -> Tensor:
        return _elementwise("add", self, other)

    def __sub__(self, other: Tensor | Number) -> Tensor:
        return _elementwise("subtract", self, other)

    def __mul__(self, other: Tensor | Number) -> Tensor:
        return _elementwise("multiply", self, other)

    def __truediv__(self, other: Tensor | Number) -> Tensor:
        return _elementwise("divide", self, other)

    def __and__(self, other: Tensor | Number) -> Tensor:
        return _elementwise("and", self, other)

    def __or__(self, other: Tensor | Number) -> Tensor:
        return _elementwise("or", self, other)

    def __invert__(self) -> Tensor:
        return Tensor(_BUILD.unary("not", self.value))

    def __lt__(self, other: Tensor | Number) -> Tensor:
        return _compare("LT", self, other)

    def __le__(self, other: Tensor | Number) -> Tensor:
        return _compare("LE", self, other)

    def __gt__(self, other: Tensor | Number) -> Tensor:
        return _compare("GT", self, other)

    def __ge__(self, other: Tensor | Number) -> Tensor:
        return _compare("GE", self, other)

    def equals(self, other: Tensor | Number) -> Tensor:
        """The elementwise comparison for equality."""
        return _compare("EQ", self, other)

    def __matmul__(self, other: Tensor) -> Tensor:
        """The matrix product; dimensions before the last two are those of batches."""
        batch = range(self.rank - 2)
        dims = ", ".join(map(str, batch))
        numbers = ir.Attribute.parse(
            f"#stablehlo.dot<lhs_batching_dimensions = [{dims}], "
            f"rhs_batching_dimensions = [{dims}], "
            f"lhs_contracting_dimensions = [{self.rank - 1}], "
            f"rhs_contracting_dimensions = [{self.rank - 2}]>"
        )
        result = self.with_shape((*self.shape[:-1], other.shape[-1]))
        return create("dot_general", (self, other), result, {"dot_dimension_numbers": numbers})

    def sqrt(self) -> Tensor:
        """The square roots."""
        return Tensor(_BUILD.unary("sqrt", self.value))

    @property
    def real(self) -> Tensor:
        """The real parts."""
        return self._part("real")

    @property
    def imag(self) -> Tensor:
        """The imaginary parts."""
        return self._part("imag")

    def _part(self, name: str) -> Tensor:
        return Tensor(_BUILD.part(name, self.value))

    def conjugate(self) -> Tensor:
        """The complex conjugates; real numbers as they are."""
        if not self.is_complex:
            return self
        return complex_of(self.real, Tensor(_BUILD.unary("negate", self.imag.value)))

    def to(self, element: ir.Type) -> Tensor:
        """The elements as those of another type."""
        return Tensor(_BUILD.convert(self.value, element))

    def sum(self, axes: Sequence[int]) -> Tensor:
        """The sums along some axes."""
        initial = constant(0, self.element)
        return Tensor(_BUILD.reduce(self.value, initial.value, axes, "stablehlo.add"))

    # --- Shapes -----------------------------------------------------------------------------

    def with_shape(self, shape: Sequence[int]) -> ir.RankedTensorType:
        """The type of a tensor of another shape with the same elements."""
        return tensor_types.with_shape(self.type, shape)

    def with_element(self, element: ir.Type) -> ir.RankedTensorType:
        """The type of a tensor of the same shape with other elements."""
        return tensor_types.with_element(self.type, element)

    def reshape(self, *shape: int) -> Tensor:
        """The elements in another shape."""
        if self.shape == shape:
            return self
        return Tensor(_BUILD.reshape(self.value, shape))

    def transpose(self, *permutation: int) -> Tensor:
        """The dimensions in another order."""
        if permutation == tuple(range(self.rank)):
            return self
        return Tensor(_BUILD.transpose(self.value, permutation))

    def swap_last(self) -> Tensor:
        """The last two dimensions exchanged: matrices transposed."""
        *batch, rows, columns = range(self.rank)
        return self.transpose(*batch, columns, rows)

    def broadcast(self, *shape: int) -> Tensor:
        """The tensor broadcast to a shape, whose last dimensions are those of the tensor."""
        dims = range(len(shape) - self.rank, len(shape))
        return self.broadcast_in_dim(shape, dims)

    def broadcast_in_dim(self, shape: Sequence[int], dims: Sequence[int]) -> Tensor:
        """The tensor broadcast to a shape, of which `dims` are the dimensions of the tensor."""
        return Tensor(_BUILD.broadcast_in_dim(self.value, shape, dims))

    def reverse(self, axis: int) -> Tensor:
        """The elements in reverse order along an axis."""
        return Tensor(_BUILD.reverse(self.value, [axis % self.rank]))

    def pad(self, low: Sequence[int], high: Sequence[int], fill: Tensor | Number = 0) -> Tensor:
        """The tensor padded at the low and high ends."""
        if not any((*low, *high)):
            return self
        filler = fill if isinstance(fill, Tensor) else constant(fill, self.element)
        return Tensor(_BUILD.pad(self.value, filler.value, low, high))

    # --- Parts ------------------------------------------------------------------------------

    def slice(
        self, starts: Sequence[int], limits: Sequence[int], strides: Sequence[int] | None = None
    ) -> Tensor:
        """The elements from `starts` up to, but without, `limits`."""
        steps = strides or [1] * self.rank
        bounds = list(zip(starts, limits, steps, strict=True))
        if bounds == [(0, size, 1) for size in self.shape]:
            return self
        return Tensor(_BUILD.slice(self.value, starts, limits, steps))

    def along(self, axis: int, start: int, limit: int) -> Tensor:
        """The elements from `start` up to `limit` along an axis."""
        starts, limits = [0] * self.rank, list(self.shape)
        starts[axis], limits[axis] = start, limit
        return self.slice(starts, limits)

    def window(self, starts: Sequence[Tensor], sizes: Sequence[int]) -> Tensor:
        """The window of some sizes that begins at scalars."""
        return Tensor(_BUILD.dynamic_slice(self.value, [each.value for each in starts], sizes))

    def updated(self, window: Tensor, starts: Sequence[Tensor]) -> Tensor:
        """The tensor with a window overwritten that begins at scalars."""
        begins = [each.value for each in starts]
        return Tensor(_BUILD.dynamic_update_slice(self.value, window.value, begins))

    def at(self, axis: int, index: Tensor) -> Tensor:
        """The slice at an index along an axis, which is kept with size 1."""
        sizes = list(self.shape)
        sizes[axis] = 1
        return self.window(self._starts(axis, index), sizes)

    def put(self, axis: int, index: Tensor, part: Tensor) -> Tensor:
        """The tensor with `part` at an index along an axis, whose size in `part` is 1."""
        return self.updated(part, self._starts(axis, index))

    def _starts(self, axis: int, index: Tensor) -> list[Tensor]:
        starts = [constant(0, index.element)] * self.rank
        starts[axis] = index
        return starts

    def take(self, axis: int, indices: Tensor) -> Tensor:
        """The slices at the indices of a vector along an axis."""
        kept = ", ".join(str(dim) for dim in range(self.rank) if dim != axis)
        numbers = ir.Attribute.parse(
            f"#stablehlo.gather<offset_dims = [{kept}], collapsed_slice_dims = [{axis}], "
            f"start_index_map = [{axis}], index_vector_dim = 1>"
        )
        sizes, shape = list(self.shape), list(self.shape)
        sizes[axis], shape[axis] = 1, indices.shape[0]
        return Tensor(_BUILD.gather(self.value, indices.value, numbers, sizes, shape))


# --- Making tensors -------------------------------------------------------------------------


def create(
    name: str,
    operands: Sequence[Tensor],
    result: ir.Type,
    attributes: Mapping[str, ir.Attribute] | None = None,
) -> Tensor:
    """The result of the StableHLO operation of a name."""
    values = [operand.value for operand in operands]
    return Tensor(_BUILD.create(f"stablehlo.{name}", values, (result,), attributes).result)


def integers(values: Sequence[int]) -> ir.Attribute:
    """An array attribute."""
    return ir.DenseI64ArrayAttr.get(list(values))


def index_type() -> ir.Type:
    """The type of the indices that this module builds."""
    return ir.IntegerType.get_signless(64)


def boolean() -> ir.Type:
    """The type of booleans."""
    return ir.IntegerType.get_signless(1)


def constant(number: Number, element: ir.Type, shape: Sequence[int] = ()) -> Tensor:
    """A constant that is filled with a number."""
    result = ir.RankedTensorType.get(list(shape), element)
    if isinstance(element, ir.ComplexType):
        return complex_of(
            constant(number, element.element_type, shape), constant(0, element.element_type, shape)
        )
    literal = ir.FloatAttr.get(element, number) if isinstance(element, ir.FloatType) else None
    if literal is None:
        literal = ir.IntegerAttr.get(element, int(number))
    return Tensor(_BUILD.literal(ir.DenseElementsAttr.get_splat(result, literal)))


def array(values: Array) -> Tensor:
    """The values of an array, of an element type that NumPy has too."""
    data = np.ascontiguousarray(values)
    signless = data.dtype.kind != "u"
    return Tensor(_BUILD.literal(ir.DenseElementsAttr.get(data, signless=signless)))


def iota(size: int) -> Tensor:
    """The indices below `size`."""
    return Tensor(_BUILD.iota(ir.RankedTensorType.get([size], index_type()), 0))


def complex_of(real: Tensor, imag: Tensor) -> Tensor:
    """Complex numbers of real and imaginary parts."""
    return Tensor(_BUILD.complex(real.value, imag.value))


def where(condition: Tensor, yes: Tensor | Number, no: Tensor | Number) -> Tensor:
    """Elements of `yes` where the condition holds, and of `no` elsewhere."""
    typed = yes if isinstance(yes, Tensor) else no
    assert isinstance(typed, Tensor)
    left, right = _operands(yes, typed)[0], _operands(no, typed)[0]
    shape = np.broadcast_shapes(condition.shape, left.shape, right.shape)
    parts = [operand.broadcast(*shape).value for operand in (condition, left, right)]
    return Tensor(_BUILD.select(*parts))


def concatenate(parts: Sequence[Tensor], axis: int) -> Tensor:
    """Tensors in a row along an axis."""
    values = [part.value for part in parts]
    return Tensor(_BUILD.concatenate(values, axis % parts[0].rank))


def _operands(operand: Tensor | Number, like: Tensor) -> tuple[Tensor]:
    return (operand if isinstance(operand, Tensor) else constant(operand, like.element),)


def _broadcast(left: Tensor, other: Tensor | Number) -> tuple[Tensor, Tensor]:
    (right,) = _operands(other, left)
    shape = np.broadcast_shapes(left.shape, right.shape)
    return left.broadcast(*shape), right.broadcast(*shape)


def _elementwise(name: str, left: Tensor, other: Tensor | Number) -> Tensor:
    lhs, rhs = _broadcast(left, other)
    return Tensor(_BUILD.binary(name, lhs.value, rhs.value))


def _compare(direction: str, left: Tensor, other: Tensor | Number) -> Tensor:
    lhs, rhs = _broadcast(left, other)
    return Tensor(_BUILD.compare(direction, lhs.value, rhs.value))


# --- Control flow and bodies ----------------------------------------------------------------


def loop(
    trips: int, state: Sequence[Tensor], body: Callable[..., Sequence[Tensor]]
) -> list[Tensor]:
    """Build a loop and return its final state.

    Args:
        trips: the number of iterations.
        state: the initial state.
        body: takes the iteration number, a scalar, and the state, and returns the next state.
    """
    start = (constant(0, index_type()), *state)
    types = [tensor.type for tensor in start]
    values = [tensor.value for tensor in start]
    operation = _BUILD.create("stablehlo.while", values, types, regions=2)
    places = [ir.Location.current] * len(types)
    blocks = [region.blocks.append(*types, arg_locs=places) for region in operation.regions]
    with ir.InsertionPoint(blocks[0]):
        _return([Tensor(blocks[0].arguments[0]) < trips])
    with ir.InsertionPoint(blocks[1]):
        index, *before = map(Tensor, blocks[1].arguments)
        _return([index + 1, *body(index, *before)])
    return [Tensor(result) for result in operation.results][1:]


def _return(values: Sequence[Tensor]) -> None:
    _BUILD.return_values([tensor.value for tensor in values])


def mapped(body: ir.Region, operands: Sequence[Tensor], result: int = 0) -> Tensor:
    """Apply a region on scalars to the elements of tensors of one shape.

    Args:
        body: the region, which is copied.
        operands: for each of its arguments a tensor.
        result: the index of the returned value to take.
    """
    owner = body.owner.operation
    (position,) = (at for at, region in enumerate(owner.regions) if region == body)
    copy = owner.clone(ip=False).operation
    block = copy.regions[position].blocks[0]
    terminator = block.operations[len(block.operations) - 1].operation
    returned = terminator.operands[result]
    with ir.InsertionPoint(terminator):
        _return([Tensor(returned)])
    terminator.erase()
    element = ir.RankedTensorType(returned.type).element_type
    operation = _BUILD.create(
        "stablehlo.map",
        [operand.value for operand in operands],
        [operands[0].with_element(element)],
        {"dimensions": integers(range(operands[0].rank))},
        regions=1,
    )
    block.append_to(operation.regions[0])
    return Tensor(operation.result)
