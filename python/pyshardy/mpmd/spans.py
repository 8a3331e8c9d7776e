# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The times of fragments and transfers, and of meshes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from pyshardy.display import counted, seconds_text
from pyshardy.mpmd.plan import FragmentCall, Step

Time = float | Fraction


@dataclass(frozen=True, slots=True)
class Span:
    """The time of a fragment or of a transfer."""

    step: Step
    start: Time
    end: Time
    nbytes: int = 0


@dataclass(frozen=True, slots=True)
class MeshTimeline:
    """The time of a mesh.

    Attributes:
        name: its name.
        intervals: the fragments.
        live: the bytes of live values on a device at times.
        peak_live: the most bytes of live values on a device, without temporary ones.
        peak_memory: the most bytes on a device, with the temporary values of fragments.
        temporary: the most bytes of temporary values of a fragment.
    """

    name: str
    intervals: tuple[Span, ...]
    live: tuple[tuple[Time, int], ...]
    peak_live: int
    peak_memory: int
    temporary: int

    @property
    def busy(self) -> Time:
        """The time in which it runs fragments."""
        return sum(each.end - each.start for each in self.intervals)

    @property
    def bubble_in_window(self) -> Time:
        """The idle share between its first and its last fragment."""
        if not self.intervals:
            return 0
        window = self.intervals[-1].end - self.intervals[0].start
        return 1 - self.busy / window if window else 0


def kind_of(step: Step) -> str:
    """Return the kind of unit of a fragment: `F`, `B`, `Ba` or `Bw`; empty for other steps."""
    return step.kind if isinstance(step, FragmentCall) else ""


def title_of(step: Step) -> str:
    """Return the unit of a fragment, or the name of a transfer."""
    return step.unit if isinstance(step, FragmentCall) else step.name


def text_of(interval: Span) -> str:
    """Return a step with its names, meshes, bytes, time and line."""
    step, time = interval.step, seconds_text(float(interval.end - interval.start))
    place = f", {step.location}" if step.location else ""
    if isinstance(step, FragmentCall):
        return f"{step.unit}: {step.names or step.name}, {time}{place}"
    nbytes = counted(interval.nbytes, "byte")
    return f"{step.name}: {step.source} to {step.target}, {step.way}, {nbytes}, {time}"
