# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-static-updates-to-pads`: replace updates at constant indices by pads.

A window that is written at constant indices into a sharded dimension overlaps known shards. As a
pad, its shards are sent to the shards that they update by a halo exchange; as a `stablehlo.scatter`
or `stablehlo.dynamic_update_slice` the window would be gathered. JAX writes such
windows for `x.at[1:15].add(y)`. An operation is replaced if it satisfies:

1. It is a `dynamic_update_slice`, or a `scatter` of one window whose body returns
   the update or combines it with the old value by one operation (see `combining_operations`).
   All indices are constants, and the window lies within the tensor. `dynamic_update_slice`
   clamps indices, so that its window always does.
2. The window has more than one element, but not all, of a dimension that is sharded. A single
   element is on one device, which updates it without communication.
3. The update of a `dynamic_update_slice` is sharded along such a dimension. Otherwise each
   device has the elements that it writes already.

An index of a `scatter` along a dimension that its windows cover is dropped if it is known to be
zero: with another one, elements would move to other shards.

Shardings have been propagated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir_sdy.host import ir, stablehlo
from mlir_sdy.model import DimensionSharding, Mesh, Shape, TensorSharding, mesh_of
from mlir_sdy.values import get_sharding, result_shardings_of
from pyshardy.irtools.analyses import UNCHANGED, Changes
from pyshardy.irtools.stablehlo_builder import StablehloBuilder, splat_literal
from pyshardy.irtools.stablehlo_views import ScatterView
from pyshardy.irtools.tensor_types import shape_of, with_element
from pyshardy.irtools.walks import may_occur_at_start, operations_named
from pyshardy.partition.function_context import FunctionContext
from pyshardy.partition.op_facts.known_integers import known_integer_at, known_integers
from pyshardy.partition.op_facts.reduction_bodies import combining_operations
from pyshardy.partition.op_facts.scatter_windows import window_dims
from pyshardy.partition.types.padding_builder import PaddingBuilder
from pyshardy.pipeline import register_pass

_UPDATE_SLICE = "stablehlo.dynamic_update_slice"
_SCATTER = "stablehlo.scatter"
_SET = ""
"""The combination that takes the update and drops the old value."""


@dataclass(frozen=True)
class _Window:
    """A window of a tensor at known indices.

    Attributes:
        starts: the index of its first element in each dimension.
        sizes: its size in each dimension.
        combinations: for each tensor that is updated, the operation that combines an old value
            with an update.
    """

    starts: Shape
    sizes: Shape
    combinations: tuple[str, ...]


@register_pass("sdy-static-updates-to-pads", anchor="func.func", release="pyshardy")
def static_updates_to_pads(function: ir.OpView) -> Changes | None:
    """Rewrite updates at constant indices as pads and selects.

    Rewrites a `stablehlo.dynamic_update_slice`, or a `stablehlo.scatter` of a single window, that
    updates a part of a sharded dimension at constant indices: pads the update to the size of the
    tensor and selects between both, so that devices exchange only the elements that move to another
    shard. JAX lowers `x.at[1:15].set(y)` to such an update. On 4 devices, with constant indices 1,

    ```mlir
    %0 = stablehlo.dynamic_update_slice %x, %y, %one
        {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"d"}]>]>}
        : (tensor<16xf32>, tensor<14xf32>, tensor<i32>) -> tensor<16xf32>
    ```

    becomes

    ```mlir
    %0 = stablehlo.pad %y, %zero, low = [1], high = [1], interior = [0]  // sharded as the result
    %1 = stablehlo.select %mask, %0, %x                                  // the mask: 1 <= iota < 15
    ```
    """
    if not may_occur_at_start({_UPDATE_SLICE, _SCATTER}, function):
        return UNCHANGED
    context = FunctionContext.of(function)
    builder = PaddingBuilder(context.cache)
    has_changed = False
    for operation in operations_named({_UPDATE_SLICE, _SCATTER}, function):
        shardings = result_shardings_of(operation)
        mesh = mesh_of(shardings[0], context.meshes) if shardings else None
        if mesh is None or any(not _shards_dims(sharding) for sharding in shardings):
            continue
        if operation.name == _SCATTER:
            has_changed |= _drop_zeros(operation, shardings[0], builder)
        window = _window_of(operation)
        if window is not None and _is_exchanged(operation, window, shardings[0], mesh):
            with operation.location, ir.InsertionPoint(operation):
                _replace(operation, window, shardings, builder)
            has_changed = True
    return None if has_changed else UNCHANGED


