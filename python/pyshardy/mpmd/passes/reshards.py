# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-extract-reshards-from-inter-mesh-transfers`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from mlir_sdy.attributes import AttributeCache
from mlir_sdy.diagnostics import PassError, emit, error, warning
from mlir_sdy.discardable import set_discardable
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import AxisRef, Mesh, TensorSharding
from mlir_sdy.mpmd.attributes import MeshTensorType
from mlir_sdy.mpmd.reading import FRAGMENT, TRANSFER, body_of, producer
from mlir_sdy.mpmd.verify import mesh_in
from mlir_sdy.sdy import ReshardOp
from mlir_sdy.values import (
    get_sharding,
    set_body_argument_shardings,
    set_result_shardings_of,
    set_sharding,
)
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE, HardwareOption
from pyshardy.cost.hardware import Hardware, load_hardware
from pyshardy.irtools.tensor_types import element_bytes
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.boxes import box_plan, transfer_seconds
from pyshardy.mpmd.options import Transfers
from pyshardy.mpmd.plan import BY_CONSUMERS, BY_PRODUCER, DIRECT, GATHERED, WAY, WAYS
from pyshardy.mpmd.rewriting.functions import mpmd_functions
from pyshardy.mpmd.rewriting.marks import copies, topology
from pyshardy.partition.resharding.cost import Reshard, reshard_cost
from pyshardy.pipeline import register_pass

_MARK = "extract_reshards"


@register_pass("mpmd-extract-reshards-from-inter-mesh-transfers", release="0.10.2")
def extract_reshards_from_inter_mesh_transfers(
    module: ir.Module,
    *,
    transfers: Transfers = "same-sharding",
    hardware: HardwareOption = DEFAULT_HARDWARE,
) -> None:
    """Change the sharding of a value before or after a transfer between equal meshes, not in it.

    The fragment that makes the value changes the sharding if the shards are smaller afterwards, or
    if the target is in the memory of the host. Otherwise, the fragments that use it do. Where there
    is none, and for other users of the value, a fragment is inserted.

    With `transfers=auto`, the estimated time decides between these two ways, none, and a third one:
    devices that need equal shards get a part of it each, and the fragments that use the value
    gather it. With `transfers=direct`, nothing changes. Both treat partial sums between equal
    meshes, and values in the memory of a host, as above.

    Raises:
        PassError: the value goes from memory of a host to that of a host; a sharding has an axis
            that the mesh hasn't; or partial sums go to another kind of mesh, with `auto` or
            `direct`.
        UsageError: there is no such hardware.
    """
    links = load_hardware(hardware)
    model = None if transfers == "same-sharding" else links
    attributes = AttributeCache(module.context)
    found: list[ir.Operation] = []
    for function in mpmd_functions(module):
        moved = operations_named({TRANSFER}, function)
        found += [each for each in moved if _extract(each, model, attributes, transfers)]
    if found and model is None:
        message = "Found a resharding transfer in the module. This may cause performance issues."
        emit(warning(message, location_of(found[0].location)))


def _extract(
    transfer: ir.Operation, hardware: Hardware | None, cache: AttributeCache, transfers: Transfers
) -> bool:
    """Whether the sharding of the value of a transfer now changes before or after it.

    Args:
        transfer: the transfer.
        hardware: the links of estimated times; None for equal shardings on equal meshes.
        cache: the attributes of shardings.
        transfers: see the pass.
    """
    ends = transfer.operands[0], transfer.results[0]
    source, target = (MeshTensorType(each.type) for each in ends)
    meshes = [mesh_in(topology(transfer), each.mesh_name).mesh for each in (source, target)]
    known = [get_sharding(each) for each in ends]
    given = known[0] or known[1]
    if given is None:
        if hardware is None:
            return False
        given = TensorSharding.fully_closed(source.global_type.rank, meshes[0])
    # The module may not declare a mesh that no sharding refers to.
    names = [given.mesh_or_ref] * 2 if meshes[0] == meshes[1] else meshes
    before, after = (
        each or given.fully_closed_like().with_mesh(name)
        for each, name in zip(known, names, strict=True)
    )
    for sharding, mesh, moved in zip((before, after), meshes, (source, target), strict=True):
        unknown = {axis.name for axis in sharding.all_axes()} - {axis.name for axis in mesh.axes}
        if unknown:
            message = (
                f"the sharding {sharding} has axes that mesh {moved.mesh_name} of the topology"
            )
            raise PassError(error(f"{message} hasn't: {mesh}", location_of(transfer.location)))
    is_plain = not (before.unreduced_axes or after.unreduced_axes)
    if hardware is not None and is_plain and not (source.is_on_host or target.is_on_host):
        if transfers == "direct":
            return False
        users = [use.owner.operation.name for use in ends[1].uses]
        move = OpenTransfer(
            tuple(source.global_type.shape),
            element_bytes(source.global_type),
            before,
            after,
            *meshes,
            users=len(users),
            is_gathered=set(users) == {FRAGMENT},
        )
        (_, way, moved), *others = ways = ways_of(move, hardware)
        if way != DIRECT:
            set_discardable(transfer, WAY, ir.StringAttr.get(way, transfer.context))
        if others:
            number = ir.F64Type.get(transfer.context)
            seconds = {name: each for each, name, _ in reversed(ways)}
            entries = {name: ir.FloatAttr.get(number, each) for name, each in seconds.items()}
            set_discardable(transfer, WAYS, ir.DictAttr.get(entries, transfer.context))
    elif meshes[0] != meshes[1] and not is_plain and hardware is not None:
        message = f"partial sums, sharded by {before}, can't go to a mesh of another shape"
        advice = f"{target.mesh_name}: reduce them on {source.mesh_name}"
        raise PassError(error(f"{message}, {advice}", location_of(transfer.location)))
    elif meshes[0] != meshes[1] or before == after:
        return False
    else:
        way, moved = _by_size(transfer, before, after)
    if way == BY_PRODUCER:
        _at_producer(transfer, before, after, cache)
    elif way != DIRECT:
        _at_consumers(transfer, moved, after, cache, gathers=way == GATHERED)
    return way in (BY_PRODUCER, BY_CONSUMERS)


