# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Completion of partial results by reductions that `sdy.all_reduce` has no kind for."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mlir_sdy.discardable import remove_discardable
from mlir_sdy.host import ir
from mlir_sdy.model import AxisRef, Mesh
from mlir_sdy.values import SHARDING
from pyshardy.cost.hardware import Hardware
from pyshardy.irtools.stablehlo_views import ReduceView
from pyshardy.irtools.tensor_types import shape_of, size_of_shard, tensor_bytes
from pyshardy.partition.resharding.cost import collective_cost
from pyshardy.partition.types.local_builder import LocalBuilder


def all_reduce_product(
    operation: ir.Operation, axes: Sequence[AxisRef], mesh: Mesh, builder: LocalBuilder
) -> None:
    """Replace each result by its product over all devices along the axes."""
    for result in operation.results:
        with ir.InsertionPoint.after(operation):
            product = builder.all_reduce(result, "stablehlo.multiply", axes, mesh)
        result.replace_all_uses_except(product, product.owner.operation)


def reduce_again(
    operation: ir.Operation,
    initial_values: Sequence[ir.Value],
    axes: Sequence[AxisRef],
    mesh: Mesh,
    builder: LocalBuilder,
) -> None:
    """Reduce the results of all devices along some axes by the body of the operation.

    The results are combined in the order of the devices along the axes. The cheaper of two ways is
    taken:

    1. The results are gathered, and each device reduces all of them.
    2. Each device gets its part of all results by an all-to-all, and reduces it. Then the parts of
       those results that are used are gathered.

    Example: for the indices of an argmax with 24 results on 4 devices, each device sends 288 bytes
    of values and 288 of indices if they are gathered; with an all-to-all 72 bytes of each, and 72
    to gather the indices.

    Args:
        operation: a `stablehlo.reduce` with local types.
        initial_values: a neutral scalar for each result.
        axes: the axes along which results are partial.
        mesh: the mesh of the axes.
        builder: builds the operations.
    """
    results = list(operation.results)
    used = [any(result.uses) for result in results]
    by_parts = _costs_less_by_parts(results, used, axes, mesh, builder.hardware)
    split = _parts if by_parts else _stack
    with ir.InsertionPoint.after(operation):
        stacks = [
            split(result, initial, axes, mesh, builder)
            for result, initial in zip(results, initial_values, strict=True)
        ]
        again = operation.clone().operation
        remove_discardable(again, SHARDING)  # its parts have fewer dimensions
        ReduceView(again).dimensions = (0,)
        operands = [*(stack for _, stack in stacks), *initial_values]
        for index, operand in enumerate(operands):
            again.operands[index] = operand
        completed: list[ir.Value] = list(again.results)
        if by_parts:
            for index, (part, (_, stack)) in enumerate(zip(again.results, stacks, strict=True)):
                stack_type = ir.RankedTensorType(stack.type)
                part.set_type(
                    ir.RankedTensorType.get(stack_type.shape[1:], stack_type.element_type)
                )
                if used[index]:
                    completed[index] = _joined(
                        part, list(shape_of(results[index].type)), axes, mesh, builder
                    )
    for result, (user, _), last in zip(results, stacks, completed, strict=True):
        result.replace_all_uses_except(last, user)


def _costs_less_by_parts(
    results: Sequence[ir.Value],
    used: Sequence[bool],
    axes: Sequence[AxisRef],
    mesh: Mesh,
    hardware: Hardware,
) -> bool:
    count = mesh.axes_size(axes)
    gathered = by_parts = 0.0
    for result, is_used in zip(results, used, strict=True):
        put_in = tensor_bytes(result.type)
        gathered += collective_cost("all_gather", axes, put_in, mesh, hardware)
        by_parts += collective_cost("all_to_all", axes, put_in, mesh, hardware)
        if is_used:
            part = size_of_shard(put_in, count)
            by_parts += collective_cost("all_gather", axes, part, mesh, hardware)
    return by_parts < gathered


def _stack(
    value: ir.Value, _: ir.Value, axes: Sequence[AxisRef], mesh: Mesh, builder: LocalBuilder
) -> tuple[ir.Operation, ir.Value]:
    """Stack the values of all devices along a new dimension 0; also return the value's user."""
    one = builder.reshape(value, [1, *shape_of(value.type)])
    return one.owner.operation, builder.all_gather(one, 0, axes, mesh)


def _parts(
    value: ir.Value, padding: ir.Value, axes: Sequence[AxisRef], mesh: Mesh, builder: LocalBuilder
) -> tuple[ir.Operation, ir.Value]:
    """Stack a device's part of the values of all devices; also return the value's user.

    Of n devices, each gets one of n equal parts of the elements in their order; the last parts end
    with padding.
    """
    count, length = mesh.axes_size(axes), math.prod(shape_of(value.type))
    size = size_of_shard(length, count)
    first = flat = builder.reshape(value, [length])
    if size * count > length:
        flat = builder.pad(flat, padding, [0], [size * count - length])
    parts = builder.reshape(flat, [count, size])
    return first.owner.operation, builder.all_to_all(parts, 0, 0, axes, mesh)


def _joined(
    part: ir.Value,
    shape: Sequence[int],
    axes: Sequence[AxisRef],
    mesh: Mesh,
    builder: LocalBuilder,
) -> ir.Value:
    """Gather the parts that `_parts` built, and drop the padding."""
    joined = builder.all_gather(part, 0, axes, mesh)
    return builder.reshape(builder.slice_prefix(joined, [math.prod(shape)]), shape)