def _drop_zeros(scatter: ir.Operation, sharding: TensorSharding, builder: PaddingBuilder) -> bool:
    """Drop the indices of sharded, whole dimensions that are zero, unless there are no others."""
    count = len(scatter.results)
    indices, numbers = scatter.operands[count], ScatterView(scatter).scatter_dimension_numbers
    indexed: list[int] = list(numbers.scattered_dims_to_operand_dims)
    sizes, updates = (shape_of(scatter.operands[index].type) for index in (0, count + 1))
    whole = {
        dim
        for dim, window in window_dims(scatter).items()
        if sharding.dim_axes[dim] and sizes[dim] == updates[window]
    }
    vector_dim: int = numbers.index_vector_dim
    kept = [
        at
        for at, dim in enumerate(indexed)
        if dim not in whole or known_integer_at(indices, vector_dim, at) != 0
    ]
    if not kept or len(kept) == len(indexed):
        return False
    with scatter.location, ir.InsertionPoint(scatter):
        sharded = builder.sharded(get_sharding(indices))
        parts = [sharded.slice_dim(indices, vector_dim, at, 1) for at in kept]
        scatter.operands[count] = sharded.concatenate(parts, vector_dim)
    ScatterView(scatter).scatter_dimension_numbers = stablehlo.ScatterDimensionNumbers.get(
        numbers.update_window_dims,
        numbers.inserted_window_dims,
        numbers.input_batching_dims,
        numbers.scatter_indices_batching_dims,
        [indexed[at] for at in kept],
        vector_dim,
    )
    return True


def _shards_dims(sharding: TensorSharding) -> bool:
    """Whether a sharding has dimensions, and no partial results."""
    return sharding.rank > 0 and not sharding.unreduced_axes


def _window_of(operation: ir.Operation) -> _Window | None:
    """Return the window that an operation updates; None if it isn't known."""
    if not all(_can_be_padded(result.type) for result in operation.results):
        return None
    if operation.name == _SCATTER:
        return _scattered_window(operation)
    operand, update, *indices = operation.operands
    sizes, update_sizes = shape_of(operand.type), shape_of(update.type)
    starts: list[int] = []
    for size, update_size, index in zip(sizes, update_sizes, indices, strict=True):
        known = known_integers(index)
        if known is None and size != update_size:
            return None
        start = 0 if known is None else int(known.item())
        starts.append(min(max(start, 0), size - update_size))
    return _Window(tuple(starts), update_sizes, (_SET,))


def _scattered_window(operation: ir.Operation) -> _Window | None:
    """Return the only window of a scatter."""
    count = len(operation.results)
    indices = known_integers(operation.operands[count])
    combinations = _combinations(operation.regions[0].blocks[0])
    if indices is None or combinations is None:
        return None
    numbers = ScatterView(operation).scatter_dimension_numbers
    indexed: list[int] = list(numbers.scattered_dims_to_operand_dims)
    if indices.size != len(indexed) or numbers.input_batching_dims:
        return None
    sizes = shape_of(operation.operands[0].type)
    updates = shape_of(operation.operands[count + 1].type)
    window = [1] * len(sizes)
    for dim, of_updates in window_dims(operation).items():
        window[dim] = updates[of_updates]
    starts = [0] * len(sizes)
    for dim, start in zip(indexed, indices.reshape(-1).tolist(), strict=True):
        starts[dim] = start
    bounds = zip(starts, window, sizes, strict=True)
    if any(start < 0 or start + length > size for start, length, size in bounds):
        return None
    return _Window(tuple(starts), tuple(window), combinations)


