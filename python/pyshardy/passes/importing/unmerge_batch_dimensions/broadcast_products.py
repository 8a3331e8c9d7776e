# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Batched products with an operand that is the same for the whole batch."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from mlir_sdy.host import ir, stablehlo
from mlir_sdy.model import Shape
from mlir_sdy.uses import is_used
from pyshardy.irtools.constants import filled, splat_of
from pyshardy.irtools.stablehlo_builder import StablehloBuilder
from pyshardy.irtools.stablehlo_views import BroadcastView, DotView, TransposeView
from pyshardy.irtools.tensor_types import shape_of, with_shape
from pyshardy.irtools.walks import operations_named
from pyshardy.passes.importing.unmerge_batch_dimensions.linked_dimensions import (
    ELEMENTWISE_NAMES,
    has_fixed_dims,
)
from pyshardy.passes.importing.unmerge_batch_dimensions.splits import element_ranges

Label = tuple[str, int]
"""A dimension of a product: its role, and its index among those of the role."""


def unbatch_broadcast_operands(function: ir.Operation) -> None:
    """Remove the batch dimensions of products along which an operand is the same.

    `x: 8x6x4, w: 4x5 -> 8x4x5, dot_general(x, w) -> 8x6x5` with the batch dimension 8 becomes the
    product of `x` and `w` itself, of which 8 and 6 are free dimensions.
    """
    for product in operations_named({"stablehlo.dot_general"}, function):
        if not has_fixed_dims(product):
            _unbatch(product)


def _unbatch(product: ir.Operation) -> None:
    numbers = DotView(product).dot_dimension_numbers
    lhs, rhs = (
        _Operand.of(product.operands[0], numbers.lhs_batching_dimensions,
                    numbers.lhs_contracting_dimensions, "lhs"),
        _Operand.of(product.operands[1], numbers.rhs_batching_dimensions,
                    numbers.rhs_contracting_dimensions, "rhs"),
    )  # fmt: skip
    if not lhs.equal and not rhs.equal:
        return
    kept = [
        index
        for index in range(len(lhs.batch))
        if index not in lhs.equal and index not in rhs.equal
    ]
    old = [("batch", index) for index in range(len(lhs.batch))]
    old += [*lhs.free_labels(old), *rhs.free_labels(old)]
    kept_labels = [("batch", index) for index in kept]
    new = [*kept_labels, *lhs.free_labels(kept_labels), *rhs.free_labels(kept_labels)]
    shape = shape_of(product.results[0].type)
    sizes = dict(zip(old, shape, strict=True))
    builder = StablehloBuilder()
    with product.location, ir.InsertionPoint(product):
        attributes = dict(product.attributes.items())
        attributes[DotView.dot_dimension_numbers.name] = stablehlo.DotDimensionNumbers.get(
            lhs.renumbered(lhs.batch[index] for index in kept),
            rhs.renumbered(rhs.batch[index] for index in kept),
            lhs.renumbered(lhs.contracted),
            rhs.renumbered(rhs.contracted),
        )
        operands = [without_dims(each.value, each.dropped) for each in (lhs, rhs)]
        result = with_shape(product.results[0].type, [sizes[label] for label in new])
        value = builder.create(product.name, operands, (result,), attributes).result
        ordered = [label for label in old if label in new]
        if ordered != new:
            value = builder.transpose(value, [new.index(label) for label in ordered])
        value = builder.broadcast_in_dim(value, shape, [old.index(label) for label in ordered])
    product.results[0].replace_all_uses_with(value)
    sources = dict.fromkeys([*_sources(lhs.value), *_sources(rhs.value)])
    product.erase()
    _erase_unused(sources)


@dataclass(frozen=True, slots=True)
class _Operand:
    """An operand of a product.

    Attributes:
        value: the operand.
        batch: its batch dimensions.
        contracted: its contracted dimensions.
        role: the role of its free dimensions in labels.
        equal: the indices of the batch dimensions along which its values are equal.
    """

    value: ir.Value
    batch: tuple[int, ...]
    contracted: tuple[int, ...]
    role: str
    equal: tuple[int, ...]

    @classmethod
    def of(
        cls, value: ir.Value, batch: Iterable[int], contracted: Iterable[int], role: str
    ) -> _Operand:
        dims = tuple(batch)
        shape = shape_of(value.type)
        equal = [
            index for index, dim in enumerate(dims) if shape[dim] > 1 and is_equal_along(value, dim)
        ]
        return cls(value, dims, tuple(contracted), role, tuple(equal))

    @property
    def dropped(self) -> list[int]:
        """The dimensions that are dropped."""
        return [self.batch[index] for index in self.equal]

    def renumbered(self, dims: Iterable[int]) -> list[int]:
        """Return dimensions by their numbers after others are dropped."""
        return [dim - sum(dropped < dim for dropped in self.dropped) for dim in dims]

    def free_labels(self, batch: Collection[Label]) -> list[Label]:
        """Return the labels of the free dimensions, in order, if some are batch dimensions."""
        labels: list[Label] = []
        for dim in range(len(shape_of(self.value.type))):
            label = ("batch", self.batch.index(dim)) if dim in self.batch else (self.role, dim)
            is_dropped = dim in self.dropped and label not in batch
            if dim not in self.contracted and label not in batch and not is_dropped:
                labels.append(label)
        return labels


