# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The memory traffic of padding: tensors that are padded, cut, and masked where shards are uneven.

1. A dimension is padded before it is sliced unevenly, and cut after it is gathered.
2. The padding of a reduced dimension is overwritten by the neutral value of the reduction, unless
   the operand is an argument of the program: arguments are even, so that they have been padded with
   zeros just before.
"""

from __future__ import annotations

from collections.abc import Iterator

from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, OpShardingRule
from pyshardy.auto.strategies.strategy import Strategy
from pyshardy.cost.op_work import Work
from pyshardy.irtools.stablehlo_views import symbol_name
from pyshardy.irtools.tensor_types import element_bytes, shape_of, shard_elements
from pyshardy.partition.padding.neutral import masks_of_reduced_dims
from pyshardy.partition.partial.reductions import is_positive_zero
from pyshardy.partition.resharding.cost import (
    Reshard,
    elements_padded_for,
)
from pyshardy.partition.types.steps import AllGather, AllSlice, AllToAll

MASK_BYTES = 30
"""The bytes that are accessed for each element of a mask: a position, its limit, the comparison."""


def traffic_of_reshard(reshard: Reshard) -> float:
    """Return the bytes that the slices of a reshard access, and pads and cuts around its steps.

    Args:
        reshard: the reshard.
    """
    shape, mesh, axes = reshard.shape, reshard.mesh, reshard.source
    elements = 0.0
    for step in reshard.plan():
        result = step.result
        before, after = (shard_elements(shape, each, mesh) for each in (axes, result))
        elements += 2 * after if isinstance(step, AllSlice) else 0
        if isinstance(step, AllSlice | AllToAll):
            padded = elements_padded_for(shape, axes, result, mesh)
            elements += before + padded if padded != before else 0
        if isinstance(step, AllGather | AllToAll):
            elements += 2 * after if elements_padded_for(shape, result, axes, mesh) != after else 0
        axes = result
    return elements * reshard.nbytes


def traffic_of_padding(reshard: Reshard) -> float:
    """Return the bytes that are accessed to pad a result before it is reduced and scattered.

    Args:
        reshard: the reshard of the result, from the axes in which it is computed.
    """
    before = shard_elements(reshard.shape, reshard.source, reshard.mesh)
    padded = padded_bytes(reshard)
    return before * reshard.nbytes + padded if padded else 0.0


def padded_bytes(reshard: Reshard) -> float:
    """Return the bytes of the tensor that a reshard pads before it slices it; 0 for none."""
    first = next(iter(reshard.plan()), None)
    if not isinstance(first, AllSlice):
        return 0.0
    shape, source, mesh = reshard.shape, reshard.source, reshard.mesh
    elements = elements_padded_for(shape, source, first.result, mesh)
    is_padded = elements != shard_elements(shape, source, mesh)
    return float(elements * reshard.nbytes) if is_padded else 0.0


def masks(
    operation: ir.Operation, rule: OpShardingRule, strategy: Strategy, mesh: Mesh
) -> Iterator[Work]:
    """Yield the work in which the padding of operands is overwritten.

    Args:
        operation: the operation.
        rule: the rule of the strategy.
        strategy: the strategy.
        mesh: the mesh.
    """
    for mask in masks_of_reduced_dims(operation, rule):
        value = operation.operands[mask.operand]
        is_zero = mask.neutral == 0 or (
            isinstance(mask.neutral, ir.Value) and is_positive_zero(mask.neutral)
        )
        if is_zero and is_program_argument(value):
            continue
        shape, axes = shape_of(value.type), strategy.operands[mask.operand]
        padded = sum(shape[dim] % mesh.axes_size(axes[dim]) != 0 for dim in mask.dims)
        if padded:
            elements = shard_elements(shape, axes, mesh)
            accessed = padded * MASK_BYTES + 4 * element_bytes(value.type)
            yield Work(float(elements), float(elements * accessed))


def is_program_argument(value: ir.Value) -> bool:
    """Whether a value is an argument of `@main`."""
    if not isinstance(value, ir.BlockArgument):
        return False
    owner = value.owner.owner.operation
    return owner.name == "func.func" and symbol_name(owner) == "main"
