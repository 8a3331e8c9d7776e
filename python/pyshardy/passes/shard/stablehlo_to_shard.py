# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `stablehlo-to-shard`: convert collectives of a local program to the shard dialect.

1. The grid is the one with the fewest axes such that all groups are along axes, or as many as
   possible.
2. Collectives whose groups are not along axes gather along the axes that contain their members.
   So do permutations and broadcasts.
3. The id of the device becomes its linear index.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce
from typing import Any

import numpy as np

from mlir_sdy.diagnostics import PassError
from mlir_sdy.host import ir
from mlir_sdy.shard import building
from mlir_sdy.shard.values import Axes, Grid, ReductionKind
from mlir_sdy.traversal import operations_in
from mlir_sdy.uses import replace_by
from pyshardy.irtools.collectives import channel_of
from pyshardy.irtools.functions import FreshNames
from pyshardy.irtools.stablehlo_views import (
    COLLECTIVES,
    AllGatherView,
    AllToAllView,
    CollectiveView,
    ReduceScatterView,
)
from pyshardy.irtools.tensor_types import element_type_of, shape_of
from pyshardy.local_program.process_groups import Groups, Layout, process_groups, process_pairs
from pyshardy.local_program.segments import DEVICE_IDS
from pyshardy.partition.local.preconditions import check_no_inner_modules
from pyshardy.pipeline import register_pass
from pyshardy.pipeline.options import Natural
from pyshardy.shard.errors import refusal
from pyshardy.shard.lowering.builder import KINDS, GridBuilder
from pyshardy.shard.lowering.device_values import DeviceValues
from pyshardy.shard.refinement import Digit, axes_apart, axes_of_digits, digits_of, grid_for

_KINDS_OF_BOOLEANS = {
    **KINDS,
    "stablehlo.add": ReductionKind.BITWISE_OR,
    "stablehlo.maximum": ReductionKind.BITWISE_OR,
    "stablehlo.minimum": ReductionKind.BITWISE_AND,
    "stablehlo.multiply": ReductionKind.BITWISE_AND,
}


@register_pass("stablehlo-to-shard")
def stablehlo_to_shard(module: ir.Module, *, devices: Natural = 0) -> None:
    """Raise StableHLO collectives to the shard dialect.

    The inverse of `shard-to-stablehlo`, for local programs. The grid is inferred from the groups of
    devices: it has the coarsest axes by which all groups can be expressed.

    ```mlir
    %0 = "stablehlo.all_gather"(%a) {all_gather_dim = 0 : i64, replica_groups =
        dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, ...} : (tensor<2xf32>) -> tensor<4xf32>
    ```

    becomes

    ```mlir
    shard.grid @grid(shape = 2x2)
    %0 = shard.all_gather %a on @grid grid_axes = [0] gather_axis = 0
        : tensor<2xf32> -> tensor<4xf32>
    ```

    A `collective_permute` becomes an all-gather and a slice. So do collectives whose groups are not
    along axes of a grid, or not in their order, as on meshes with device ids.

    Options:
        devices: number of devices; 0 to count the devices in the groups.

    Raises:
        PassError: groups don't partition all devices evenly, or a reduction isn't of a known kind.
    """
    operations = [view.operation for view in operations_in(module.operation)][1:]
    check_no_inner_modules(operations)
    found = [op for op in operations if op.name in COLLECTIVES or op.name in DEVICE_IDS]
    if found:
        _Raising(module, found, devices or _devices_named(found)).run()


