# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Comparison of schedules, and of other meshes for names, by their timelines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.mpmd.reading import NAMED_COMPUTATION, name_of
from pyshardy.any_program import Program, module_of
from pyshardy.auto.search.texts import bytes_text
from pyshardy.cost.hardware import Hardware, load_hardware
from pyshardy.display import Displayed, Table, bytes_of_text, seconds_text
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.options import read_assignment
from pyshardy.mpmd.page import pipeline_page
from pyshardy.mpmd.partitioning import Partitioning, splits_backward
from pyshardy.mpmd.passes.importing.import_names import names_in_order
from pyshardy.mpmd.program import MpmdProgram
from pyshardy.mpmd.schedules.schedule import WrittenSchedule, listed
from pyshardy.mpmd.timeline import MpmdTimeline
from pyshardy.program import PartitionedProgram


class ComparedSchedule(NamedTuple):
    """A program in the order of a schedule.

    Attributes:
        program: the program.
        timeline: its timeline.
        microbatches: the number of microbatches, if several were compared.
    """

    program: MpmdProgram
    timeline: MpmdTimeline
    microbatches: int | None

    @property
    def peak_memory(self) -> int:
        """The most bytes on a device of any mesh."""
        return max(each.peak_memory for each in self.timeline.meshes.values())


@dataclass(frozen=True, repr=False)
class ScheduleComparison(Displayed):
    """The timelines of schedules, the fastest one first.

    Attributes:
        rows: the programs with their timelines.
        memory: the limit of the memory of a device.
        hardware: the devices and links.
    """

    rows: tuple[ComparedSchedule, ...]
    memory: int
    hardware: Hardware

    def summary(self) -> str:
        """Return the fastest schedule, and its time, in one line."""
        return f"{_title(self.rows[0])}: {self.rows[0].timeline.summary()}"

    def tables(self) -> list[Table]:
        """Return the table of the schedules."""
        numbers = [each.microbatches for each in self.rows]
        has_numbers = any(number is not None for number in numbers)
        headings = (
            "schedule",
            *(["microbatches"] if has_numbers else []),
            "time",
            "idle",
            "in windows",
            "peak memory of meshes",
            "fits",
            "bytes sent",
        )
        rows: list[tuple[object, ...]] = []
        for each in self.rows:
            line = each.timeline
            rows.append(
                (
                    each.program.schedule,
                    *([each.microbatches] if has_numbers else []),
                    seconds_text(float(line.total)),
                    f"{float(line.bubble):.1%}",
                    f"{float(line.bubble_in_window):.1%}",
                    ", ".join(bytes_text(mesh.peak_memory) for mesh in line.meshes.values()),
                    "yes" if each.peak_memory <= self.memory else "no",
                    f"{line.nbytes:,}",
                )
            )
        return [Table("Schedules, the fastest one first", headings, rows)]

    def to_html(self, *, reports: bool = False) -> str:
        """Return a page with the timelines, of which a slider selects one.

        Args:
            reports: whether a click on a fragment opens its report, which takes longer.
        """
        charts = [
            each.program.chart(self.hardware, _title(each))
            if reports
            else each.timeline.chart(_title(each))
            for each in self.rows
        ]
        return pipeline_page(charts, title="schedules")


def _title(row: ComparedSchedule) -> str:
    told = "" if row.microbatches is None else f", M = {row.microbatches}"
    return f"{row.program.schedule}{told}"