# --- Values that are equal along a dimension ----------------------------------------------------


def is_equal_along(value: ir.Value, dim: int) -> bool:
    """Whether the elements of a value differ only in their positions in other dimensions.

    1. The dimension was added or expanded by a `broadcast_in_dim`, or the value is a splat.
    2. It was, before a transpose, a reshape that keeps it or merges only such dimensions, or an
       elementwise operation with one operand.
    """
    if isinstance(value, ir.BlockArgument) or has_fixed_dims(value.owner.operation):
        return False
    if splat_of(value) is not None:
        return True
    operation = value.owner.operation
    if operation.name == "stablehlo.broadcast_in_dim":
        source = _source_of_broadcast(operation, dim)
        return source is None or is_equal_along(operation.operands[0], source)
    before = _dims_before(operation, dim)
    return bool(before) and all(is_equal_along(operation.operands[0], each) for each in before)


def without_dims(value: ir.Value, dims: Collection[int]) -> ir.Value:
    """Build a value without dimensions along which it is equal; see `is_equal_along`."""
    if not dims:
        return value
    operation = value.owner.operation
    builder = StablehloBuilder()
    left = [dim for dim in range(len(shape_of(value.type))) if dim not in dims]
    shape = [shape_of(value.type)[dim] for dim in left]
    result = with_shape(value.type, shape)
    splat = splat_of(value)
    if splat is not None:
        return builder.literal(filled(result, splat))
    if operation.name == "stablehlo.broadcast_in_dim":
        return _broadcast_without(operation, dims, left, shape)
    dropped = [before for dim in dims for before in _dims_before(operation, dim)]
    operand = without_dims(operation.operands[0], dropped)
    if operation.name == "stablehlo.transpose":
        order = [dim for dim in TransposeView(operation).permutation if dim not in dropped]
        return builder.transpose(operand, [sorted(order).index(dim) for dim in order])
    if operation.name == "stablehlo.reshape":
        return builder.reshape(operand, shape)
    return builder.create(
        operation.name, (operand,), (result,), dict(operation.attributes.items())
    ).result


def _broadcast_without(
    operation: ir.Operation, dims: Collection[int], left: list[int], shape: list[int]
) -> ir.Value:
    builder = StablehloBuilder()
    operand = operation.operands[0]
    mapped = BroadcastView(operation).broadcast_dimensions
    dropped = [
        source for dim in dims if (source := _source_of_broadcast(operation, dim)) is not None
    ]
    kept = [each for each in range(len(mapped)) if mapped[each] not in dims]
    sizes = [shape_of(operand.type)[each] for each in kept]
    value = without_dims(operand, dropped)
    if shape_of(value.type) != tuple(sizes):
        value = builder.reshape(value, sizes)  # without expanded dimensions of size 1
    return builder.broadcast_in_dim(value, shape, [left.index(mapped[each]) for each in kept])


def _source_of_broadcast(operation: ir.Operation, dim: int) -> int | None:
    """Return the dimension of the operand that a dimension of the result copies, or None."""
    mapped = BroadcastView(operation).broadcast_dimensions
    if dim not in mapped:
        return None
    source = mapped.index(dim)
    before, after = (
        shape_of(value.type) for value in (operation.operands[0], operation.results[0])
    )
    return source if before[source] == after[dim] else None


def _dims_before(operation: ir.Operation, dim: int) -> list[int]:
    """Return the dimensions of an operand that become a dimension; none if it isn't known."""
    if operation.name == "stablehlo.transpose":
        return [TransposeView(operation).permutation[dim]]
    if operation.name == "stablehlo.reshape":
        before, after = (
            shape_of(value.type) for value in (operation.operands[0], operation.results[0])
        )
        return _dims_within(before, *element_ranges(after)[dim])
    is_unary = operation.name in ELEMENTWISE_NAMES and len(operation.operands) == 1
    return [dim] if is_unary else []


def _dims_within(shape: Shape, start: int, end: int) -> list[int]:
    """Return the dimensions that make up a range of elements; none if there are no such."""
    ranges = element_ranges(shape)
    within = [dim for dim, (first, last) in enumerate(ranges) if start <= first < last <= end]
    if not within or ranges[within[0]][0] != start or ranges[within[-1]][1] != end:
        return []
    return within


def _sources(value: ir.Value) -> Iterator[ir.Operation]:
    """Yield the operations that a value with equal elements comes from, the last one first."""
    while not isinstance(value, ir.BlockArgument):
        operation = value.owner.operation
        if operation.name not in _SHAPES and operation.name not in ELEMENTWISE_NAMES:
            return
        yield operation
        if len(operation.operands) != 1:
            return
        value = operation.operands[0]


def _erase_unused(operations: Iterable[ir.Operation]) -> None:
    """Erase operations without uses, and the operations that only they used."""
    left, before = list(operations), -1
    while len(left) != before:
        before = len(left)
        left = [operation for operation in left if not _erase_if_unused(operation)]


def _erase_if_unused(operation: ir.Operation) -> bool:
    if is_used(operation.results[0]):
        return False
    operation.erase()
    return True


_SHAPES = {
    "stablehlo.broadcast_in_dim",
    "stablehlo.constant",
    "stablehlo.reshape",
    "stablehlo.transpose",
}
"""The operations that `without_dims` rebuilds, besides elementwise ones."""