class _Raising:
    """One run of the pass."""

    def __init__(self, module: ir.Module, found: Sequence[ir.Operation], devices: int):
        self.module = module
        self.collectives = [op for op in found if op.name in COLLECTIVES]
        replicas = _are_replicas(found)
        self.layout = Layout(devices, 1) if replicas else Layout(1, devices)
        self.grid, self.axes = self._find_grid()
        self.name = FreshNames(module).name("grid")
        grids = {self.name: self.grid}
        self.builder = GridBuilder(grids, DeviceValues(grids), replicas=replicas, first_channel=1)

    def run(self) -> None:
        for operation in self.collectives:
            if operation.name in {"stablehlo.all_reduce", "stablehlo.reduce_scatter"}:
                self._kind(operation)  # checks the kind before anything changes
        with ir.InsertionPoint.at_block_begin(self.module.body), self.module.operation.location:
            building.grid(self.name, self.grid.shape)
        for number, operation in enumerate(self.collectives):
            with ir.InsertionPoint(operation), operation.location:
                if operation.name in _BY_PAIRS:
                    values = [self._taken(operation, operand) for operand in operation.operands]
                elif (axes := self.axes[number]) is not None:
                    values = self._along_axes(operation, axes)
                else:
                    groups = self._groups(operation)
                    values = _by_gathering(operation, groups, self.name, self.builder)
            replace_by(operation, *values)
        for view in list(operations_in(self.module.operation)):
            if view.operation.name in DEVICE_IDS:
                self._convert_id(view.operation)

    # --- The grid -----------------------------------------------------------------------------

    def _find_grid(self) -> tuple[Grid, dict[int, Axes | None]]:
        """Return a grid, and its axes along which the groups of each collective are, if any."""
        digits: dict[int, tuple[Digit, ...]] = {}
        grid = Grid((self.layout.size,))
        for number, operation in enumerate(self.collectives):
            own = None if operation.name in _BY_PAIRS else self._digits(operation)
            if own is not None:
                every = [digit for each in (*digits.values(), own) for digit in each]
                finer = grid_for(every, self.layout.size)
                if finer is not None:
                    grid, digits[number] = finer, own
        axes: dict[int, Axes | None] = dict.fromkeys(range(len(self.collectives)))
        for number, own in digits.items():
            found = axes_of_digits(own, grid)
            if sorted(grid.groups(found)) == sorted(self._groups(self.collectives[number])):
                axes[number] = found
        return grid, axes

    def _digits(self, operation: ir.Operation) -> tuple[Digit, ...] | None:
        """Return the digits through which all groups of a collective count; None if they don't."""
        groups = self._groups(operation)
        members = sorted(device for group in groups for device in group)
        if members != list(range(self.layout.size)) or len({*map(len, groups)}) != 1:
            raise _refusal(
                operation, f"its groups don't partition all devices evenly: {_shown(groups)}"
            )
        found = {digits_of(group) for group in groups}
        return found.pop() if len(found) == 1 else None

    def _groups(self, operation: ir.Operation) -> Groups:
        """Return the groups of a collective, sorted if the order of members doesn't matter."""
        groups = process_groups(operation, self.layout)
        if operation.name == "stablehlo.all_reduce":
            return tuple(tuple(sorted(group)) for group in groups)
        return groups

    # --- Collectives --------------------------------------------------------------------------

    def _along_axes(self, operation: ir.Operation, axes: Axes) -> list[ir.Value]:
        on: dict[str, Any] = {"grid": self.name, "grid_axes": axes}
        match operation.name:
            case "stablehlo.all_gather":
                dim = AllGatherView(operation).all_gather_dim
                build = partial(building.all_gather, gather_axis=dim, **on)
            case "stablehlo.all_to_all":
                view = AllToAllView(operation)
                split, concat = view.split_dimension, view.concat_dimension
                build = partial(building.all_to_all, split_axis=split, concat_axis=concat, **on)
            case "stablehlo.all_reduce":
                build = partial(building.all_reduce, reduction=self._kind(operation), **on)
            case _:
                dim, kind = ReduceScatterView(operation).scatter_dimension, self._kind(operation)
                build = partial(building.reduce_scatter, scatter_dim=dim, reduction=kind, **on)
        return [
            build(self.builder.convert(operand, element_type_of(result.type)))
            for operand, result in zip(operation.operands, operation.results, strict=True)
        ]

    def _kind(self, operation: ir.Operation) -> ReductionKind:
        """Return the kind of reduction of a body."""
        body = operation.regions[0].blocks[0]
        operations = [view.operation for view in body.operations]
        element_type = ir.RankedTensorType(body.arguments[0].type).element_type
        is_boolean = isinstance(element_type, ir.IntegerType) and element_type.width == 1
        kind = (_KINDS_OF_BOOLEANS if is_boolean else KINDS).get(operations[0].name)
        takes_both = {*operations[0].operands} == {*body.arguments}
        if kind is None or len(operations) != 2 or not takes_both:
            raise _refusal(operation, "its body is more than one operation on both arguments")
        return kind

    def _taken(self, operation: ir.Operation, value: ir.Value) -> ir.Value:
        """Build the value of the sender of each device; zeros on a device without a sender."""
        if operation.name == "stablehlo.collective_permute":
            pairs = process_pairs(operation, self.layout)
        else:
            groups = process_groups(operation, self.layout)
            pairs = tuple((group[0], device) for group in groups for device in group)
        sender_of = {receiver: sender for sender, receiver in pairs}
        devices = range(self.grid.size)
        senders = [[sender_of.get(device, device)] for device in devices]
        (held,) = _held_by(value, senders, self.name, self.builder)
        gets = np.array([device in sender_of for device in devices])
        return self.builder.select_on_devices(gets, held, self.builder.splat(value.type, 0))

    def _convert_id(self, operation: ir.Operation) -> None:
        is_own = operation.name == (
            "stablehlo.replica_id" if self.layout.replicas > 1 else "stablehlo.partition_id"
        )
        with ir.InsertionPoint(operation), operation.location:
            if is_own:
                index = building.process_linear_index(self.name)
                integer = ir.IntegerType.get_signless(32)
                number = ir.Operation.create(
                    "arith.index_cast", results=[integer], operands=[index]
                ).result
                scalar = ir.RankedTensorType.get([], integer)
                tensor = self.builder.create("tensor.from_elements", (number,), (scalar,)).result
            else:
                tensor = self.builder.constant(np.array(0, np.int32))
            value = self.builder.convert(tensor, element_type_of(operation.results[0].type))
        replace_by(operation, value)


