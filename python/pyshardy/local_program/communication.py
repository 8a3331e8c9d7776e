# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a local program communicates."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mlir_sdy.diagnostics import SourceLocation
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import AxisRef, AxisTuple, Mesh
from mlir_sdy.model.communication import share_sent
from pyshardy.irtools.walks import operations_named
from pyshardy.local_program.group_axes import axes_of_groups, axes_of_moves
from pyshardy.local_program.process_groups import Layout, process_groups, process_pairs
from pyshardy.local_program.segments import COLLECTIVES
from pyshardy.local_program.trip_counts import Repetitions
from pyshardy.local_program.values import spec_of

_REDUCTIONS = {"add": "sum", "maximum": "max", "minimum": "min", "multiply": "product"}


@dataclass(frozen=True, slots=True)
class Collective:
    """One collective in the text of a program.

    Attributes:
        kind: the operation without its dialect: `all_reduce`.
        nbytes: the bytes of its operands on each device: what a device puts in, not what an
            algorithm sends. An `all_gather` puts out as much times the size of a group.
        group_size: how many devices exchange data with each other; for a `collective_permute`,
            how many send to another device.
        axes: the axes of the mesh along which it communicates: the names of whole axes, and parts
            of axes as in `"x":(1)2`. None if the groups are along no axes.
        location: where it comes from.
        reduction: how it combines values: `sum`, `max`, `min`, `product`, `and`, `or` ..., or
            `custom`; None if it only moves them.
        repetitions: how often it is carried out in a run, if branches are taken; None if it is in
            a loop of unknown length.
    """

    kind: str
    nbytes: int
    group_size: int
    axes: tuple[str, ...] | None
    location: SourceLocation | None
    reduction: str | None = None
    repetitions: int | None = 1

    @property
    def nbytes_sent(self) -> int:
        """The bytes that a device has to send each time, at the least, rounded up.

        They are `nbytes` times what `share_sent` says of the kind and the size of the group.
        """
        return math.ceil(self.nbytes * share_sent(self.kind, self.group_size))


def collectives_of(module: ir.Module, mesh: Mesh) -> tuple[Collective, ...]:
    """The collectives of a local program, in the order of its text.

    Args:
        module: the program, entered at `@main`.
        mesh: the devices, of which each is a partition of the program.
    """
    reader = _Reader(module, mesh)
    return tuple(map(reader.read, operations_named(COLLECTIVES, module)))


class _Reader:
    """Reads collectives; who communicates with whom is found out once for equal attributes."""

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
            _reduction(operation),
            self._repetitions.of(operation),
        )

    def _partners_of(self, operation: ir.Operation) -> tuple[int, AxisTuple | None]:
        """How many devices exchange data with each other, and along which axes."""
        attributes = operation.attributes
        # Equal attributes have one address, which is their hash.
        key = (
            operation.name,
            *(
                hash(attributes[name])
                for name in ("replica_groups", "source_target_pairs")
                if name in attributes
            ),
            "channel_handle" in attributes,
            "use_global_device_ids" in attributes,
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
    """The name of a whole axis, and the text of a part of one."""
    return axis.name if axis.sub_axis_info is None else str(axis)


def _reduction(operation: ir.Operation) -> str | None:
    if not len(operation.regions):
        return None
    body = [view.operation for view in operation.regions[0].blocks[0].operations]
    if len(body) != 2 or {*body[0].operands} != {*operation.regions[0].blocks[0].arguments}:
        return "custom"
    name = body[0].name.removeprefix("stablehlo.")
    return _REDUCTIONS.get(name, name)