@dataclass(frozen=True, slots=True)
class OpenTransfer:
    """A transfer whose way is open.

    Attributes:
        shape: the global shape.
        nbytes: the bytes of an element.
        before: the sharding of the value.
        after: the sharding in which it is used.
        source: the mesh of the value.
        target: the mesh that gets it.
        users: the number of uses.
        is_gathered: whether its users, fragments, may gather it.
    """

    shape: tuple[int, ...]
    nbytes: int
    before: TensorSharding
    after: TensorSharding
    source: Mesh
    target: Mesh
    users: int
    is_gathered: bool


@cache
def ways_of(move: OpenTransfer, hardware: Hardware) -> list[tuple[float, str, TensorSharding]]:
    """Return the ways with their times, the fastest one first.

    Each has the sharding of the transferred value on its new mesh.
    """
    before, after = move.before, move.after

    def sent(start: TensorSharding, end: TensorSharding) -> float:
        messages = box_plan(move.shape, start, move.source, end, move.target)
        return transfer_seconds(messages, move.nbytes, hardware.link_between_meshes)

    def changed(start: TensorSharding, end: TensorSharding, mesh: Mesh) -> float:
        axes = start.dim_axes, end.dim_axes
        return reshard_cost(Reshard(move.shape, move.nbytes, *axes, mesh), hardware)

    ways = [(sent(before, after), DIRECT, after)]
    if move.source == move.target and before != after:
        early = changed(before, after, move.source) + sent(after, after)
        late = sent(before, before) + move.users * changed(before, after, move.target)
        ways += [(early, BY_PRODUCER, after), (late, BY_CONSUMERS, before)]
    for each in _scattered(move) if move.is_gathered else ():
        seconds = sent(before, each) + move.users * changed(each, after, move.target)
        ways.append((seconds, GATHERED, each))
    return sorted(ways, key=lambda each: each[0])


def _scattered(move: OpenTransfer) -> Iterator[TensorSharding]:
    """Yield shardings along more axes: along all that are free, and along each of them.

    These shard the first dimension that they divide.
    """
    used = {axis.name for axes in move.after.dim_axes for axis in axes}
    free = [AxisRef(each.name) for each in move.target.axes if each.name not in used]
    for axes in ([free] if len(free) > 1 else []) + [[each] for each in free]:
        for dim, (size, own) in enumerate(zip(move.shape, move.after.dim_axes, strict=True)):
            if size and size % move.target.axes_size((*own, *axes)) == 0:
                dims = list(move.after.dim_axes)
                dims[dim] = *own, *axes
                yield TensorSharding.from_axes(move.after.mesh_or_ref, dims)
                break


def _by_size(
    transfer: ir.Operation, before: TensorSharding, after: TensorSharding
) -> tuple[str, TensorSharding]:
    """Return the way between equal meshes by the sizes of shards."""
    source, target = (
        MeshTensorType(each.type) for each in (transfer.operands[0], transfer.results[0])
    )
    if source.is_on_host and target.is_on_host:
        message = f"a transfer between hosts can't change the sharding {before} to {after}"
        raise PassError(error(message, location_of(transfer.location)))
    mesh, shape = (
        mesh_in(topology(transfer), source.mesh_name).mesh,
        tuple(source.global_type.shape),
    )
    sizes = [math.prod(each.local_shape(shape, mesh)) for each in (before, after)]
    if target.is_on_host or (not source.is_on_host and sizes[0] > sizes[1]):
        return BY_PRODUCER, after
    return BY_CONSUMERS, before


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
    transfer: ir.Operation,
    before: TensorSharding,
    after: TensorSharding,
    cache: AttributeCache,
    *,
    gathers: bool,
) -> None:
    """Change the sharding after a transfer.

    Fragments that gather the value do so first, so that the rest of them doesn't change.
    """
    target = transfer.results[0]
    set_sharding(target, before, cache)
    others: list[tuple[ir.Operation, int]] = []
    for use in target.uses:
        user = use.owner.operation
        if user.name == FRAGMENT:
            set_body_argument_shardings(user, {use.operand_number: before}, cache)
            if gathers:
                argument = body_of(user).arguments[use.operand_number]
                with ir.InsertionPoint.at_block_begin(body_of(user)), transfer.location:
                    whole = ReshardOp(argument, cache[after.closed_like()])
                argument.replace_all_uses_except(whole.result, whole.operation)
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
