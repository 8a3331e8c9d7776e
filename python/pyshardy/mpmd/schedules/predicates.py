# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The predicates by which C++ Shardy orders the units of a mesh.

A predicate tells whether a unit has to run before another one of the same mesh that neither needs
it nor is needed by it. What no predicate orders stays in program order. N is the number of meshes,
d that of the mesh; i is the microbatch.
"""

from __future__ import annotations

from collections.abc import Callable

from pyshardy.mpmd.schedules.units import SchedulingUnit

Before = Callable[[SchedulingUnit, SchedulingUnit, int, int], bool]
"""Takes two units, N and d."""


def _never(_first: SchedulingUnit, _second: SchedulingUnit, _meshes: int, _mesh: int) -> bool:
    return False


def _is_backward(unit: SchedulingUnit) -> int:
    return int(not unit.is_forward)


def _gpipe(first: SchedulingUnit, second: SchedulingUnit, _meshes: int, _mesh: int) -> bool:
    keys = [(_is_backward(each), each.microbatch) for each in (first, second)]
    return keys[0] < keys[1]


def _one_forward_one_backward(
    first: SchedulingUnit, second: SchedulingUnit, meshes: int, mesh: int
) -> bool:
    if first.is_forward == second.is_forward:
        return first.microbatch < second.microbatch
    if second.is_forward:
        return first.microbatch == second.microbatch - meshes + mesh
    return first.microbatch == second.microbatch + meshes - (mesh + 1)


def _gpipe_with_1f1b_last(
    first: SchedulingUnit, second: SchedulingUnit, meshes: int, mesh: int
) -> bool:
    order = _one_forward_one_backward if mesh == meshes - 1 else _gpipe
    return order(first, second, meshes, mesh)


def _kinds(first: SchedulingUnit, second: SchedulingUnit) -> tuple[str, str]:
    """Return the kinds of two units; a backward unit that isn't split counts as Ba."""
    one, other = ("Ba" if each.kind == "B" else each.kind for each in (first, second))
    return one, other


def _zero_bubble_h1(first: SchedulingUnit, second: SchedulingUnit, meshes: int, mesh: int) -> bool:
    one, other = first.microbatch, second.microbatch
    if not mesh and first.kind == "B" and second.is_forward and other == one + meshes:
        return True
    match _kinds(first, second):
        case "Ba", "F":
            return other == one + meshes - mesh
        case "F", "Ba":
            return one == other + meshes - mesh - 1
        case "Bw", "F":
            return other == one + meshes
        case "Ba", "Bw":
            return one == other + mesh
        case "Bw", "Ba":
            return other == one + mesh + 1
        case _:
            return False


def _zero_bubble_h2(latency: float) -> Before:
    def ahead(meshes: int, mesh: int) -> int:
        left = meshes - mesh
        return int(2 * left - 1 + 2 * (left - 1) * latency)

    def before(first: SchedulingUnit, second: SchedulingUnit, meshes: int, mesh: int) -> bool:
        one, other = first.microbatch, second.microbatch
        early, late = ahead(meshes, mesh), ahead(meshes, meshes - 1 - mesh)
        if first.is_forward and not second.is_forward and one < early:
            return True
        match _kinds(first, second):
            case "Ba", "F":
                return other == one + early
            case "F", "Ba":
                return one == other + early - 1 and one >= early
            case "Ba", "Bw":
                return one == other + late - 1
            case "Bw", "Ba":
                return other == one + late
            case _:
                return False

    return before


def _circular(reversed_backward: bool) -> Before:
    def key(unit: SchedulingUnit, meshes: int) -> tuple[int, ...]:
        phase = unit.microbatch // meshes
        if unit.is_forward:
            return 0, phase, unit.stage, unit.microbatch
        if reversed_backward:
            return 1, -phase, -unit.stage, -unit.microbatch
        return 1, phase, -unit.stage, unit.microbatch

    def before(first: SchedulingUnit, second: SchedulingUnit, meshes: int, _mesh: int) -> bool:
        return key(first, meshes) < key(second, meshes)

    return before


def _wrap_around(first: SchedulingUnit, second: SchedulingUnit, meshes: int, mesh: int) -> bool:
    return (mesh - first.microbatch) % meshes < (mesh - second.microbatch) % meshes


PREDICATES: dict[str, Before] = {
    "none": _never,
    "gpipe": _gpipe,
    "1f1b": _one_forward_one_backward,
    "gpipebut1f1bforlastmesh": _gpipe_with_1f1b_last,
    "zerobubbleh1": _zero_bubble_h1,
    "zerobubbleh2zerotxlatency": _zero_bubble_h2(0.0),
    "zerobubbleh2halftxlatency": _zero_bubble_h2(0.5),
    "zerobubbleh2fulltxlatency": _zero_bubble_h2(1.0),
    "circular": _circular(reversed_backward=False),
    "circularwithreversedbackward": _circular(reversed_backward=True),
    "parallelpipelineswithwraparound": _wrap_around,
}
"""The predicates by the names of C++ Shardy, in lower case."""
