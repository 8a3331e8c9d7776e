# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-pipeline-scheduler`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from mlir_sdy.diagnostics import PassError, UsageError, error, note
from mlir_sdy.host import ir, location_of
from mlir_sdy.mpmd.reading import (
    CALL_COUNTER,
    body_of,
    integer_of,
    is_user_fragment,
    mesh_name_of,
    operations_of,
)
from mlir_sdy.mpmd.values import Topology
from mlir_sdy.suggest import did_you_mean
from pyshardy.mpmd.options import LeavesNoDependencies, check_leaves_no_dependencies
from pyshardy.mpmd.rewriting.functions import mpmd_functions
from pyshardy.mpmd.rewriting.marks import topology
from pyshardy.mpmd.rewriting.merging import STAGE, half_of, transpose_counts
from pyshardy.mpmd.rewriting.ordering import needs_of, reached_from, sort_operations
from pyshardy.mpmd.schedules.orders import WITH_STAGES
from pyshardy.mpmd.schedules.schedule import UPSTREAM_NAMES, WrittenSchedule, read_schedule
from pyshardy.mpmd.schedules.units import Pipeline, SchedulingUnit
from pyshardy.pipeline import register_pass

Before = Callable[[SchedulingUnit, SchedulingUnit], bool]
"""Whether a unit has to run before another one of the same mesh."""

Predicate = Callable[[SchedulingUnit, SchedulingUnit, int, int], bool]
"""Takes two units, N and d."""


@register_pass("mpmd-pipeline-scheduler", release="0.10.2")
def pipeline_scheduler(
    module: ir.Module,
    *,
    must_happen_before: str = "1F1B",
    remove_control_dependencies: LeavesNoDependencies = True,
    exact: bool = False,
) -> None:
    """Order the fragments of each mesh by a schedule.

    A unit is a fragment of the user with a call counter and a single transpose count, 0 or 1. Of
    two units of a mesh, neither of which needs the other, the one that the schedule has first comes
    first. Operations stay in their order otherwise.

    Options:
        must_happen_before: the schedule: `none`, or one with options, such as `zb-h2{latency=1}`;
            the names of C++ Shardy are those of `exact`, too, also after `builtin:`
        exact: whether to use the predicates of C++ Shardy, which leave the order of some units to
            the program, instead of complete orders

    Raises:
        UsageError: there is no such schedule, or it isn't for such a pipeline.
        PassError: the order and the uses of values contradict each other.
    """
    check_leaves_no_dependencies(remove_control_dependencies=remove_control_dependencies)
    for function in mpmd_functions(module):
        schedule = must_happen_before.removeprefix("builtin:")
        _Scheduler(function, schedule, exact=exact).run()