def _combinations(body: ir.Block) -> tuple[str, ...] | None:
    """Return for each value the operation that combines it with its update, or `_SET`."""
    arguments = list(body.arguments)
    *operations, terminator = [view.operation for view in body.operations]
    if not operations and list(terminator.operands) == arguments[len(arguments) // 2 :]:
        return (_SET,) * len(terminator.operands)
    return combining_operations(body)


def _is_exchanged(
    operation: ir.Operation, window: _Window, sharding: TensorSharding, mesh: Mesh
) -> bool:
    """Whether an update is sharded, or sharded tensors would be gathered for it."""
    count = len(operation.results)
    sizes = shape_of(operation.results[0].type)
    shards = sharding.sharded_sizes(mesh)
    dims = [
        dim
        for dim, (size, length) in enumerate(zip(sizes, window.sizes, strict=True))
        if 1 < length < size and shards[dim] > 1
    ]
    if operation.name == _SCATTER:
        return bool(dims)
    update = get_sharding(operation.operands[count])
    return update is not None and any(update.dim_axes[dim] for dim in dims)


def _can_be_padded(value_type: ir.Type) -> bool:
    if not isinstance(value_type, ir.RankedTensorType) or not value_type.has_static_shape:
        return False
    return isinstance(value_type.element_type, ir.IntegerType | ir.FloatType | ir.ComplexType)


def _replace(
    operation: ir.Operation,
    window: _Window,
    shardings: Sequence[TensorSharding],
    builder: PaddingBuilder,
) -> None:
    count = len(operation.results)
    first_update = count + (operation.name == _SCATTER)
    for index, (result, sharding) in enumerate(zip(operation.results, shardings, strict=True)):
        old = operation.operands[index]
        update = _in_rank_of_tensor(operation.operands[first_update + index], window, builder)
        new = _padded(update, window, shape_of(result.type), sharding, builder)
        name = window.combinations[index]
        if name != _SET:
            sharded = builder.sharded(sharding)
            new = sharded.create(name, (old, new), (result.type,)).result
        is_inside = _is_inside(window, result.type, builder.sharded(sharding))
        chosen = builder.sharded(sharding).select(is_inside, new, old)
        result.replace_all_uses_with(chosen)
    operation.erase()


def _in_rank_of_tensor(update: ir.Value, window: _Window, builder: PaddingBuilder) -> ir.Value:
    """Reshape the update of a scatter to the shape of its window; other dimensions have size 1."""
    shape = shape_of(update.type)
    if shape == window.sizes:
        return update
    sharding = get_sharding(update)
    if sharding is not None:
        # Window dimensions are in the order of the tensor's: match those that aren't of size 1.
        held = iter(
            of_dim for size, of_dim in zip(shape, sharding.dim_shardings, strict=True) if size != 1
        )
        empty = DimensionSharding(())
        dims = tuple(empty if size == 1 else next(held) for size in window.sizes)
        sharding = sharding.with_dims(dims)
    return builder.sharded(sharding).reshape(update, window.sizes)


def _padded(
    update: ir.Value,
    window: _Window,
    shape: Shape,
    sharding: TensorSharding,
    builder: PaddingBuilder,
) -> ir.Value:
    high = [
        size - start - length
        for size, start, length in zip(shape, window.starts, window.sizes, strict=True)
    ]
    zero = builder.scalar(update, 0)
    return builder.sharded(sharding).pad(update, zero, window.starts, high)


def _is_inside(window: _Window, tensor: ir.Type, builder: StablehloBuilder) -> ir.Value:
    """Build a mask of the elements of a tensor that a window covers."""
    shape = shape_of(tensor)
    integers = with_element(tensor, ir.IntegerType.get_signless(32))
    is_inside: ir.Value | None = None
    for dim, (size, start, length) in enumerate(
        zip(shape, window.starts, window.sizes, strict=True)
    ):
        bounds = [("GE", start)] * (start > 0) + [("LT", start + length)] * (start + length < size)
        for direction, bound in bounds:
            position = builder.iota(integers, dim)
            limits = {"value": splat_literal(integers, bound)}
            limit = builder.create("sdy.constant", (), (integers,), limits).result
            within = builder.compare(direction, position, limit)
            if is_inside is not None:
                within = builder.binary("and", is_inside, within)
            is_inside = within
    assert is_inside is not None, "the window doesn't cover the whole tensor"
    return is_inside
