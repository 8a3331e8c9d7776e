# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The communication of a local program, and the axes along which devices communicate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mlir_sdy.diagnostics import SourceLocation
from mlir_sdy.discardable import has_discardable
from mlir_sdy.host import identity, ir, location_of
from mlir_sdy.model import AxisRef, AxisTuple, Mesh, replica_groups
from pyshardy.cost.collectives import PlannedCollective, share_sent
from pyshardy.display import Displayed, counted
from pyshardy.irtools.loops import Repetitions
from pyshardy.irtools.stablehlo_views import COLLECTIVES, CollectiveView
from pyshardy.irtools.walks import operations_named
from pyshardy.local_program.process_groups import Groups, Layout, process_groups, process_pairs
from pyshardy.local_program.values import spec_of

PEELED = "sdy.peeled"
"""The attribute of a copy of a collective of a loop, in an iteration that stands outside of it."""

_REDUCTIONS = {"add": "sum", "maximum": "max", "minimum": "min", "multiply": "product"}


@dataclass(frozen=True, slots=True, repr=False)
class Collective(Displayed):
    """One collective operation of a program.

    Attributes:
        kind: the operation without its dialect: `all_reduce`.
        nbytes: the bytes of its operands on each device, independent of the algorithm. The result
            of an `all_gather` is larger by the size of a group.
        group_size: the number of devices that exchange data with each other; for a
            `collective_permute`, the number of devices that send to another device.
        axes: the axes of the mesh along which it communicates: names of full axes, and sub-axes
            such as `"x":(1)2`. None if the groups don't correspond to axes.
        location: its source location.
        reduction: the reduction: `sum`, `max`, `min`, `product`, `and`, `or` ..., or `custom`; None
            if it only moves values.
        repetitions: the number of executions in a run, if branches are taken; None in a loop of
            unknown trip count.
        is_peeled: whether it is one more copy of a collective of a loop, in an iteration that
            stands outside of it. Limits on the number of collectives don't count it.
    """

    kind: str
    nbytes: int
    group_size: int
    axes: tuple[str, ...] | None
    location: SourceLocation | None
    reduction: str | None = None
    repetitions: int | None = 1
    is_peeled: bool = field(default=False, repr=False)

    @property
    def nbytes_sent(self) -> int:
        """The minimum number of bytes that a device sends per execution, rounded up.

        It is `nbytes` times `share_sent` of the kind and the size of the group.
        """
        return math.ceil(self.nbytes * share_sent(self.kind, self.group_size))

    @property
    def nbytes_total(self) -> int:
        """The bytes that a device sends in a run; per execution if their number is unknown."""
        return self.nbytes_sent * self.assumed_repetitions

    @property
    def assumed_repetitions(self) -> int:
        """The number of executions in a run, 1 if it is unknown."""
        return 1 if self.repetitions is None else self.repetitions

    @property
    def planned(self) -> PlannedCollective:
        """The collective as it is planned: the devices that take part, and the bytes sent."""
        return PlannedCollective(self.kind, self.group_size, self.axis_names, self.nbytes_sent)

    @property
    def axis_names(self) -> tuple[str, ...]:
        """The names of the axes along which it communicates, also of those whose sub-axes it uses.

        Empty if the groups don't correspond to axes.
        """
        names = (each.split('"')[1] if '"' in each else each for each in self.axes or ())
        return tuple(dict.fromkeys(names))

    def summary(self) -> str:
        """Return the kind, the axes, the bytes and the location in one line."""
        axes = "" if self.axes is None else f" along {', '.join(self.axes)}"
        where = "" if self.location is None else f", {self.location}"
        times = "" if self.repetitions == 1 else f" {self.repetitions or 'many'} times"
        return f"{self.kind}{axes}, {counted(self.nbytes_sent, 'byte')} sent{times}{where}"


def collectives_of(module: ir.Module, mesh: Mesh) -> tuple[Collective, ...]:
    """Return the collectives of a local program, in the order of its text.

    Args:
        module: the program, entered at `@main`.
        mesh: the devices, each of which runs one partition of the program.
    """
    reader = _Reader(module, mesh)
    return tuple(map(reader.read, operations_named(COLLECTIVES, module)))


class _Reader:
    """Reads collectives; the axes of equal attributes are computed once."""

    def __init__(self, module: ir.Module, mesh: Mesh):
        self._mesh = mesh
        self._layout = Layout(1, mesh.total_size)
        self._repetitions = Repetitions(module)
        self._partners: dict[object, tuple[int, AxisTuple | None]] = {}

    def read(self, operation: ir.Operation) -> Collective:
        place = location_of(operation.location)
        size, axes = self._partners_of(operation)
        return Collective(
            operation.name.removeprefix("stablehlo."),
            sum(spec_of(operand.type, place).nbytes for operand in operation.operands),
            size,
            None if axes is None else tuple(map(_axis_text, axes)),
            place,
            reduction_of(operation),
            self._repetitions.of(operation),
            has_discardable(operation, PEELED),
        )

    def _partners_of(self, operation: ir.Operation) -> tuple[int, AxisTuple | None]:
        """Return the size of the groups of a collective, and their axes."""
        view = CollectiveView(operation)
        key = (
            operation.name,
            *(
                identity(field.of(operation))
                for field in (CollectiveView.replica_groups, CollectiveView.source_target_pairs)
                if field.is_in(operation)
            ),
            CollectiveView.channel_handle.is_in(operation),
            view.use_global_device_ids,
        )
        if key not in self._partners:
            self._partners[key] = self._find_partners(operation)
        return self._partners[key]

    def _find_partners(self, operation: ir.Operation) -> tuple[int, AxisTuple | None]:
        if operation.name == "stablehlo.collective_permute":
            moves = [(a, b) for a, b in process_pairs(operation, self._layout) if a != b]
            return len(moves), axes_of_moves(moves, self._mesh)
        groups = process_groups(operation, self._layout)
        return max(map(len, groups), default=0), axes_of_groups(groups, self._mesh)


