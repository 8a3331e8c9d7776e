# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builder of the StableHLO of one device: device ids, tables, offsets, replica groups."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence

from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import current_context, ir, location_of, stablehlo
from mlir_sdy.late_numpy import np
from mlir_sdy.model import (
    AxisRef,
    AxisTuple,
    Mesh,
    ReductionOp,
    TensorSharding,
    mesh_of,
    replica_groups,
    shard_indices,
)
from mlir_sdy.uses import defining_operation
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE
from pyshardy.cost.hardware import Hardware, load_hardware
from pyshardy.irtools.collectives import groups_along
from pyshardy.irtools.stablehlo_builder import StablehloBuilder, i64_attribute
from pyshardy.irtools.tensor_types import element_type_of, shape_of, with_shape
from pyshardy.partition.types.neutral_elements import neutral_elements
from pyshardy.partition.types.one_mesh import device_mesh_of

_DEVICE_TO_DEVICE = 1
"""The type of a channel between devices."""

REDUCTION_OPERATIONS = {
    ReductionOp.SUM: "stablehlo.add",
    ReductionOp.MAX: "stablehlo.maximum",
    ReductionOp.MIN: "stablehlo.minimum",
}
"""The operation of each kind of reduction."""


def axes_of(sharding: TensorSharding | None, dim: int) -> AxisTuple:
    """Return the axes of a dimension; none if the tensor has no sharding."""
    return () if sharding is None else sharding.dim_axes[dim]


_WITHIN_BOUNDS = frozenset({"sdy.constant", "stablehlo.constant", "stablehlo.clamp"})


def may_begin_out_of_bounds(value: ir.Value) -> bool:
    """Whether a value is a dynamic slice whose start is neither clamped nor that of a shard."""
    producer = defining_operation(value)
    if producer is None or producer.name != "stablehlo.dynamic_slice":
        return False
    return any(
        not _is_within_bounds(producer.operands[index])
        for index in range(1, len(producer.operands))
    )


def _is_within_bounds(start: ir.Value) -> bool:
    """Whether a start is a constant, clamped, or the entry of a table that `per_device` builds."""
    producer = defining_operation(start)
    if producer is not None and producer.name == "stablehlo.reshape":
        entry = defining_operation(producer.operands[0])
        if entry is not None and entry.name == "stablehlo.dynamic_slice":
            producer = defining_operation(entry.operands[0])
    return producer is not None and producer.name in _WITHIN_BOUNDS


