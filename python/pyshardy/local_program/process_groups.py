# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The process groups of a collective.

A program runs as R x P *processes*: R replicas of P partitions each. The number of a process is
`replica * P + partition`. The meaning of the ids in the groups of a collective depends on the
operation, on its channel and on `use_global_device_ids`, as in StableHLO's specification:

| strategy          | an id is    | process groups                                              |
|-------------------|-------------|-------------------------------------------------------------|
| across replicas   | a replica   | the replicas, once for each partition                       |
| across partitions | a partition | the partitions, once for each replica                       |
| across both       | a replica   | all partitions of the replicas, partitions first            |
| flattened ids     | a process   | the processes                                               |
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlir_sdy.diagnostics import error
from mlir_sdy.host import ir, location_of, stablehlo
from mlir_sdy.model import AxisRef, Mesh, MeshAxis, SubAxisInfo, replica_groups
from mlir_sdy.symbols import enclosing_module, meshes_of
from pyshardy.irtools.stablehlo_views import CollectiveView, CustomCallView
from pyshardy.local_program.errors import ExecutionError

Groups = tuple[tuple[int, ...], ...]

_REDUCING = ("stablehlo.all_gather", "stablehlo.all_reduce", "stablehlo.reduce_scatter")


@dataclass(frozen=True, slots=True)
class Layout:
    """The numbers of replicas and partitions that run a program."""

    replicas: int
    partitions: int

    @property
    def size(self) -> int:
        """The number of processes."""
        return self.replicas * self.partitions

    def process(self, replica: int, partition: int) -> int:
        """Return the number of a process."""
        return replica * self.partitions + partition

    def across_replicas(self, groups: Iterable[Sequence[int]]) -> Groups:
        """Return the groups of processes for groups of replicas."""
        return tuple(
            tuple(self.process(replica, partition) for replica in group)
            for group in groups
            for partition in range(self.partitions)
        )

    def across_partitions(self, groups: Iterable[Sequence[int]]) -> Groups:
        """Return the groups of processes for groups of partitions."""
        return tuple(
            tuple(self.process(replica, partition) for partition in group)
            for group in groups
            for replica in range(self.replicas)
        )

    def across_both(self, groups: Iterable[Sequence[int]]) -> Groups:
        """Return the groups of processes for groups of replicas that include all partitions."""
        return tuple(
            tuple(
                self.process(replica, partition)
                for partition in range(self.partitions)
                for replica in group
            )
            for group in groups
        )


def process_groups(collective: ir.Operation, layout: Layout) -> Groups:
    """Return the process groups of a collective other than `collective_permute`.

    Raises:
        ExecutionError: a group has an invalid id, or a process occurs twice.
    """
    has_channel = _has_channel(collective)
    ids = _listed_groups(collective)
    if collective.name not in _REDUCING:
        return _checked(collective, layout, ids, across_partitions=has_channel)
    if CollectiveView(collective).use_global_device_ids:
        groups = ids or (tuple(range(layout.size)),)
        _check_ids(collective, groups, layout.size)
        return groups
    if not has_channel:
        return _checked(collective, layout, ids, across_partitions=False)
    groups = ids or (tuple(range(layout.replicas)),)
    _check_ids(collective, groups, layout.replicas)
    return layout.across_both(groups)


def process_groups_of_call(call: ir.Operation, layout: Layout) -> Groups:
    """Return the process groups in the configuration of a custom call that is a collective.

    Raises:
        ExecutionError: a group has an invalid id, or a process occurs twice.
    """
    given: Any = CustomCallView(call).backend_config
    config = ir.DictAttr(given)
    rows = np.array(config["replica_groups"]).tolist()
    has_channel = "channel_id" in config and config["channel_id"].value > 0
    return _checked(call, layout, tuple(map(tuple, rows)), across_partitions=has_channel)


def process_pairs(permute: ir.Operation, layout: Layout) -> tuple[tuple[int, int], ...]:
    """Return the pairs (source, target) of processes of a `collective_permute`.

    Raises:
        ExecutionError: a pair has an invalid id, or several pairs have the same target.
    """
    ids = np.array(CollectiveView(permute).source_target_pairs).reshape(-1, 2).tolist()
    has_channel = _has_channel(permute)
    for column in zip(*ids, strict=True):
        _check_ids(permute, [column], layout.partitions if has_channel else layout.replicas)
    pairs = layout.across_partitions(ids) if has_channel else layout.across_replicas(ids)
    return tuple((source, target) for source, target in pairs)


def _checked(
    collective: ir.Operation, layout: Layout, ids: Groups, *, across_partitions: bool
) -> Groups:
    count = layout.partitions if across_partitions else layout.replicas
    groups = ids or (tuple(range(count)),)
    _check_ids(collective, groups, count)
    return layout.across_partitions(groups) if across_partitions else layout.across_replicas(groups)


def _has_channel(collective: ir.Operation) -> bool:
    channel = CollectiveView(collective).channel_handle
    return channel is not None and channel.handle > 0


def _listed_groups(collective: ir.Operation) -> Groups:
    """Return the groups of the operation's attribute; an empty list means one group of all."""
    attribute = CollectiveView(collective).replica_groups.maybe_downcast()
    if not isinstance(attribute, ir.DenseElementsAttr):
        return _groups_along_axes(collective, stablehlo.ReplicaGroupMeshAxesAttr(attribute))
    rows = np.array(attribute).tolist()
    # Groups of different sizes are padded with -1.
    return tuple(tuple(member for member in row if member >= 0) for row in rows if row)


def _groups_along_axes(
    collective: ir.Operation, attribute: stablehlo.ReplicaGroupMeshAxesAttr
) -> Groups:
    name = attribute.mesh.maybe_downcast()
    if isinstance(name, ir.FlatSymbolRefAttr):
        module = enclosing_module(collective)
        assert module is not None, "the verifier of StableHLO looks for the mesh"
        mesh = meshes_of(module)[name.value]
    else:
        mesh = _inlined_mesh(stablehlo.MeshAttr(attribute.mesh))
    refs = (_axis_ref(stablehlo.AxisRefAttr(ref)) for ref in attribute.axes)
    return replica_groups(mesh, refs)


def _inlined_mesh(inlined: stablehlo.MeshAttr) -> Mesh:
    axes = [stablehlo.MeshAxisAttr(axis) for axis in inlined.axes]
    ids = () if inlined.device_ids is None else tuple(np.array(inlined.device_ids).tolist())
    return Mesh(tuple(MeshAxis(axis.name, axis.size) for axis in axes), ids)


def _axis_ref(attribute: stablehlo.AxisRefAttr) -> AxisRef:
    if attribute.sub_axis_info is None:
        return AxisRef(attribute.name)
    info = stablehlo.SubAxisInfoAttr(attribute.sub_axis_info)
    return AxisRef(attribute.name, SubAxisInfo(info.pre_size, info.size))


def _check_ids(collective: ir.Operation, groups: Iterable[Sequence[int]], count: int) -> None:
    seen: set[int] = set()
    for member in (member for group in groups for member in group):
        if member in seen or not 0 <= member < count:
            fault = "occurs twice" if member in seen else f"is out of range of {count} devices"
            message = f"device {member} in '{collective.name}' {fault}"
            raise ExecutionError(error(message, location_of(collective.location)))
        seen.add(member)