_BY_PAIRS = frozenset({"stablehlo.collective_permute", "stablehlo.collective_broadcast"})


def _are_replicas(found: Sequence[ir.Operation]) -> bool:
    """Whether devices are the replicas of one program: by their ids, or without channels."""
    names = {operation.name for operation in found}
    if names & {*DEVICE_IDS}:
        return "stablehlo.partition_id" not in names
    return not any(channel_of(operation) > 0 for operation in found)


def _devices_named(found: Sequence[ir.Operation]) -> int:
    """Return the number of devices in the groups and pairs of collectives."""
    most = 0
    for operation in found:
        for field in (CollectiveView.replica_groups, CollectiveView.source_target_pairs):
            if not field.is_in(operation):
                continue
            attribute = field.of(operation)
            if isinstance(attribute, ir.DenseIntElementsAttr) and len(attribute):
                most = max(most, *(int(number) for number in attribute))
            elif not isinstance(attribute, ir.DenseIntElementsAttr):
                reason = "its groups are given by axes: set the option 'devices'"
                raise _refusal(operation, reason)
    return most + 1


def _shown(groups: Groups) -> str:
    return ", ".join(str(list(group)) for group in groups)


def _refusal(operation: ir.Operation, reason: str) -> PassError:
    return refusal(f"cannot express '{operation.name}' in the shard dialect", reason, operation)


# --- Groups that aren't along the axes of a grid -------------------------------------------------


def _held_by(
    value: ir.Value, members: Sequence[Sequence[int]], name: str, builder: GridBuilder
) -> list[ir.Value]:
    """Return the tensors of the devices that each device lists; all lists are equally long.

    Args:
        value: the device's own tensor.
        members: the devices, for each device.
        name: the grid.
        builder: the builder of StableHLO on the grid.
    """
    grid = builder.grids[name]
    pairs = [(member, device) for device, each in enumerate(members) for member in each]
    axes = axes_apart(pairs, grid)
    if not axes:
        return [value] * len(members[0])
    shape = list(shape_of(value.type))
    every = building.all_gather(builder.reshape(value, [1, *shape]), name, 0, grid_axes=axes)
    found: list[ir.Value] = []
    for column in zip(*members, strict=True):
        places = [grid.index_in_group(grid.coordinates(member), axes) for member in column]
        piece = builder.piece(every, 0, np.array(places, np.int64), 1)
        found.append(builder.reshape(piece, shape))
    return found


def _by_gathering(
    operation: ir.Operation, groups: Groups, name: str, builder: GridBuilder
) -> list[ir.Value]:
    """Return the replacement of a collective with arbitrary groups.

        groups [2, 0] and [3, 1] of a grid of 2x2: all of an axis, but in another order

    1. Each device gathers along the axes along which any two members of a group differ.
    2. It selects the tensors of its group's members, in their order, by a table.
    3. It applies the collective to them.

    This sends more than the collective if the groups are smaller than the gathered axes.

    Args:
        operation: an all-gather, an all-reduce, a reduce-scatter or an all-to-all.
        groups: its groups, which are equally large and hold all devices.
        name: the grid.
        builder: the builder of StableHLO on the grid.
    """
    group_of = {device: group for group in groups for device in group}
    members = [group_of[device] for device in range(builder.grids[name].size)]
    own = np.array([group.index(device) for device, group in enumerate(members)], np.int64)
    results: list[ir.Value] = []
    for operand, result in zip(operation.operands, operation.results, strict=True):
        value = builder.convert(operand, element_type_of(result.type))
        held = _held_by(value, members, name, builder)
        results.append(_combined(operation, held, own, builder))
    return results


def _combined(
    operation: ir.Operation, held: Sequence[ir.Value], own: np.ndarray, builder: GridBuilder
) -> ir.Value:
    """Return the result of a collective from the tensors of all members."""
    if operation.name == "stablehlo.all_gather":
        return _joined(held, AllGatherView(operation).all_gather_dim, builder)
    if operation.name == "stablehlo.all_to_all":
        view, count = AllToAllView(operation), len(held)
        split = view.split_dimension
        size = ir.RankedTensorType(held[0].type).shape[split] // count
        shards = [builder.piece(value, split, own, size) for value in held]
        return _joined(shards, view.concat_dimension, builder)
    combine = operation.regions[0].blocks[0].operations[0].operation.name
    combine = combine.removeprefix("stablehlo.")
    total = reduce(lambda one, other: builder.binary(combine, one, other), held)
    if operation.name == "stablehlo.all_reduce":
        return total
    dim = ReduceScatterView(operation).scatter_dimension
    size = ir.RankedTensorType(total.type).shape[dim] // len(held)
    return builder.piece(total, dim, own, size)


def _joined(values: Sequence[ir.Value], dim: int, builder: GridBuilder) -> ir.Value:
    """Concatenate tensors along a dimension."""
    return builder.concatenate(values, dim)