def compare(
    module: Program | Callable[[int], Program],
    *,
    schedules: Sequence[str | WrittenSchedule],
    microbatches: Sequence[int] | None = None,
    hardware: Hardware | str,
    memory: int | str | None = None,
    **options: Any,
) -> ScheduleComparison:
    """Compare schedules of a program by their timelines.

        def module_of(microbatches):
            return sdy.mpmd.trace(partial(step, microbatches=microbatches), ...)

        print(sdy.mpmd.compare(module_of, schedules=["gpipe", "1f1b"], microbatches=[4, 8],
                               hardware="h100"))

    A program is imported and its fragments are partitioned once for all schedules.

    Args:
        module: the program, as for `partition`; with `microbatches` a function of their number that
            returns it, since a program that is split into microbatches can't be split otherwise.
        schedules: the schedules.
        microbatches: numbers of microbatches; all schedules are compared for each of them.
        hardware: the devices and links.
        memory: the limit of the memory of a device, such as `"80GB"`; that of the hardware by
            default.
        options: the other options of `partition`.

    Raises:
        UsageError: `module` is no function, but `microbatches` are given, or the other way round;
            there are no schedules; as for `partition`.
        PipelineError: as for `partition`.
    """
    if callable(module) != (microbatches is not None):
        raise UsageError(
            error(
                "'microbatches' needs a function that takes their number and returns the program: "
                "pass one such as 'lambda number: sdy.mpmd.trace(...)'"
                if microbatches is not None
                else "the program is a function: pass 'microbatches' to call it with"
            )
        )
    if microbatches is not None and not microbatches:
        raise UsageError(error("'microbatches' needs at least one number"))
    compared = listed(schedules)
    for schedule in compared:
        splits_backward(schedule)  # an unknown schedule is said before the first import
    model = hardware if isinstance(hardware, Hardware) else load_hardware(hardware)
    limit = int(model.bytes_of_memory) if memory is None else bytes_of_text(memory, "memory")
    programs: dict[str, PartitionedProgram] = {}
    rows: list[ComparedSchedule] = []
    for number in microbatches or (None,):
        given = module(number) if callable(module) and number is not None else module
        prepared = Partitioning(
            module_of("mpmd.compare", given), hardware=model, programs=programs, **options
        )
        for schedule in compared:
            program = prepared.by(schedule)
            rows.append(ComparedSchedule(program, program.timeline(model), number))
    ranked = sorted(rows, key=lambda row: row.timeline.total)
    return ScheduleComparison(tuple(ranked), limit, model)


def advise(
    module: Program,
    *,
    schedule: str | WrittenSchedule = "1f1b",
    hardware: Hardware | str,
    **options: Any,
) -> list[str]:
    """Return sentences on the slowest mesh: what moving its first or last name saves.

        sdy.mpmd.advise(module, hardware="h100")
        # ["m2 takes 1.4 times the mean: moving layer11 to m3 saves 6.0%"]

    Each change is tried: the program is partitioned with it, and its timeline compared.

    Args:
        module: the program, as for `partition`.
        schedule: the schedule.
        hardware: the devices and links.
        options: the other options of `partition`.

    Raises:
        UsageError: as for `partition`.
        PipelineError: as for `partition`.
    """
    model = hardware if isinstance(hardware, Hardware) else load_hardware(hardware)
    known: dict[str, PartitionedProgram] = {}
    local = module_of("mpmd.advise", module)
    prepared = Partitioning(local, hardware=model, programs=known, **options)
    line = prepared.by(schedule).timeline(model)
    busy = {name: float(each.busy) for name, each in line.meshes.items()}
    slowest = max(busy, key=lambda name: busy[name])
    ratio = busy[slowest] * len(busy) / (sum(busy.values()) or 1)
    assigned = read_assignment(prepared.assignment)
    chain = names_in_order(prepared.given)[0] or [
        name_of(each) for each in operations_named({NAMED_COMPUTATION}, prepared.given)
    ]
    placed = {
        name: place.mesh + (f"#{place.memory_kind}" if place.memory_kind else "")
        for name, place in assigned.items()
    }
    own = [name for name in dict.fromkeys(chain) if placed.get(name) == slowest]
    if len(own) < 2 or any(each.stage is not None for each in assigned.values()):
        return [f"{slowest} takes {ratio:.2f} times the mean"]
    meshes = list(busy)
    at = meshes.index(slowest)
    found: list[str] = []
    for name, to in ((own[0], at - 1), (own[-1], at + 1)):
        if not 0 <= to < len(meshes):
            continue
        tried: dict[str, Any] = {**options, "assignment": placed | {name: meshes[to]}}
        moved = Partitioning(local, hardware=model, programs=known, **tried).by(schedule)
        change = float(moved.timeline(model).total / line.total) - 1
        told = f"saves {-change:.1%}" if change < 0 else f"takes {change:.1%} more"
        found.append(
            f"{slowest} takes {ratio:.2f} times the mean: moving {name} to {meshes[to]} {told}"
        )
    return found
