# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-explicit-gather-scatter-batching`: make implicit batch dimensions explicit.

An operation is changed if it satisfies:

1. There is no batch dimension of the operand yet; operand and indices have dimensions, and
   their first ones have the same size.
2. The index vectors are along another dimension than the first, of a size above 1. One of their
   components is the start of a slice in dimension 0 of the operand, where slices have size 1
   and are collapsed.
3. That component counts along dimension 0 of the indices: `_counts_along_first_dimension`.

Then the component is removed from the index vectors, and dimension 0 becomes a batch dimension
of operand and indices. Unused operations without effects are erased from the function.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from mlir_sdy.host import ir, rewrite, stablehlo
from mlir_sdy.uses import defining_operation, producer
from pyshardy.irtools.constants import splat_of
from pyshardy.irtools.stablehlo_builder import StablehloBuilder
from pyshardy.irtools.stablehlo_views import (
    BroadcastView,
    CompareView,
    ConcatenateView,
    GatherView,
    IotaView,
    ScatterView,
)
from pyshardy.pipeline import register_pass

_GATHER = "stablehlo.gather"
_SCATTER = "stablehlo.scatter"
_NUMBERS = {
    _GATHER: GatherView.dimension_numbers.name,
    _SCATTER: ScatterView.scatter_dimension_numbers.name,
}
_FLAGS = {
    _GATHER: ("indices_are_sorted",),
    _SCATTER: ("indices_are_sorted", "unique_indices"),
}
"""Attributes that are false by default, and are written explicitly."""


@register_pass("sdy-explicit-gather-scatter-batching", anchor="func.func", release="0.10.2")
def explicit_gather_scatter_batching(function: ir.Operation | ir.OpView) -> None:
    """Make the batch dimensions of gathers and scatters explicit.

    Detects each `stablehlo.gather` and `stablehlo.scatter` whose dimension 0 is an implicit batch
    dimension, and declares it as a batching dimension, along which indices and operand can then be
    sharded alike.

    Dimension 0 is an implicit batch dimension if the index component for dimension 0 of the operand
    is an `iota` along dimension 0 of the indices, possibly broadcast, reshaped, clamped or
    selected, and if dimension 0 has the same size in operand and indices. Operations that are dead
    or have no effect are erased.

    ```mlir
    %i = stablehlo.iota dim = 0 : tensor<4x2x1xi32>
    %0 = stablehlo.concatenate %i, %j, dim = 2 : (...) -> tensor<4x2x2xi32>
    %1 = "stablehlo.gather"(%a, %0) {dimension_numbers = #stablehlo.gather<
        collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, ...}
    ```

    becomes

    ```mlir
    %1 = "stablehlo.gather"(%a, %j) {dimension_numbers = #stablehlo.gather<
        collapsed_slice_dims = [1], operand_batching_dims = [0],
        start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, ...}
    ```
    """
    with function.operation.context:
        patterns = rewrite.RewritePatternSet()
        for name in (_GATHER, _SCATTER):
            patterns.add(name, _make_batch_explicit)
        rewrite.apply_patterns_and_fold_greedily(function.operation, patterns.freeze())


@dataclass(frozen=True, slots=True)
class _Dimensions:
    """The dimension numbers of a gather or scatter, by their names in a gather."""

    offset: tuple[int, ...]
    collapsed: tuple[int, ...]
    operand_batching: tuple[int, ...]
    indices_batching: tuple[int, ...]
    index_map: tuple[int, ...]
    index_vector: int

    @classmethod
    def of(cls, operation: ir.Operation) -> _Dimensions:
        if operation.name == _GATHER:
            numbers = GatherView(operation).dimension_numbers
            return cls(
                tuple(numbers.offset_dims),
                tuple(numbers.collapsed_slice_dims),
                tuple(numbers.operand_batching_dims),
                tuple(numbers.start_indices_batching_dims),
                tuple(numbers.start_index_map),
                numbers.index_vector_dim,
            )
        numbers = ScatterView(operation).scatter_dimension_numbers
        return cls(
            tuple(numbers.update_window_dims),
            tuple(numbers.inserted_window_dims),
            tuple(numbers.input_batching_dims),
            tuple(numbers.scatter_indices_batching_dims),
            tuple(numbers.scattered_dims_to_operand_dims),
            numbers.index_vector_dim,
        )

    def attribute(self, name: str) -> ir.Attribute:
        """Return the dimension numbers as an attribute of an operation of that name."""
        kinds = {
            _GATHER: stablehlo.GatherDimensionNumbers,
            _SCATTER: stablehlo.ScatterDimensionNumbers,
        }
        return kinds[name].get(
            self.offset,
            self.collapsed,
            self.operand_batching,
            self.indices_batching,
            self.index_map,
            self.index_vector,
        )


def _make_batch_explicit(view: ir.OpView, rewriter: rewrite.PatternRewriter) -> bool:
    """Rewrite one gather or scatter; return True if there is nothing to do."""
    operation = view.operation
    dims = _Dimensions.of(operation)
    num_inputs = 1 if operation.name == _GATHER else len(operation.results)
    operand, indices = operation.operands[0], operation.operands[num_inputs]
    if not _could_have_batch(operand, indices, dims):
        return True
    component = dims.index_map.index(0)
    if not _counts_along_first_dimension(indices, component, dims.index_vector):
        return True
    with rewriter.ip, operation.location:
        operands = list(operation.operands)
        operands[num_inputs] = _without_component(indices, component, dims.index_vector)
        attributes = dict(operation.attributes.items())
        for flag in _FLAGS[operation.name]:
            attributes.setdefault(flag, ir.BoolAttr.get(False))
        attributes[_NUMBERS[operation.name]] = replace(
            dims,
            collapsed=tuple(dim for dim in dims.collapsed if dim != 0),
            operand_batching=(0,),
            indices_batching=(0,),
            index_map=tuple(dim for dim in dims.index_map if dim != 0),
        ).attribute(operation.name)
        explicit = ir.Operation.create(
            operation.name,
            results=[result.type for result in operation.results],
            operands=operands,
            attributes=attributes,
            regions=len(operation.regions),
        )
    for old, new in zip(operation.regions, explicit.regions, strict=True):
        for block in list(old.blocks):
            block.append_to(new)
    rewriter.replace_op(operation, explicit)
    return False


