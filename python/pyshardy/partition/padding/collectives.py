# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The dialect's collectives between tensors with different padding."""

from __future__ import annotations

from collections.abc import Mapping

from mlir_sdy import sdy
from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, Shape
from mlir_sdy.values import get_sharding
from pyshardy.irtools.tensor_types import shape_of, with_shape
from pyshardy.partition.padding.replicated import lists_of, reduced_operand, without_dims
from pyshardy.partition.types.padding_builder import PaddingBuilder

COLLECTIVES = frozenset({"sdy.all_gather", "sdy.all_slice", "sdy.all_to_all", "sdy.reduce_scatter"})
"""The collectives whose operand and result may be padded differently."""


def pad_collective(
    operation: ir.Operation, shape: Shape, builder: PaddingBuilder, meshes: Mapping[str, Mesh]
) -> ir.Value:
    """Fit a collective to its operand and its result, which have their padded types already.

    1. A dimension that is sharded afterwards, but not before, is padded first.
    2. A dimension that is sharded before, but not afterwards, is sliced afterwards.
    3. A dimension that is sharded by some axes before and by others afterwards, and padded to
       another size, changes the elements of each shard. Such a tensor is gathered instead in all
       dimensions that change, and sliced again. Of 5 elements, the first of 2 devices holds 3, but
       the first 2 of 4 devices hold 2 each.

    Args:
        operation: the collective.
        shape: the shape without padding.
        builder: builds the padding and slices.
        meshes: the meshes of the module.

    Returns:
        The replacement of the result. If it is the result of another operation, the collective has
        no uses left, and the caller erases it.
    """
    operand, result = operation.operands[0], operation.results[0]
    source, target = shape_of(operand.type), shape_of(result.type)
    if source == target:
        return result
    before, after = (_is_sharded(value) for value in (operand, result))
    if any(
        size != wanted and was and will_be
        for size, wanted, was, will_be in zip(source, target, before, after, strict=True)
    ):
        return _by_gathering(operation, shape, builder, meshes)
    between = tuple(
        size if was else wanted for size, wanted, was in zip(source, target, before, strict=True)
    )
    operation.operands[0] = builder.resized(operand, between)
    if between == target:
        return result
    result.set_type(with_shape(result.type, between))
    with ir.InsertionPoint.after(operation):
        cut = builder.resized(result, target)
    result.replace_all_uses_except(cut, cut.owner.operation)
    return cut


def _by_gathering(
    operation: ir.Operation, shape: Shape, builder: PaddingBuilder, meshes: Mapping[str, Mesh]
) -> ir.Value:
    cache = builder.cache
    value, result = operation.operands[0], operation.results[0]
    if operation.name == "sdy.reduce_scatter":
        value = reduced_operand(operation, (), cache, meshes)
    source, target = get_sharding(value), get_sharding(result)
    assert source is not None, "an operand that is padded is sharded"
    assert target is not None, "a collective has a sharding"
    changed = {
        dim
        for dim, (old, new) in enumerate(zip(source.dim_axes, target.dim_axes, strict=True))
        if old != new
    }
    unsharded, gathered = without_dims(source, changed)
    _, sliced = without_dims(target, changed)
    value = sdy.all_gather(value, cache[lists_of(gathered)], cache[unsharded])
    padded = shape_of(value.type)
    for wanted in (shape, shape_of(result.type)):
        sizes = zip(padded, wanted, strict=True)
        value = builder.resized(
            value, tuple(new if dim in changed else old for dim, (old, new) in enumerate(sizes))
        )
    if any(sliced):
        value = sdy.all_slice(value, cache[lists_of(sliced)], cache[target])
    result.replace_all_uses_with(value)
    return value


def _is_sharded(value: ir.Value) -> list[bool]:
    sharding = get_sharding(value)
    if sharding is None:
        return [False] * len(shape_of(value.type))
    return [bool(axes) for axes in sharding.dim_axes]
