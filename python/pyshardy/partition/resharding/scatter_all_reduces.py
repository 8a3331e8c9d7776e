# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All-reduces whose results are only resharded become reduce-scatters.

On a mesh `<["x"=4, "y"=2]>`,

    %1 = sdy.all_reduce {"x", "y"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
    %2 = sdy.reshard %1 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>

becomes

    %1 = sdy.reduce_scatter [{"x", "y"}, {}] %0 out_sharding=<@mesh, [{"x", "y"}, {}]>
    %2 = sdy.reshard %1 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>

An all-reduce whose result is sliced along all reduced axes is left to the patterns of
`canonicalize`, which make it a reduce-scatter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from mlir_sdy import sdy
from mlir_sdy.attributes import AttributeCache, value_of
from mlir_sdy.host import ir
from mlir_sdy.model import (
    AxisRefList,
    AxisTuple,
    ListOfAxisRefLists,
    Mesh,
    ReductionOp,
    TensorSharding,
    add_or_merge,
    mesh_of,
)
from mlir_sdy.op_classes import view_as
from mlir_sdy.values import get_sharding
from pyshardy.cost.hardware import Hardware
from pyshardy.irtools.walks import operations_named
from pyshardy.partition.partial.completion import reduction_kind
from pyshardy.partition.resharding.completions import best_scattering
from pyshardy.partition.resharding.cost import Reshard
from pyshardy.partition.types.steps import AxesPerDim

_ALL_REDUCE, _RESHARD = "sdy.all_reduce", "sdy.reshard"


def scatter_all_reduces(
    function: ir.Operation,
    meshes: Mapping[str, Mesh],
    cache: AttributeCache,
    hardware: Hardware,
    is_plain: Callable[[ir.Operation], bool],
) -> None:
    """Replace the all-reduces of a function, if that takes less time with the reshards after them.

    Args:
        function: the function.
        meshes: the meshes of the module by name.
        cache: makes attributes.
        hardware: the devices and links.
        is_plain: whether a reshard only moves axes of a static tensor on one mesh.
    """
    for operation in operations_named({_ALL_REDUCE}, function):
        reshards = [use.owner.operation for use in operation.results[0].uses]
        if not reshards or not all(
            each.name == _RESHARD and each.block == operation.block and is_plain(each)
            for each in reshards
        ):
            continue
        reduce = view_as(sdy.AllReduceOp, operation)
        reduced = value_of(reduce.out_sharding)
        mesh = mesh_of(reduced, meshes)
        before = get_sharding(reduce.tensor)
        if mesh is None or before is None or before.dim_axes != reduced.dim_axes:
            continue
        moves = [_reshard_of(each, reduced, mesh) for each in reshards]
        axes = best_scattering(moves, value_of(reduce.reduction_axes).value, hardware)
        if axes is not None:
            _scatter(reduce, reduced, axes, reshards, mesh, cache)


def _reshard_of(reshard: ir.Operation, source: TensorSharding, mesh: Mesh) -> Reshard:
    target = get_sharding(reshard.results[0])
    assert target is not None, "a reshard has a sharding"
    return Reshard.of(reshard.operands[0], source.dim_axes, target.dim_axes, mesh)


def _scatter(
    reduce: sdy.AllReduceOp,
    reduced: TensorSharding,
    axes: AxesPerDim,
    reshards: Sequence[ir.Operation],
    mesh: Mesh,
    cache: AttributeCache,
) -> None:
    """Replace an all-reduce by a reduce-scatter to other axes."""
    scattered = tuple(
        AxisRefList(after[len(before) :])
        for before, after in zip(reduced.dim_axes, axes, strict=True)
    )
    merged: list[AxisTuple] = []
    for own in axes:
        dim: AxisTuple = ()
        for axis in own:
            dim = add_or_merge(dim, axis, mesh)
        merged.append(dim)
    sharding = TensorSharding.from_axes(reduced.mesh_or_ref, merged)
    operation = reduce.operation
    kind = reduction_kind(operation)
    result = sdy.reduce_scatter(
        reduce.tensor,
        cache[ListOfAxisRefLists(scattered)],
        cache[sharding],
        reduction_op=None if kind is ReductionOp.SUM else kind,
        loc=operation.location,
        ip=ir.InsertionPoint(operation),
    )
    operation.results[0].replace_all_uses_with(result)
    operation.erase()
    for each in reshards:
        target = get_sharding(each.results[0])
        if target is not None and target.dim_axes == sharding.dim_axes:
            each.results[0].replace_all_uses_with(result)
            each.erase()