def _could_have_batch(operand: ir.Value, indices: ir.Value, dims: _Dimensions) -> bool:
    shape, indices_shape = (ir.RankedTensorType(value.type).shape for value in (operand, indices))
    return (
        not dims.operand_batching
        and len(shape) > 0
        and 0 < dims.index_vector < len(indices_shape)
        and indices_shape[dims.index_vector] > 1
        and shape[0] == indices_shape[0] >= 0
        and 0 in dims.index_map
        and 0 in dims.collapsed
    )


def _without_component(indices: ir.Value, component: int, dim: int) -> ir.Value:
    """Return the indices without one component of the index vectors."""
    size = ir.RankedTensorType(indices.type).shape[dim]
    concatenate = producer(indices, "stablehlo.concatenate")
    if concatenate is not None and _joins_components(concatenate, size, dim):
        parts = [v for at, v in enumerate(concatenate.operands) if at != component]
    else:
        parts = [
            StablehloBuilder().slice_dim(indices, dim, start, end - start)
            for start, end in ((0, component), (component + 1, size))
            if start < end
        ]
    return StablehloBuilder().concatenate(parts, dim)


def _joins_components(concatenate: ir.Operation, size: int, dim: int) -> bool:
    """Whether all inputs of a concatenation are single components of index vectors."""
    along = ConcatenateView(concatenate).dimension
    return along == dim and len(concatenate.operands) == size


def _counts_along_first_dimension(indices: ir.Value, component: int, index_vector_dim: int) -> bool:
    """Whether a component of all index vectors is its vector's position in dimension 0.

    1. If the indices are a concatenation along the dimension of index vectors, the part with the
       component is examined, and it must have size 1 there.
    2. The indices, or that part, must be an `iota` along dimension 0, possibly followed by
       - broadcasts and reshapes that keep dimension 0 first, of the same size;
       - clamps by constants that include all positions;
       - selects of two values that both count, or by whether a value that counts is negative, which
         it never is: `select(i < 0, i + n, i)`.

    Args:
        indices: the index vectors.
        component: the index of the component.
        index_vector_dim: the dimension of the index vectors, not 0.
    """
    concatenate = producer(indices, "stablehlo.concatenate")
    value: ir.Value | None = indices
    if concatenate is not None:
        if ConcatenateView(concatenate).dimension != index_vector_dim:
            return False
        value = _part_with(concatenate, component, index_vector_dim)
    return value is not None and _counts(value)


def _part_with(concatenate: ir.Operation, component: int, dim: int) -> ir.Value | None:
    """Return the part of a concatenation that is just one component of index vectors."""
    start = 0
    for part in concatenate.operands:
        size = ir.RankedTensorType(part.type).shape[dim]
        if start <= component < start + size:
            return part if size == 1 else None
        start += size
    return None


def _counts(value: ir.Value) -> bool:
    """Whether a value is the position in dimension 0."""
    operation = defining_operation(value)
    if operation is None:
        return False
    operands = operation.operands
    match operation.name:
        case "stablehlo.iota":
            return IotaView(operation).iota_dimension == 0
        case "stablehlo.clamp":
            return _includes_positions(operation) and _counts(operands[1])
        case "stablehlo.select":
            is_true, is_false = _decided(operands[0])
            return (is_true or _counts(operands[2])) and (is_false or _counts(operands[1]))
        case "stablehlo.broadcast_in_dim":
            dims = BroadcastView(operation).broadcast_dimensions
            keeps_first = bool(dims) and dims[0] == 0
            return keeps_first and _have_same_first_size(operation) and _counts(operands[0])
        case "stablehlo.reshape":
            return _have_same_first_size(operation) and _counts(operands[0])
        case _:
            return False


def _includes_positions(clamp: ir.Operation) -> bool:
    """Whether a clamp keeps all positions in dimension 0."""
    low, high = (_constant_of(clamp.operands[index]) for index in (0, 2))
    size = ir.RankedTensorType(clamp.results[0].type).shape[0]
    return low is not None and low <= 0 and high is not None and high >= size - 1


def _decided(predicate: ir.Value) -> tuple[bool, bool]:
    """Return whether a predicate is always true, and whether it is always false."""
    compare = producer(predicate, "stablehlo.compare")
    if compare is None or _constant_of(compare.operands[1]) != 0:
        return False, False
    direction = CompareView(compare).comparison_direction
    if direction not in ("GE", "LT") or not _counts(compare.operands[0]):
        return False, False
    return direction == "GE", direction == "LT"


def _constant_of(value: ir.Value) -> int | None:
    """Return the integer that all elements of a value are, or None."""
    while (broadcast := producer(value, "stablehlo.broadcast_in_dim")) is not None:
        value = broadcast.operands[0]
    element = splat_of(value)
    return element.value if isinstance(element, ir.IntegerAttr) else None


def _have_same_first_size(operation: ir.Operation) -> bool:
    first_sizes = [
        ir.RankedTensorType(value.type).shape[:1]
        for value in (operation.operands[0], operation.results[0])
    ]
    return first_sizes[0] == first_sizes[1] != []
