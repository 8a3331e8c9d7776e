# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random numbers on shards."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mlir_sdy.host import ir
from mlir_sdy.model import AxisRef, Mesh, TensorSharding, set_difference
from mlir_sdy.values import get_sharding, result_shardings_of
from mlir_sdy.verify.operations import bound_manual_axes
from pyshardy.partition.local.arithmetic import (
    binary,
    broadcast,
    convert,
    element_type_of,
    is_first,
    value_where,
)
from pyshardy.partition.local.builder import LocalBuilder
from pyshardy.partition.local.registry import converts
from pyshardy.partition.op_facts.blocked_factors import UNSAFE_RNG
from pyshardy.partition.op_facts.reduction_bodies import is_boolean


@converts("stablehlo.rng", differing=True)
def convert_rng(operation: ir.Operation, builder: LocalBuilder) -> None:
    """Random numbers: each device makes those of its shard.

    1. The shape, which an operand tells, is that of the shard.
    2. Nothing says that devices make the same numbers. What several have to hold is made by the
       first of them, and an all-reduce hands it to the others.
    """
    result = operation.results[0]
    shape = ir.RankedTensorType(result.type).shape
    operation.operands[2] = builder.constant(np.array(shape, np.int64))
    sharding = get_sharding(result)
    given = None if sharding is None or sharding.is_fully_replicated else sharding
    mesh = builder.device_mesh_of(operation) if given is None else builder.mesh_of(given)
    if mesh is None:
        return
    used = [] if given is None else [axis for axes in given.dim_axes for axis in axes]
    axes = _other_axes(mesh, used, {*bound_manual_axes(operation)})
    if mesh.axes_size(axes) == 1:
        return
    with ir.InsertionPoint.after(operation):
        first = is_first(builder, mesh, axes)
        masked = value_where(builder, first, result, "stablehlo.add")
        # Truth values have no sum on some devices.
        name = "or" if is_boolean(element_type_of(result)) else "add"
        handed = builder.all_reduce(masked, f"stablehlo.{name}", axes, mesh)
    result.replace_all_uses_except(handed, masked.owner.operation)


def _other_axes(mesh: Mesh, used: list[AxisRef], manual: set[str]) -> tuple[AxisRef, ...]:
    """The axes of a mesh, but for manual ones and what is used."""
    free = [AxisRef(name) for name in mesh.axis_names if name not in manual]
    return set_difference(free, used, mesh)


def _bits_are_replicated(_: ir.Operation, shardings: Sequence[TensorSharding | None]) -> bool:
    bits = shardings[-1]
    return bits is None or bits.is_fully_replicated


@converts("stablehlo.rng_bit_generator", unless=_bits_are_replicated)
def convert_rng_bit_generator(operation: ir.Operation, builder: LocalBuilder) -> None:
    """Generate the bits of a shard from a state of its own, where that is allowed.

    1. The index of the shard, mixed, is added to each word of the state.
    2. The new state is that of the first shard; an all-reduce hands it to the others.
    """
    if UNSAFE_RNG in operation.attributes:
        del operation.attributes[UNSAFE_RNG]
    sharding = result_shardings_of(operation)[1]
    mesh = builder.mesh_of(sharding)
    axes = tuple(axis for dim in sharding.dim_axes for axis in dim)
    state, new_state = operation.operands[0], operation.results[0]
    word = element_type_of(state)
    offset = builder.per_shard(mesh, axes, mixed_index)
    spread = broadcast(
        builder, convert(builder, offset, word), ir.RankedTensorType(state.type).shape
    )
    operation.operands[0] = binary(builder, "add", state, spread)
    with ir.InsertionPoint.after(operation):
        masked = value_where(builder, is_first(builder, mesh, axes), new_state, "stablehlo.add")
        handed = builder.all_reduce(masked, "stablehlo.add", axes, mesh)
    new_state.replace_all_uses_except(handed, masked.owner.operation)


def mixed_index(index: int) -> int:
    """Return 64 bits that differ in many places from those of other indices, as a signed integer.

    The lower half of the finalizer of MurmurHash3 (Appleby, 2011) in both halves, as in Shardy:
    `mixed_index(0)` is 0, and `mixed_index(1)` is 0x34c2cb2c34c2cb2c.
    """
    mask = (1 << 64) - 1
    index ^= index >> 33
    index = index * 0xFF51AFD7ED558CCD & mask
    index ^= index >> 33
    index = index * 0xC4CEB9FE1A85EC53 & mask
    index ^= index >> 33
    low = index & 0xFFFFFFFF
    both = low << 32 | low
    return both - (1 << 64) if both >> 63 else both
