# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reshapes whose shards don't hold the same data before and after.

The factors of a reshape say which parts of its dimensions correspond, but sharding such a part is
free of communication only if the shards on both sides hold the same data. Where they don't, the
dimensions in question are made whole around the operation:

    %1 = stablehlo.reshape %0 : (tensor<12x24xf32>) -> tensor<8x36xf32>
    // %0 is sharded by [{}, {"x"}]: a shard holds halves of rows of 24, not of rows of 36

becomes

    %1 = sdy.reshard %0 <@mesh, [{}, {}]>
    %2 = stablehlo.reshape %1 : (tensor<12x24xf32>) -> tensor<8x36xf32>
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from mlir_sdy import sdy
from mlir_sdy.attributes import AttributeCache
from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, TensorSharding, mesh_of, place_data_alike
from mlir_sdy.values import behind_barriers, get_sharding, set_result_shardings_of
from pyshardy.partition.agreement import shape_of
from pyshardy.partition.factor_axes import Shape

Group = tuple[range, range]


def resolve_reshape(
    reshape: ir.Operation, meshes: Mapping[str, Mesh], cache: AttributeCache
) -> None:
    """Surround a reshape by reshards if it would need communication."""
    source = get_sharding(behind_barriers(reshape.operands[0]))
    target = get_sharding(reshape.results[0])
    given = source or target
    mesh = None if given is None else mesh_of(given, meshes)
    if given is None or mesh is None or mesh.is_maximal:
        return
    shapes = tuple(shape_of(v) for v in (reshape.operands[0], reshape.results[0]))
    if not all(size >= 0 for shape in shapes for size in shape):
        return
    source, target = (
        sharding or TensorSharding.fully_closed(len(shape), given.mesh_or_ref)
        for sharding, shape in zip((source, target), shapes, strict=True)
    )
    if place_data_alike(source, shapes[0], target, shapes[1], mesh):
        return
    groups = [group for group in reshape_groups(*shapes) if not _passes_through(group, *shapes)]
    new_source = _whole(source, [dim for group in groups for dim in group[0]])
    new_target = _whole(target, [dim for group in groups for dim in group[1]])
    if not place_data_alike(new_source, shapes[0], new_target, shapes[1], mesh):
        new_source = _whole(source, range(source.rank))
        new_target = _whole(target, range(target.rank))
    _surround(reshape, (source, new_source), (target, new_target), cache)


def reshape_groups(source: Shape, target: Shape) -> list[Group]:
    """The shortest runs of dimensions of both shapes that hold the same number of elements.

    `(12, 24, 5)` and `(8, 36, 5)` fall into the groups `(12, 24)` with `(8, 36)`, and `5` with `5`.
    """
    groups: list[Group] = []
    source_start = target_start = 0
    while source_start < len(source) or target_start < len(target):
        source_end = min(source_start + 1, len(source))
        target_end = min(target_start + 1, len(target))
        while True:
            left = math.prod(source[source_start:source_end])
            right = math.prod(target[target_start:target_end])
            if left < right and source_end < len(source):
                source_end += 1
            elif right < left and target_end < len(target):
                target_end += 1
            else:
                break
        groups.append((range(source_start, source_end), range(target_start, target_end)))
        source_start, target_start = source_end, target_end
    return groups


def _passes_through(group: Group, source: Shape, target: Shape) -> bool:
    """Whether at most one dimension on each side of a group is more than 1."""
    return all(
        sum(shape[dim] != 1 for dim in dims) <= 1
        for dims, shape in zip(group, (source, target), strict=True)
    )


def _whole(sharding: TensorSharding, dims: Sequence[int]) -> TensorSharding:
    replaced = {dim: sharding.dim_shardings[dim].with_axes(()) for dim in dims}
    return sharding.with_dims_replaced(replaced)


def _surround(
    reshape: ir.Operation,
    source: tuple[TensorSharding, TensorSharding],
    target: tuple[TensorSharding, TensorSharding],
    cache: AttributeCache,
) -> None:
    """Reshard the operand before and the result behind a reshape, from old to new and back."""
    if source[0] != source[1]:
        reshape.operands[0] = sdy.reshard(
            reshape.operands[0],
            cache[source[1]],
            loc=reshape.location,
            ip=ir.InsertionPoint(reshape),
        )
    if target[0] != target[1]:
        set_result_shardings_of(reshape, {0: target[1]}, cache)
        back = sdy.reshard(
            reshape.results[0],
            cache[target[0]],
            loc=reshape.location,
            ip=ir.InsertionPoint.after(reshape),
        )
        reshape.results[0].replace_all_uses_except(back, back.owner.operation)