def _axis_text(axis: AxisRef) -> str:
    """Return the name of a full axis, or the text of a sub-axis."""
    return axis.name if axis.sub_axis_info is None else str(axis)


def reduction_of(operation: ir.Operation) -> str | None:
    """Return the reduction of a collective, as in `Collective.reduction`."""
    if not len(operation.regions):
        return None
    body = [view.operation for view in operation.regions[0].blocks[0].operations]
    if len(body) != 2 or {*body[0].operands} != {*operation.regions[0].blocks[0].arguments}:
        return "custom"
    name = body[0].name.removeprefix("stablehlo.")
    return _REDUCTIONS.get(name, name)


# --- Axes from device ids -------------------------------------------------------------------------

# Positions are the indices of devices in the row-major order of the mesh.


def axes_of_groups(groups: Groups, mesh: Mesh) -> AxisTuple | None:
    """Return the axes and sub-axes along which the members of each group differ, in mesh order.

    1. In the group of the device at position 0, the other positions are sums of steps. Positions
       in arithmetic progression, such as 0, 2, 4, 6, are one *run*: 4 steps by 2.
    2. A run is split at the ends of axes. Its part inside an axis is a sub-axis.
    3. The result is None unless these axes yield exactly the given groups.

    On `<["x"=2, "y"=4]>`, ((0, 2), (1, 3), (4, 6), (5, 7)) are along `"y":(1)2`.
    """
    position_of = {device: position for position, device in enumerate(mesh.devices)}
    first = next((group for group in groups if mesh.devices[0] in group), None)
    if first is None:
        return None
    runs = _runs(sorted(position_of[device] for device in first))
    axes = None if runs is None else _axes_of_runs(runs, mesh)
    if axes is None:
        return None
    wanted = set(map(frozenset, groups))
    return axes if set(map(frozenset, replica_groups(mesh, axes))) == wanted else None


def axes_of_moves(moves: Sequence[tuple[int, int]], mesh: Mesh) -> AxisTuple:
    """Return the axes along which any device sends to another, without constant sub-axes.

    In an axis of size 8, the major sub-axis of size 2 is constant if all moves stay within a half,
    and the minor one of size 2 if no move changes the parity of a coordinate.
    """
    if not moves:
        return ()
    positions = np.empty(mesh.total_size, np.int64)
    positions[list(mesh.devices)] = np.arange(mesh.total_size)
    shape = [axis.size for axis in mesh.axes]
    ends = positions[np.array(moves, np.int64)]
    sources, targets = (np.unravel_index(ends[:, side], shape) for side in (0, 1))
    axes: list[AxisRef] = []
    for axis, before, after in zip(mesh.axes, sources, targets, strict=True):
        if np.array_equal(before, after):
            continue
        divisors = [part for part in range(1, axis.size + 1) if axis.size % part == 0]
        minor = max(part for part in divisors if np.array_equal(before % part, after % part))
        major = max(
            part
            for part in divisors
            if np.array_equal(before // (axis.size // part), after // (axis.size // part))
        )
        axes.append(_part(axis.name, major, axis.size // (major * minor), axis.size))
    return tuple(axes)


def _runs(positions: Sequence[int]) -> list[tuple[int, int]] | None:
    """Return the steps, smallest first, and the count of each, whose sums are the positions."""
    runs: list[tuple[int, int]] = []
    covered = 1
    while covered < len(positions):
        step = positions[covered] - positions[0]
        count = 1
        while (
            count * covered < len(positions)
            and positions[count * covered] - positions[0] == count * step
        ):
            count += 1
        if len(positions) % (count * covered):
            return None
        runs.append((step, count))
        covered *= count
    return runs


def _axes_of_runs(runs: Sequence[tuple[int, int]], mesh: Mesh) -> AxisTuple | None:
    axes: list[AxisRef] = []
    width = math.prod(axis.size for axis in mesh.axes)
    for axis in mesh.axes:
        end, width = width, width // axis.size
        for step, count in reversed(runs):
            low, high = max(step, width), min(step * count, end)
            if low >= high:
                continue
            if low % width or end % high or high % low:
                return None
            axes.append(_part(axis.name, end // high, high // low, axis.size))
    return tuple(axes)


def _part(name: str, pre_size: int, size: int, axis_size: int) -> AxisRef:
    return AxisRef(name) if size == axis_size else AxisRef.sub(name, pre_size, size)