class LocalBuilder(StablehloBuilder):
    """Builds the StableHLO of one device, before the operation that is being converted.

    Indices and what depends on the device alone are built once for each block, at its start.

    Args:
        meshes: the meshes of the module, by name.
        replicas: whether devices are the replicas of one program rather than its partitions.
        first_channel: the first channel id that collectives of the module may use.
        per_dim_all_gather: whether to gather one dimension after the other.
        combined_reduce_scatter: whether to reduce and scatter several dimensions at once.
        groups_by_axes: whether replica groups along full axes are written as axes, if the mesh has
            no device ids, as XLA assumes ids from 0 on for these.
        hardware: the devices and links that costs are for; by default those of the default preset.
    """

    def __init__(
        self,
        meshes: Mapping[str, Mesh],
        *,
        replicas: bool = False,
        first_channel: int = 1,
        per_dim_all_gather: bool = False,
        combined_reduce_scatter: bool = False,
        groups_by_axes: bool = False,
        hardware: Hardware | None = None,
    ):
        super().__init__()
        self.meshes = meshes
        self.replicas = replicas
        self.per_dim_all_gather = per_dim_all_gather
        self.combined_reduce_scatter = combined_reduce_scatter
        self.groups_by_axes = groups_by_axes
        self.hardware = hardware or load_hardware(DEFAULT_HARDWARE)
        self._names = {mesh: name for name, mesh in meshes.items()}
        self._next_channel = first_channel
        # Reused across layers of a model.
        self._shards_along: dict[tuple[Mesh, AxisTuple], np.ndarray] = {}
        self._groups_along: dict[tuple[Mesh, AxisTuple], ir.Attribute] = {}
        self._shared: dict[ir.Block, dict[Hashable, ir.Value]] = {}

    def mesh_of(self, sharding: TensorSharding) -> Mesh:
        """Return the mesh of a sharding of the module, which is verified to exist."""
        mesh = mesh_of(sharding, self.meshes)
        assert mesh is not None, "the verifier refuses shardings without a mesh"
        return mesh

    def device_mesh_of(self, operation: ir.Operation) -> Mesh | None:
        """Return the mesh whose devices run the function of an operation; None if there is none."""
        name = device_mesh_of(operation, self.meshes)
        return None if name is None else self.meshes[name]

    # --- Operations -------------------------------------------------------------------------

    def identity(self, tensor: ir.RankedTensorType, kind: ReductionOp) -> ir.Value:
        """Build a constant of the neutral element of a reduction.

        Raises:
            PassError: the type has no such element.
        """
        literal = neutral_elements(REDUCTION_OPERATIONS[kind], tensor)
        if literal is None:
            raise PassError(
                error(
                    f"cannot make {tensor} unreduced: its element type has no identity of "
                    f"'{REDUCTION_OPERATIONS[kind]}'",
                    location_of(ir.Location.current),
                )
            )
        return self.literal(literal)

    def once_in_block(self, key: Hashable, build: Callable[[], ir.Value]) -> ir.Value:
        """Build a value that depends on the key and the device alone, unless the block has it."""
        block = ir.InsertionPoint.current.block
        shared = self._shared.setdefault(block, {})
        value = shared.get(key)
        if value is None:
            # In the order in which they are built, so that they may depend on each other.
            last = next(reversed(shared.values()), None)
            place = (
                ir.InsertionPoint.at_block_begin(block)
                if last is None
                else ir.InsertionPoint.after(last.owner.operation)
            )
            with place:
                value = shared[key] = build()
        return value

    def forget(self, block: ir.Block) -> None:
        """Drop what was built in a block that is about to be erased."""
        self._shared.pop(block, None)

    def index(self, value: int) -> ir.Value:
        """Build a scalar constant of type i64."""
        return self.once_in_block(value, lambda: super(LocalBuilder, self).index(value))

    def device_id(self) -> ir.Value:
        """Build the id of the device that runs the program, an i64 scalar."""
        return self.once_in_block("device_id", self._device_id)

    def _device_id(self) -> ir.Value:
        name = "stablehlo.replica_id" if self.replicas else "stablehlo.partition_id"
        scalar = ir.RankedTensorType.get([], ir.IntegerType.get_unsigned(32))
        device = self.create(name, (), (scalar,)).result
        return self.convert(device, ir.IntegerType.get_signless(64))

    def per_device(self, values: Sequence[int] | np.ndarray) -> ir.Value:
        """Build the entry of `values` for the device that runs the program, an i64 scalar."""
        entries = np.array(values, np.int64)

        def build() -> ir.Value:
            row = self.dynamic_slice(self.constant(entries), [device], [1])
            return self.reshape(row, ())

        device = self.device_id()
        return self.once_in_block(entries.tobytes(), build)

    # --- Shards -----------------------------------------------------------------------------

    def offset(self, mesh: Mesh, axes: Sequence[AxisRef], shard_size: int) -> ir.Value:
        """Build the start of the device's shard of a dimension: its index times the shard size."""
        if not axes:
            return self.index(0)
        return self.per_device(self._shards(mesh, tuple(axes)) * shard_size)

    def per_shard(
        self, mesh: Mesh, axes: AxisTuple, value_of_shard: Callable[[int], int]
    ) -> ir.Value:
        """Build the number that a function returns for the index of the device's shard (i64)."""
        shards = self._shards(mesh, axes)
        return self.per_device(np.array([value_of_shard(int(shard)) for shard in shards]))

    def _shards(self, mesh: Mesh, axes: AxisTuple) -> np.ndarray:
        """Return the index of each device's shard along the axes, by device id."""
        known = self._shards_along.get((mesh, axes))
        if known is None:
            held = dict(zip(mesh.devices, shard_indices(mesh, axes), strict=True))
            by_device = [held[device] for device in range(mesh.total_size)]
            known = self._shards_along[mesh, axes] = np.array(by_device, np.int64)
        return known

    def slice_shard(
        self, value: ir.Value, mesh: Mesh, axes_per_dim: Sequence[Sequence[AxisRef]]
    ) -> ir.Value:
        """Build the device's slice of a tensor along further axes for each dimension."""
        tensor = ir.RankedTensorType(value.type)
        sizes = [
            size // mesh.axes_size(axes)
            for size, axes in zip(tensor.shape, axes_per_dim, strict=True)
        ]
        starts = [
            self.offset(mesh, axes, size) for axes, size in zip(axes_per_dim, sizes, strict=True)
        ]
        return self.slice_within_bounds(value, starts, sizes)

    def slice_within_bounds(
        self, value: ir.Value, starts: Sequence[ir.Value], sizes: Sequence[int]
    ) -> ir.Value:
        """Build a dynamic slice that is within bounds.

        If the operand is a dynamic slice that may begin out of bounds, a barrier separates both:
        XLA would add the starts of both, and clamp only their sum.
        """
        if may_begin_out_of_bounds(value):
            (value,) = self.optimization_barrier([value])
        return self.dynamic_slice(value, starts, sizes)

    # --- Collectives ------------------------------------------------------------------------

    def group_attributes(
        self, mesh: Mesh, axes: Sequence[AxisRef], *, flattened_ids: bool
    ) -> dict[str, ir.Attribute]:
        """Return the attributes of the replica groups over `axes`, with device ids as members.

        Args:
            mesh: the mesh of the axes.
            axes: the axes within a group; the first one varies slowest.
            flattened_ids: whether the collective has `use_global_device_ids`.
        """
        attributes = {"replica_groups": self._groups(mesh, axes), **self.channel_attributes()}
        if flattened_ids and not self.replicas:
            attributes["use_global_device_ids"] = ir.UnitAttr.get()
        return attributes

    def _groups(self, mesh: Mesh, axes: Sequence[AxisRef]) -> ir.Attribute:
        has_full_axes = all(axis.sub_axis_info is None for axis in axes)
        if self.groups_by_axes and has_full_axes and not mesh.device_ids:
            names = [axis.name for axis in axes]
            return groups_along(self._names.get(mesh, mesh), names, current_context())
        key = mesh, tuple(axes)
        known = self._groups_along.get(key)
        if known is None:
            groups = np.array(replica_groups(mesh, axes), np.int64)
            known = self._groups_along[key] = ir.DenseElementsAttr.get(groups)
        return known

    def channel_attributes(self) -> dict[str, ir.Attribute]:
        """Return the attribute for a new channel."""
        return {"channel_handle": self.new_channel()}

    def new_channel(self) -> stablehlo.ChannelHandle:
        """Return a new channel for a collective; a negative one between replicas.

        In StableHLO, a positive channel means that ids are those of partitions. The number
        distinguishes the collective from others that are in progress on other devices.
        """
        channel = -self._next_channel if self.replicas else self._next_channel
        self._next_channel += 1
        return stablehlo.ChannelHandle.get(channel, _DEVICE_TO_DEVICE)

    def all_gather(
        self, value: ir.Value, dim: int, axes: Sequence[AxisRef], mesh: Mesh
    ) -> ir.Value:
        """Build an all-gather along one dimension."""
        shape = list(shape_of(value.type))
        shape[dim] *= mesh.axes_size(axes)
        attributes = {
            "all_gather_dim": i64_attribute(dim),
            **self.group_attributes(mesh, axes, flattened_ids=True),
        }
        result = with_shape(value.type, shape)
        return self.create("stablehlo.all_gather", (value,), (result,), attributes).result

    def all_to_all(
        self, value: ir.Value, split: int, concat: int, axes: Sequence[AxisRef], mesh: Mesh
    ) -> ir.Value:
        """Exchange equal parts of dimension `split`, and concatenate them along `concat`."""
        count = mesh.axes_size(axes)
        shape = list(shape_of(value.type))
        shape[split] //= count
        shape[concat] *= count
        attributes = {
            "split_dimension": i64_attribute(split),
            "concat_dimension": i64_attribute(concat),
            "split_count": i64_attribute(count),
            **self.group_attributes(mesh, axes, flattened_ids=False),
        }
        result = with_shape(value.type, shape)
        return self.create("stablehlo.all_to_all", (value,), (result,), attributes).result

    def all_reduce(
        self, value: ir.Value, operation: str, axes: Sequence[AxisRef], mesh: Mesh
    ) -> ir.Value:
        """Build a reduction of the values of all devices along some axes."""
        if not axes:
            return value
        attributes = self.group_attributes(mesh, axes, flattened_ids=True)
        return self._reduced("stablehlo.all_reduce", value, value.type, operation, attributes)

    def reduce_scatter(
        self, value: ir.Value, dim: int, operation: str, axes: Sequence[AxisRef], mesh: Mesh
    ) -> ir.Value:
        """Build a reduction along axes, of which each device gets a part of a dimension."""
        shape = list(shape_of(value.type))
        shape[dim] //= mesh.axes_size(axes)
        attributes = {
            "scatter_dimension": i64_attribute(dim),
            **self.group_attributes(mesh, axes, flattened_ids=True),
        }
        result = with_shape(value.type, shape)
        return self._reduced("stablehlo.reduce_scatter", value, result, operation, attributes)

    def _reduced(
        self,
        name: str,
        value: ir.Value,
        result: ir.Type,
        operation: str,
        attributes: Mapping[str, ir.Attribute],
    ) -> ir.Value:
        reduced = self.create(name, (value,), (result,), attributes, regions=1)
        self.fill_body(reduced.regions[0], element_type_of(value.type), operation)
        return reduced.result

    def collective_permute(
        self, value: ir.Value, pairs: Sequence[Sequence[int]] | np.ndarray
    ) -> ir.Value:
        """Build a permute of (source, target) devices; other targets receive zeros."""
        attributes = {
            "source_target_pairs": ir.DenseElementsAttr.get(np.array(pairs, np.int64)),
            **self.channel_attributes(),
        }
        name = "stablehlo.collective_permute"
        return self.create(name, (value,), (value.type,), attributes).result
