# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-extract-reshards-from-inter-mesh-transfers`."""

from __future__ import annotations

import math

from mlir_sdy.attributes import AttributeCache
from mlir_sdy.diagnostics import PassError, emit, error, warning
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import Mesh, TensorSharding
from mlir_sdy.mpmd.attributes import MeshTensorType
from mlir_sdy.mpmd.reading import FRAGMENT, TRANSFER, producer
from mlir_sdy.mpmd.verify import mesh_in
from mlir_sdy.values import (
    get_sharding,
    set_body_argument_shardings,
    set_result_shardings_of,
    set_sharding,
)
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.rewriting.functions import mpmd_functions
from pyshardy.mpmd.rewriting.marks import copies
from pyshardy.mpmd.rewriting.meshes import topology
from pyshardy.pipeline import register_pass

_MARK = "extract_reshards"


@register_pass("mpmd-extract-reshards-from-inter-mesh-transfers", release="0.10.2")
def extract_reshards_from_inter_mesh_transfers(module: ir.Module) -> None:
    """Change the sharding of a value before or after a transfer between equal meshes, not in it.

    The fragment that makes the value changes the sharding if the shards are smaller afterwards, or
    if the target is in the memory of the host. Otherwise, the fragments that use it do. Where there
    is none, and for other users of the value, a fragment is inserted.

    Raises:
        PassError: the value goes from memory of a host to that of a host.
    """
    cache = AttributeCache(module.context)
    found: list[ir.Operation] = []
    for function in mpmd_functions(module):
        transfers = operations_named({TRANSFER}, function)
        found += [each for each in transfers if _extract(each, cache)]
    if found:
        message = "the sharding of a transferred value changes, which may need communication"
        emit(warning(message, location_of(found[0].location)))


def _extract(transfer: ir.Operation, cache: AttributeCache) -> bool:
    """Whether the shardings of a transfer differed, until now."""
    source, target = transfer.operands[0], transfer.results[0]
    types = MeshTensorType(source.type), MeshTensorType(target.type)
    meshes = [mesh_in(topology(transfer), each.mesh_name).mesh for each in types]
    before, after = get_sharding(source), get_sharding(target)
    given = before or after
    if given is None or meshes[0] != meshes[1]:
        return False
    before, after = (each or given.fully_closed_like() for each in (before, after))
    if before == after:
        return False
    if types[0].is_on_host and types[1].is_on_host:
        message = f"a transfer between hosts can't change the sharding {before} to {after}"
        raise PassError(error(message, location_of(transfer.location)))
    shape, mesh = tuple(types[0].global_type.shape), meshes[0]
    is_smaller = _elements(before, shape, mesh) > _elements(after, shape, mesh)
    if types[1].is_on_host or (not types[0].is_on_host and is_smaller):
        _at_producer(transfer, before, after, cache)
    else:
        _at_consumers(transfer, before, after, cache)
    return True


def _elements(sharding: TensorSharding, shape: tuple[int, ...], mesh: Mesh) -> int:
    return math.prod(sharding.local_shape(shape, mesh))


def _at_producer(
    transfer: ir.Operation, before: TensorSharding, after: TensorSharding, cache: AttributeCache
) -> None:
    source = transfer.operands[0]
    made = producer(source, FRAGMENT)
    if made is None:
        with ir.InsertionPoint(transfer), transfer.location:
            transfer.operands[0] = _resharded(source, after, cache)
        return
    set_sharding(source, after, cache)
    if len(list(source.uses)) > 1:
        with ir.InsertionPoint.after(made), made.location:
            copy = _resharded(source, before, cache)
        source.replace_all_uses_except(copy, [copy.owner.operation, transfer])


def _at_consumers(
    transfer: ir.Operation, before: TensorSharding, after: TensorSharding, cache: AttributeCache
) -> None:
    target = transfer.results[0]
    set_sharding(target, before, cache)
    others: list[tuple[ir.Operation, int]] = []
    for use in target.uses:
        user = use.owner.operation
        if user.name == FRAGMENT:
            set_body_argument_shardings(user, {use.operand_number: before}, cache)
        else:
            others.append((user, use.operand_number))
    if others:
        with ir.InsertionPoint.after(transfer), transfer.location:
            copy = _resharded(target, after, cache)
        for user, index in others:
            user.operands[index] = copy


def _resharded(value: ir.Value, sharding: TensorSharding, cache: AttributeCache) -> ir.Value:
    """Build a fragment that returns a value with another sharding."""
    (copy,) = copies([value], MeshTensorType(value.type).mesh_name, _MARK)
    set_result_shardings_of(copy.owner.operation, {0: sharding}, cache)
    return copy