class _Scheduler:
    """Orders the fragments of a function."""

    def __init__(self, function: ir.Operation, schedule: str, *, exact: bool) -> None:
        self.function = function
        self.schedule = schedule
        self.exact = exact
        self.operations = operations_of(body_of(function))[:-1]
        self.numbers = {each: number for number, each in enumerate(self.operations)}
        meshes: Topology = topology(function)
        self.meshes = [mesh.name for mesh in meshes.meshes if not mesh.is_host]
        self.units = self._units()
        self.needs = needs_of(self.operations)

    def run(self) -> None:
        """Put the operations of the function into the order of the schedule."""
        followers: list[set[int]] = [set() for _ in self.operations]
        by_mesh: defaultdict[str, list[int]] = defaultdict(list)
        for number in self.units:
            by_mesh[mesh_name_of(self.operations[number])].append(number)
        needed = self._needed_units()
        for position, mesh in enumerate(self.meshes):
            before = self._before(by_mesh[mesh], position)
            for first in by_mesh[mesh]:
                for second in by_mesh[mesh]:
                    is_free = not (needed[second] >> first | needed[first] >> second) & 1
                    if is_free and before(self.units[first], self.units[second]):
                        followers[first].add(second)
        if left := sort_operations(self.operations, self.needs, followers):
            raise self._contradiction(left)

    def _units(self) -> dict[int, SchedulingUnit]:
        """Return the units by the numbers of their operations."""
        found: dict[int, SchedulingUnit] = {}
        for number, operation in enumerate(self.operations):
            if not is_user_fragment(operation):
                continue
            counter = integer_of(operation, CALL_COUNTER)
            counts = transpose_counts(operation)
            if counter is None or counts not in ({0}, {1}):
                continue
            kind = ("F" if counts == {0} else "B") + half_of(operation)
            stage = integer_of(operation, STAGE)
            found[number] = SchedulingUnit(kind, counter, -1 if stage is None else stage)
        return found

    def _needed_units(self) -> dict[int, int]:
        """Return for each unit what it depends on, as the bits of a number."""
        reached = reached_from(self.needs)
        return {number: reached[number] for number in self.units}

    def _before(self, numbers: Sequence[int], mesh: int) -> Before:
        """Return whether a unit of a mesh comes before another one."""
        name = self.schedule.lower()
        if name == "none":
            return _never
        if self.exact:
            if name not in _PREDICATES:
                advice = did_you_mean(name, _PREDICATES) or f"; there are {', '.join(_PREDICATES)}"
                message = f"no schedule '{self.schedule}' of C++ Shardy{advice}"
                raise UsageError(error(message))
            predicate = _PREDICATES[name]
            has_stages = self._check_stages(numbers, UPSTREAM_NAMES[name])

            def is_before(first: SchedulingUnit, second: SchedulingUnit) -> bool:
                if has_stages and min(first.stage, second.stage) < 0:
                    return False
                return predicate(first, second, len(self.meshes), mesh)

            return is_before
        positions = self._positions(numbers, mesh)

        def before(first: SchedulingUnit, second: SchedulingUnit) -> bool:
            one, other = positions.get(first), positions.get(second)
            return one is not None and other is not None and one < other

        return before

    def _positions(self, numbers: Sequence[int], mesh: int) -> dict[SchedulingUnit, int]:
        """Return the positions of the units of a mesh in the order of the schedule."""
        schedule = read_schedule(self.schedule)
        if isinstance(schedule, WrittenSchedule):
            schedule = schedule.of_meshes(self.meshes)
        stages = {self.units[number].stage for number in numbers} - {-1}
        has_stages = self._check_stages(numbers, str(schedule))
        if not numbers:
            return {}
        counters = [unit.microbatch for unit in self.units.values()]
        first, meshes = min(counters), len(self.meshes)
        last = max(unit.stage for unit in self.units.values()) if has_stages else 0
        pipeline = Pipeline(meshes, max(counters) - first + 1, last // meshes + 1)
        if has_stages and any(stage % meshes != mesh for stage in stages):
            told = ", ".join(map(str, sorted(stages)))
            message = (
                f"mesh {self.meshes[mesh]} has the stages {told}, but schedule '{schedule}' needs "
                f"{mesh}, {mesh + meshes}, {mesh + 2 * meshes} and so on there"
            )
            raise PassError(error(message, location_of(self.function.location)))
        if schedule.splits_backward and all(unit.is_forward for unit in self.units.values()):
            message = (
                f"schedule '{schedule}' orders gradients, but the program has none: use 'gpipe', "
                "or differentiate inside of the microbatches"
            )
            raise PassError(error(message, location_of(self.function.location)))
        order = {
            (each.kind, each.microbatch, each.stage if has_stages else None): position
            for position, each in enumerate(schedule.orders(pipeline)[mesh])
        }
        found: dict[SchedulingUnit, int] = {}
        for number in numbers:
            unit = self.units[number]
            place = unit.microbatch - first, unit.stage if has_stages else None
            kinds = (unit.kind, "Ba") if unit.kind == "B" else (unit.kind, "B")
            places = ((kind, *place) for kind in kinds)
            position = next((order[each] for each in places if each in order), None)
            if position is not None:
                found[unit] = position
        return found

    def _check_stages(self, numbers: Sequence[int], schedule: str) -> bool:
        """Return whether a schedule is by stages; units without a stage stay in their order then.

        Raises:
            PassError: it is, but no unit of the mesh has a stage.
        """
        is_written_so = ":" in schedule and "/" in schedule
        if schedule.partition("{")[0] not in WITH_STAGES and not is_written_so:
            return False
        if numbers and all(self.units[number].stage < 0 for number in numbers):
            message = f"schedule '{self.schedule}' needs the stages of fragments"
            advice = "assign names to stages, as in 'name@mesh/0'"
            location = location_of(self.operations[numbers[0]].location)
            raise PassError(error(f"{message}: {advice}", location))
        return True

    def _contradiction(self, left: Sequence[int]) -> PassError:
        """Return the error for an order that the uses of values contradict."""
        fragments = [self.operations[each] for each in left if each in self.units]
        notes = [
            note(f"this fragment waits: {self._text(each)}", location_of(each.location))
            for each in fragments[:4]
        ]
        message = (
            f"schedule '{self.schedule}' contradicts the uses of values: it needs values that go "
            "to later meshes, and gradients to earlier ones; use 'none', or assign names to stages "
            "for a schedule with several on a mesh"
        )
        return PassError(error(message, location_of(self.function.location), notes))

    def _text(self, fragment: ir.Operation) -> str:
        unit = self.units[self.numbers[fragment]]
        return f"{unit.kind}{unit.microbatch} on mesh {mesh_name_of(fragment)}"


# --- The predicates of C++ Shardy -----------------------------------------------------------------
#
# A predicate tells whether a unit has to run before another one of the same mesh that neither needs
# it nor is needed by it. What no predicate orders stays in program order. N is the number of
# meshes, d that of the mesh; i is the microbatch.


def _never(*_: object) -> bool:
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


def _zero_bubble_h2(latency: float) -> Predicate:
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


def _circular(reversed_backward: bool) -> Predicate:
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


_PREDICATES: dict[str, Predicate] = {
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
