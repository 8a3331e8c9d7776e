# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a local program communicates."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from mlir_sdy.diagnostics import SourceLocation
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import AxisRef, Mesh, coordinates, replica_groups
from pyshardy.backends.groups import Groups, Layout, process_groups, process_pairs
from pyshardy.backends.pieces import COLLECTIVES
from pyshardy.backends.values import spec_of


@dataclass(frozen=True, slots=True)
class Collective:
    """One collective in the text of a program; in a loop it is carried out more than once.

    Attributes:
        kind: the operation without its dialect: `all_reduce`.
        nbytes: the bytes of its operands on each device: what a device puts in, not what an
            algorithm sends. An `all_gather` puts out as much times the size of a group.
        group_size: how many devices exchange data with each other; for a `collective_permute`,
            how many send to another device.
        axes: the axes of the mesh along which it communicates, if it is along whole axes.
        location: where it comes from.
    """

    kind: str
    nbytes: int
    group_size: int
    axes: tuple[str, ...] | None
    location: SourceLocation | None


def collectives_of(module: ir.Module, mesh: Mesh) -> tuple[Collective, ...]:
    """The collectives of a local program, in the order of its text.

    Args:
        module: the program.
        mesh: the devices, of which each is a partition of the program.
    """
    found: list[Collective] = []
    layout = Layout(1, mesh.total_size)

    def visit(operation: ir.Operation) -> ir.WalkResult:
        if operation.name in COLLECTIVES:
            found.append(_collective(operation, mesh, layout))
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return tuple(found)


def _collective(operation: ir.Operation, mesh: Mesh, layout: Layout) -> Collective:
    place = location_of(operation.location)
    kind = operation.name.removeprefix("stablehlo.")
    nbytes = sum(spec_of(operand.type, place).nbytes for operand in operation.operands)
    if kind == "collective_permute":
        moves = [(a, b) for a, b in process_pairs(operation, layout) if a != b]
        return Collective(kind, nbytes, len(moves), _axes_of_moves(moves, mesh), place)
    groups = process_groups(operation, layout)
    size = max(map(len, groups), default=0)
    return Collective(kind, nbytes, size, _axes_of_groups(groups, mesh), place)


def _axes_of_groups(groups: Groups, mesh: Mesh) -> tuple[str, ...] | None:
    wanted = set(map(frozenset, groups))
    for names in _subsets(mesh.axis_names):
        if set(map(frozenset, replica_groups(mesh, map(AxisRef, names)))) == wanted:
            return names
    return None


def _subsets(names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """All choices of some of the names, smaller ones first."""
    for count in range(len(names) + 1):
        yield from itertools.combinations(names, count)


def _axes_of_moves(moves: list[tuple[int, int]], mesh: Mesh) -> tuple[str, ...]:
    """The axes along which any move goes."""
    axes = [AxisRef(name) for name in mesh.axis_names]
    moved: set[str] = set()
    for source, target in moves:
        ends = coordinates(mesh, source, axes), coordinates(mesh, target, axes)
        for name, here, there in zip(mesh.axis_names, *ends, strict=True):
            if here != there:
                moved.add(name)
    return tuple(name for name in mesh.axis_names if name in moved)
