# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Comparison of schedules by their timelines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyshardy.any_program import Program
from pyshardy.cost.hardware import Hardware, load_hardware
from pyshardy.display import Displayed, Table, bytes_of_text, counted, seconds_text
from pyshardy.mpmd.partitioning import partition
from pyshardy.mpmd.program import MpmdProgram
from pyshardy.mpmd.schedules.schedule import WrittenSchedule
from pyshardy.mpmd.timeline import MpmdTimeline


@dataclass(frozen=True, repr=False)
class ScheduleComparison(Displayed):
    """The timelines of schedules, the fastest one first.

    Attributes:
        rows: the programs with their timelines.
        memory: the limit of the memory of a device.
    """

    rows: tuple[tuple[MpmdProgram, MpmdTimeline], ...]
    memory: int

    def summary(self) -> str:
        """Return the fastest schedule, and its time, in one line."""
        program, timeline = self.rows[0]
        return f"{program.schedule}: {timeline.summary()}"

    def tables(self) -> list[Table]:
        """Return the table of the schedules."""
        headings = ("schedule", "time", "idle", "in windows", "peak memory", "fits", "bytes sent")
        rows: list[tuple[object, ...]] = []
        for program, timeline in self.rows:
            peak = max(each.peak_memory for each in timeline.meshes.values())
            rows.append(
                (
                    program.schedule,
                    seconds_text(float(timeline.total)),
                    f"{float(timeline.bubble):.1%}",
                    f"{float(timeline.bubble_in_window):.1%}",
                    counted(peak, "byte"),
                    "yes" if peak <= self.memory else "no",
                    f"{timeline.nbytes:,}",
                )
            )
        return [Table("Schedules, the fastest one first", headings, rows)]


def compare(
    module: Program,
    *,
    schedules: Sequence[str | WrittenSchedule],
    hardware: Hardware | str,
    memory: int | str | None = None,
    **options: Any,
) -> ScheduleComparison:
    """Compare schedules of a program by their timelines.

    Args:
        module: the program, as for `partition`.
        schedules: the schedules.
        hardware: the devices and links.
        memory: the limit of the memory of a device, such as `"80GB"`; that of the hardware by
            default.
        options: the other options of `partition`.

    Raises:
        UsageError: as for `partition`.
        PipelineError: as for `partition`.
    """
    model = hardware if isinstance(hardware, Hardware) else load_hardware(hardware)
    limit = int(model.bytes_of_memory) if memory is None else bytes_of_text(memory, "memory")
    programs = [partition(module, schedule=each, hardware=model, **options) for each in schedules]
    rows = [(each, each.timeline(model)) for each in programs]
    return ScheduleComparison(tuple(sorted(rows, key=lambda row: row[1].total)), limit)
