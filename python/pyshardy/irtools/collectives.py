# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Channel ids of StableHLO collectives, and meshes in their `replica_groups`."""

from __future__ import annotations

from collections.abc import Iterable

from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of, stablehlo
from mlir_sdy.model import Mesh, MeshAxis, ModelError
from pyshardy.irtools.stablehlo_views import COLLECTIVES, CollectiveView
from pyshardy.irtools.walks import operations_named

COLLECTIVES_WITH_GROUPS = (
    "stablehlo.all_gather",
    "stablehlo.all_reduce",
    "stablehlo.reduce_scatter",
    "stablehlo.all_to_all",
    "stablehlo.collective_broadcast",
)
"""The operations whose groups may be given by axes of a mesh."""

_WITH_CHANNELS = COLLECTIVES | {"stablehlo.recv", "stablehlo.send"}
"""The operations that may have a channel."""


def mesh_of_groups(collective: ir.Operation) -> str | Mesh | None:
    """Return the mesh along whose axes a collective communicates, or its name; None if it has none.

    Raises:
        PassError: the mesh in the attribute is invalid.
    """
    # The bindings return attributes of StableHLO as plain attributes, so `isinstance` does not
    # distinguish them.
    attribute = CollectiveView(collective).replica_groups
    if not stablehlo.ReplicaGroupMeshAxesAttr.isinstance(attribute):
        return None
    mesh_or_name = stablehlo.ReplicaGroupMeshAxesAttr(attribute).mesh
    if isinstance(mesh_or_name, ir.FlatSymbolRefAttr):
        return mesh_or_name.value
    mesh = stablehlo.MeshAttr(mesh_or_name)
    axes = map(stablehlo.MeshAxisAttr, mesh.axes)
    ids = None if mesh.device_ids is None else ir.DenseIntElementsAttr(mesh.device_ids)
    try:
        return Mesh(
            tuple(MeshAxis(axis.name, axis.size) for axis in axes),
            () if ids is None else tuple(ids[index] for index in range(len(ids))),
        )
    except ModelError as reason:
        message = f"'{collective.name}' op the mesh of its replica_groups is invalid: {reason}"
        raise PassError(error(message, location_of(collective.location))) from None


def name_mesh_of_groups(collective: ir.Operation, name: str) -> None:
    """Make the mesh axes of a collective's groups refer to a mesh by its name."""
    _set_mesh_of_groups(collective, ir.FlatSymbolRefAttr.get(name, collective.context))


def inline_mesh_of_groups(collective: ir.Operation, mesh: Mesh) -> None:
    """Replace the mesh name in a collective's groups by the mesh."""
    _set_mesh_of_groups(collective, _mesh_attribute(mesh, collective.context))


def groups_along(
    mesh_or_name: str | Mesh, axes: Iterable[str], context: ir.Context
) -> ir.Attribute:
    """Return the `replica_groups` of a collective along full axes of a mesh."""
    if isinstance(mesh_or_name, str):
        mesh: ir.Attribute = ir.FlatSymbolRefAttr.get(mesh_or_name, context)
    else:
        mesh = _mesh_attribute(mesh_or_name, context)
    refs = [stablehlo.AxisRefAttr.get(axis, context=context) for axis in axes]
    groups = ir.ArrayAttr.get(refs, context)
    return stablehlo.ReplicaGroupMeshAxesAttr.get(mesh, groups, context)


def _mesh_attribute(mesh: Mesh, context: ir.Context) -> ir.Attribute:
    axes = [stablehlo.MeshAxisAttr.get(axis.name, axis.size, context) for axis in mesh.axes]
    device_ids = None
    if mesh.device_ids:
        ids = list(mesh.device_ids)
        device_ids = ir.Attribute.parse(f"dense<{ids}> : tensor<{len(ids)}xi64>", context)
    return stablehlo.MeshAttr.get(ir.ArrayAttr.get(axes, context), device_ids, context)


def _set_mesh_of_groups(collective: ir.Operation, mesh_or_name: ir.Attribute) -> None:
    view = CollectiveView(collective)
    groups = stablehlo.ReplicaGroupMeshAxesAttr(view.replica_groups)
    view.replica_groups = stablehlo.ReplicaGroupMeshAxesAttr.get(mesh_or_name, groups.axes)


# --- Channels ------------------------------------------------------------------------------------


def channel_of(operation: ir.Operation) -> int:
    """Return the channel id of a collective; 0 for operations without a channel."""
    try:
        channel = CollectiveView(operation).channel_handle
    except ValueError:
        return 0  # an unrelated attribute of another operation
    return 0 if channel is None else channel.handle


def set_channel(operation: ir.Operation, channel: int) -> None:
    """Set the channel id of a collective with a channel; its sign is kept.

    A collective without a channel is not changed.
    """
    collective = CollectiveView(operation)
    old = collective.channel_handle
    if old is None:
        return
    channel = -channel if old.handle < 0 else channel
    collective.channel_handle = stablehlo.ChannelHandle.get(
        channel, old.channel_type, operation.context
    )


def first_free_channel(module: ir.Module) -> int:
    """Return the least positive channel id above the absolute values of all ids in use."""
    channels = map(channel_of, operations_named(_WITH_CHANNELS, module))
    return 1 + max(map(abs, channels), default=0)


def with_channels_from(root: ir.Module | ir.Operation, least: int) -> list[ir.Operation]:
    """Return the collectives with channel ids of at least `least`, regardless of the sign."""
    found = operations_named(_WITH_CHANNELS, root)
    return [operation for operation in found if abs(channel_of(operation)) >= least]


def renumber_channels(operations: Iterable[ir.Operation], first: int) -> int:
    """Number the channels of operations from `first` on; return the next free id."""
    for operation in operations:
        if channel_of(operation):
            set_channel(operation, first)
            first += 1
    return first
