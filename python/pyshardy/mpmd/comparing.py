# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Comparison of schedules, and of other meshes for names, by their timelines."""

from __future__ import annotations

import io
import os
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from mlir_sdy.diagnostics import Diagnostic, UsageError, collect, emit, error
from mlir_sdy.host import ir
from mlir_sdy.mpmd.reading import NAMED_COMPUTATION, name_of
from mlir_sdy.suggest import did_you_mean
from pyshardy.any_program import Program, module_of
from pyshardy.auto.search.texts import bytes_text
from pyshardy.cost.hardware import Hardware, load_hardware
from pyshardy.display import Displayed, Table, bytes_of_text, seconds_text
from pyshardy.frontends.files import Kind, dump
from pyshardy.irtools.walks import operations_named
from pyshardy.local_program.front_end_hooks import refers_to_process
from pyshardy.mpmd.options import read_assignment
from pyshardy.mpmd.page import pipeline_page
from pyshardy.mpmd.partitioning import Partitioning, splits_backward
from pyshardy.mpmd.passes.import_names import names_in_order
from pyshardy.mpmd.program import MpmdProgram
from pyshardy.mpmd.schedules.schedule import WrittenSchedule, listed
from pyshardy.mpmd.timeline import MpmdTimeline
from pyshardy.processes.fork import ForkedText, processors
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


_Found = dict[int, tuple[list[ComparedSchedule], list[Diagnostic]]]
"""Rows with warnings, by the number of microbatches."""


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


_OPTIONS = frozenset({"topology", "assignment", "infer_transfers", "infer_reductions", "transfers"})
"""The options of `partition` that are those of all programs of a comparison."""


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

    A program is imported and its fragments are partitioned once for all schedules. Those of several
    numbers of microbatches are partitioned by as many processes as there are processors.

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
    if unknown := sorted(options.keys() - _OPTIONS):
        hint = did_you_mean(unknown[0], _OPTIONS) or f"; it has {', '.join(sorted(_OPTIONS))}"
        raise UsageError(error(f"'sdy.mpmd.compare' has no option '{unknown[0]}'{hint}"))
    compared = listed(schedules)
    for schedule in compared:
        splits_backward(schedule)  # an unknown schedule is said before the first import
    model = hardware if isinstance(hardware, Hardware) else load_hardware(hardware)
    limit = int(model.bytes_of_memory) if memory is None else bytes_of_text(memory, "memory")
    programs: dict[str, PartitionedProgram] = {}

    def traced(number: int) -> ir.Module:
        return module_of("mpmd.compare", module(number) if callable(module) else module)

    def rows_of(given: ir.Module, number: int) -> list[ComparedSchedule]:
        prepared = Partitioning(given, hardware=model, programs=programs, **options)
        ordered = [prepared.by(schedule) for schedule in compared]
        return [ComparedSchedule(each, each.timeline(model), number or None) for each in ordered]

    rows = _side_by_side(microbatches or (0,), traced, rows_of)
    ranked = sorted(rows, key=lambda row: row.timeline.total)
    return ScheduleComparison(tuple(ranked), limit, model)


def _side_by_side(
    numbers: Sequence[int],
    traced: Callable[[int], ir.Module],
    rows_of: Callable[[ir.Module, int], list[ComparedSchedule]],
) -> list[ComparedSchedule]:
    """Return the rows of all modules, computed by as many processes as there are processors.

    Args:
        numbers: the numbers of microbatches, which tell how long modules take.
        traced: returns the module of a number; it runs in this process, as JAX has threads.
        rows_of: returns the rows of a module. Its warnings are passed on in the order of `numbers`.
    """
    groups: list[list[int]] = [[] for _ in range(processors() if hasattr(os, "fork") else 1)]
    for number in sorted({*numbers}, reverse=True):
        min(groups, key=sum).append(number)
    own, *others = filter(None, groups)
    modules: dict[int, ir.Module] = {}
    forked: list[ForkedText] = []

    def compute(group: list[int]) -> _Found:
        found: _Found = {}
        for number in group:
            with collect() as told:
                found[number] = rows_of(modules[number], number), told
        return found

    try:
        for group in others:
            modules |= {number: traced(number) for number in group}
            if any(refers_to_process(modules[number]) for number in group):
                own += group
            else:
                forked.append(ForkedText(partial(_dumped, compute, group)))
        modules |= {number: traced(number) for number in own if number not in modules}
        found = compute(own)
        for each in forked:
            found |= _loaded(each.result(), modules[own[0]].context)
    finally:
        for each in forked:
            each.cancel()
    for diagnostic in (each for number in numbers for each in found[number][1]):
        emit(diagnostic)
    return [row for number in numbers for row in found[number][0]]


def _dumped(compute: Callable[[list[int]], _Found], group: list[int]) -> str:
    """Return what a group computes as a text for `_loaded`, in which modules are bytecode."""
    file = io.BytesIO()
    pickler = pickle.Pickler(file, pickle.HIGHEST_PROTOCOL)
    pickler.persistent_id = lambda found: (
        dump(found, Kind.BYTECODE) if isinstance(found, ir.Module) else None
    )
    pickler.dump(compute(group))
    return file.getvalue().decode("latin-1")


def _loaded(text: str, context: ir.Context) -> _Found:
    unpickler = pickle.Unpickler(io.BytesIO(text.encode("latin-1")))
    unpickler.persistent_load = lambda payload: ir.Module.parse(payload, context)
    return unpickler.load()


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
