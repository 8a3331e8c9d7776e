# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builder of the StableHLO of one device: device ids, tables, offsets, replica groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import current_context, ir, location_of, stablehlo
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
from pyshardy.irtools.defining_ops import defining_operation
from pyshardy.irtools.replica_groups import groups_along
from pyshardy.partition.op_facts.device_meshes import device_mesh_of
from pyshardy.partition.op_facts.neutral_elements import neutral_elements

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


class LocalBuilder:
    """Builds StableHLO operations before the operation that is being converted.

    Args:
        meshes: the meshes of the module, by name.
        replicas: whether devices are the replicas of one program rather than its partitions.
        first_channel: the first channel id that collectives of the module may use.
        per_dim_all_gather: whether to gather one dimension after the other.
        combined_reduce_scatter: whether to reduce and scatter several dimensions at once.
        groups_by_axes: whether replica groups along full axes are written as axes, if the mesh has
            no device ids, as XLA assumes ids from 0 on for these.
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
    ):
        self.meshes = meshes
        self.replicas = replicas
        self.per_dim_all_gather = per_dim_all_gather
        self.combined_reduce_scatter = combined_reduce_scatter
        self.groups_by_axes = groups_by_axes
        self._names = {mesh: name for name, mesh in meshes.items()}
        self._next_channel = first_channel
        # Reused across layers of a model.
        self._shards_along: dict[tuple[Mesh, AxisTuple], np.ndarray] = {}
        self._groups_along: dict[tuple[Mesh, AxisTuple], ir.Attribute] = {}

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

    def create(
        self,
        name: str,
        operands: Sequence[ir.Value],
        results: Sequence[ir.Type],
        attributes: Mapping[str, ir.Attribute] | None = None,
        *,
        regions: int = 0,
    ) -> ir.Operation:
        """Build an operation at the insertion point."""
        return ir.Operation.create(
            name,
            results=list(results),
            operands=list(operands),
            attributes=dict(attributes or {}),
            regions=regions,
        )

    def constant(self, values: np.ndarray) -> ir.Value:
        """Build a constant with the values of an array."""
        literal = ir.DenseElementsAttr.get(values)
        return self.create("stablehlo.constant", (), (literal.type,), {"value": literal}).result

    def index(self, value: int) -> ir.Value:
        """Build a scalar constant of type i64."""
        return self.constant(np.array(value, np.int64))

    def empty(self, tensor: ir.Type) -> ir.Value:
        """Build a constant of a type that has dimensions of size 0."""
        literal = ir.Attribute.parse(f"dense<> : {tensor}")
        return self.create("stablehlo.constant", (), (tensor,), {"value": literal}).result

    def additive_identity(self, tensor: ir.RankedTensorType) -> ir.Value:
        """Build a constant of the additive identity; see `identity`."""
        return self.identity(tensor, ReductionOp.SUM)

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
        return self.create("stablehlo.constant", (), (tensor,), {"value": literal}).result

    def equals(self, left: ir.Value, right: ir.Value) -> ir.Value:
        """Build a comparison for equality of two scalars."""
        boolean = ir.RankedTensorType.get([], ir.IntegerType.get_signless(1))
        equal = ir.Attribute.parse("#stablehlo<comparison_direction EQ>")
        direction = {"comparison_direction": equal}
        return self.create("stablehlo.compare", (left, right), (boolean,), direction).result

    def device_id(self) -> ir.Value:
        """Build the id of the device that runs the program, an i64 scalar."""
        name = "stablehlo.replica_id" if self.replicas else "stablehlo.partition_id"
        scalar = ir.RankedTensorType.get([], ir.IntegerType.get_unsigned(32))
        device = self.create(name, (), (scalar,)).result
        return self.create("stablehlo.convert", (device,), (self._scalar_index_type(),)).result

    def per_device(self, values: Sequence[int] | np.ndarray) -> ir.Value:
        """Build the entry of `values` for the device that runs the program, an i64 scalar."""
        table = self.constant(np.array(values, np.int64))
        one = ir.DenseI64ArrayAttr.get([1])
        entry_type = ir.RankedTensorType.get([1], ir.IntegerType.get_signless(64))
        entry = self.create(
            "stablehlo.dynamic_slice",
            (table, self.device_id()),
            (entry_type,),
            {"slice_sizes": one},
        ).result
        return self.create("stablehlo.reshape", (entry,), (self._scalar_index_type(),)).result

    def _scalar_index_type(self) -> ir.Type:
        return ir.RankedTensorType.get([], ir.IntegerType.get_signless(64))

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
        """Return the index of each device's shard along some axes, by device id."""
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
        return self.dynamic_slice(value, starts, sizes)

    def dynamic_slice(
        self, value: ir.Value, starts: Sequence[ir.Value], sizes: Sequence[int]
    ) -> ir.Value:
        """Build a dynamic slice that is within bounds.

        If the operand is a dynamic slice that may begin out of bounds, a barrier separates both:
        XLA would add the starts of both, and clamp only their sum.
        """
        if may_begin_out_of_bounds(value):
            (value,) = self.optimization_barrier([value])
        result = ir.RankedTensorType.get(list(sizes), ir.RankedTensorType(value.type).element_type)
        attributes = {"slice_sizes": ir.DenseI64ArrayAttr.get(list(sizes))}
        return self.create(
            "stablehlo.dynamic_slice", (value, *starts), (result,), attributes
        ).result

    def optimization_barrier(self, values: Sequence[ir.Value]) -> list[ir.Value]:
        """Build a barrier after values, so that they aren't merged with their definitions."""
        types = [value.type for value in values]
        return list(self.create("stablehlo.optimization_barrier", values, types).results)

    def slice_prefix(self, value: ir.Value, shape: Sequence[int]) -> ir.Value:
        """Build a slice of the beginning of each dimension."""
        tensor = ir.RankedTensorType(value.type)
        if tensor.shape == list(shape):
            return value
        bounds = {
            "start_indices": [0] * len(shape),
            "limit_indices": list(shape),
            "strides": [1] * len(shape),
        }
        attributes = {name: ir.DenseI64ArrayAttr.get(values) for name, values in bounds.items()}
        result = ir.RankedTensorType.get(list(shape), tensor.element_type)
        return self.create("stablehlo.slice", (value,), (result,), attributes).result

    def with_shape(self, value: ir.Value, shape: Sequence[int]) -> ir.Value:
        """Build a reshape to a shape."""
        element_type = ir.RankedTensorType(value.type).element_type
        result = ir.RankedTensorType.get(list(shape), element_type)
        return self.create("stablehlo.reshape", (value,), (result,)).result

    def transpose(self, value: ir.Value, permutation: Sequence[int]) -> ir.Value:
        """Build a transpose."""
        tensor = ir.RankedTensorType(value.type)
        result = ir.RankedTensorType.get(
            [tensor.shape[dim] for dim in permutation], tensor.element_type
        )
        attributes = {"permutation": ir.DenseI64ArrayAttr.get(list(permutation))}
        return self.create("stablehlo.transpose", (value,), (result,), attributes).result

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
        has_whole_axes = all(axis.sub_axis_info is None for axis in axes)
        if self.groups_by_axes and has_whole_axes and not mesh.device_ids:
            names = [axis.name for axis in axes]
            return groups_along(self._names.get(mesh, mesh), names, current_context())
        key = mesh, tuple(axes)
        known = self._groups_along.get(key)
        if known is None:
            groups = np.array(replica_groups(mesh, axes), np.int64)
            known = self._groups_along[key] = ir.DenseElementsAttr.get(groups)
        return known

    def channel_attributes(self) -> dict[str, ir.Attribute]:
        """Return a new channel for a collective; a negative one between replicas.

        In StableHLO, a positive channel means that ids are those of partitions. The number
        distinguishes the collective from others that are in progress on other devices.
        """
        channel = -self._next_channel if self.replicas else self._next_channel
        self._next_channel += 1
        return {"channel_handle": stablehlo.ChannelHandle.get(channel, _DEVICE_TO_DEVICE)}

    def all_gather(
        self, value: ir.Value, dim: int, axes: Sequence[AxisRef], mesh: Mesh
    ) -> ir.Value:
        """Build an all-gather along one dimension."""
        tensor = ir.RankedTensorType(value.type)
        shape = list(tensor.shape)
        shape[dim] *= mesh.axes_size(axes)
        return self.create(
            "stablehlo.all_gather",
            (value,),
            (ir.RankedTensorType.get(shape, tensor.element_type),),
            {
                "all_gather_dim": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), dim),
                **self.group_attributes(mesh, axes, flattened_ids=True),
            },
        ).result

    def all_to_all(
        self, value: ir.Value, split: int, concat: int, axes: Sequence[AxisRef], mesh: Mesh
    ) -> ir.Value:
        """Exchange equal parts of dimension `split`, and concatenate them along `concat`."""
        integer = ir.IntegerType.get_signless(64)
        count = mesh.axes_size(axes)
        tensor = ir.RankedTensorType(value.type)
        shape = list(tensor.shape)
        shape[split] //= count
        shape[concat] *= count
        return self.create(
            "stablehlo.all_to_all",
            (value,),
            (ir.RankedTensorType.get(shape, tensor.element_type),),
            {
                "split_dimension": ir.IntegerAttr.get(integer, split),
                "concat_dimension": ir.IntegerAttr.get(integer, concat),
                "split_count": ir.IntegerAttr.get(integer, count),
                **self.group_attributes(mesh, axes, flattened_ids=False),
            },
        ).result

    def all_reduce(
        self, value: ir.Value, operation: str, axes: Sequence[AxisRef], mesh: Mesh
    ) -> ir.Value:
        """Build a reduction of the values of all devices along some axes."""
        if not axes:
            return value
        attributes = self.group_attributes(mesh, axes, flattened_ids=True)
        reduced = self.create(
            "stablehlo.all_reduce", (value,), (value.type,), attributes, regions=1
        )
        self.fill_body(reduced.regions[0], ir.RankedTensorType(value.type).element_type, operation)
        return reduced.result

    def fill_body(self, region: ir.Region, element_type: ir.Type, operation: str) -> None:
        """Fill the body of a reduction: one operation on two scalars."""
        scalar = ir.RankedTensorType.get([], element_type)
        location = ir.Location.current
        block = region.blocks.append(scalar, scalar, arg_locs=[location, location])
        with ir.InsertionPoint(block):
            result = self.create(operation, list(block.arguments), (scalar,)).result
            self.create("stablehlo.return", (result,), ())
