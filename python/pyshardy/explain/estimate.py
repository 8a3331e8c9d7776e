# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The estimated time and memory of a run of a partitioned program on given hardware.

1. The times of operations and collectives are those of `timeline.durations`.
2. `predicted` is the time of the scheduled timeline (`timeline.scheduling`), which a back end with
   a scheduler can reach. `seconds`, the sum, is the time without overlap; in `overlapped`, the
   shorter one of the computation and the busiest lane of links is hidden completely.
3. Operations in a loop count once for each iteration, or once if the trip count is unknown. Of
   branches, the time of the longest one counts, and the bytes sent by all.

The constants are from data sheets. The estimates are for ranking plans, not for absolute times.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pyshardy.cost.default_hardware import DEFAULT_HARDWARE
from pyshardy.cost.hardware import Hardware, load_hardware, warn_of_other_axes
from pyshardy.display import Displayed, Table, counted, seconds_text
from pyshardy.program import PartitionedProgram
from pyshardy.timeline.durations import ResourceUse, resource_use_of
from pyshardy.timeline.run import Timeline, run_timeline, time_text


@dataclass(frozen=True, slots=True, repr=False)
class Estimate(Displayed):
    """The estimated cost of a run on each device.

    Attributes:
        hardware: the name of the hardware.
        operations: the number of arithmetic operations.
        nbytes_accessed: the bytes that are read and written.
        nbytes_sent: the bytes that are sent.
        compute_seconds: the time of the computation.
        communication_seconds: the time of the communication.
        predicted: the time of the run if collectives are scheduled.
        exposed: the part of it in which the computation waits for collectives.
        seconds_by_axes: the time of the communication by the axes of collectives.
        bytes_by_axes: the bytes sent by the axes of collectives.
        seconds_by_kind: the time of the communication by the kinds of collectives.
        seconds_by_lane: the time in which each lane of links is busy.
        argument_bytes: the memory of the arguments.
        peak_bytes: the peak memory.
        fits: whether the peak memory fits into the device.
    """

    hardware: str
    operations: float
    nbytes_accessed: float
    nbytes_sent: int
    compute_seconds: float
    communication_seconds: float
    predicted: float
    exposed: float
    seconds_by_axes: Mapping[str, float]
    bytes_by_axes: Mapping[str, int]
    seconds_by_kind: Mapping[str, float]
    seconds_by_lane: Mapping[str, float]
    argument_bytes: int
    peak_bytes: int
    fits: bool

    @property
    def seconds(self) -> float:
        """The time of a run without overlap."""
        return self.compute_seconds + self.communication_seconds

    @property
    def overlapped(self) -> float:
        """The time of a run that the computation, or the busiest lane, takes alone."""
        return max(self.compute_seconds, *self.seconds_by_lane.values(), 0.0)

    def summary(self) -> str:
        """Return the hardware, the time, the bytes sent and the memory in one line."""
        return (
            f"{self.hardware}: {time_text(self.predicted, self.exposed)}, "
            f"{self.operations:,.0f} operations, {counted(self.nbytes_sent, 'byte')} sent, "
            f"peak memory {counted(self.peak_bytes, 'byte')}"
        )

    def rows(self, axes: Iterable[str] | None = None) -> list[tuple[str, str]]:
        """Return the costs as text, with their labels.

        Args:
            axes: the axes whose bytes are listed, as in `bytes_by_axes`; by default all of them.
        """
        axes = self.bytes_by_axes if axes is None else axes
        most = seconds_text(self.seconds)
        memory = f"{self.peak_bytes:,}" + ("" if self.fits else ", exceeds the device memory")
        return [
            ("operations", f"{self.operations:,.0f}"),
            ("bytes read and written", f"{self.nbytes_accessed:,.0f}"),
            ("bytes sent", f"{self.nbytes_sent:,}"),
            *((f"  along {each}", f"{self.bytes_by_axes.get(each, 0):,}") for each in sorted(axes)),
            ("computation time", seconds_text(self.compute_seconds)),
            ("communication time", seconds_text(self.communication_seconds)),
            ("total time", seconds_text(self.predicted)),
            ("  exposed communication", seconds_text(self.exposed)),
            ("  with all or no overlap", f"{seconds_text(self.overlapped)} to {most}"),
            ("argument memory", f"{self.argument_bytes:,}"),
            ("peak memory", memory),
        ]

    def tables(self) -> list[Table]:
        """Return a table of the costs."""
        title = f"Estimate for {self.hardware}"
        return [Table(title, ("", "on each device"), self.rows(), num_numeric=1)]


def estimate(
    program: PartitionedProgram,
    hardware: Hardware,
    use: ResourceUse | None = None,
    timeline: Timeline | None = None,
) -> Estimate:
    """Estimate a run of a partitioned program.

    Args:
        program: the program.
        hardware: the hardware.
        use: its `resource_use_of`, if it is known already.
        timeline: its scheduled timeline, if it is known already.
    """
    use = use or resource_use_of(program.module)
    given = program.origin and program.origin.options.get("hardware")
    if load_hardware(str(given or DEFAULT_HARDWARE)) != hardware:  # else the partitioner warned
        warn_of_other_axes(hardware, {axis.name: axis.size for axis in program.mesh.axes})
    timeline = timeline or run_timeline(use, program.collectives, hardware)
    seconds_by_axes: defaultdict[str, float] = defaultdict(float)
    bytes_by_axes: defaultdict[str, int] = defaultdict(int)
    seconds_by_kind: defaultdict[str, float] = defaultdict(float)
    for each in timeline.collectives:
        axes = ", ".join(each.collective.axes or ("other groups",))
        seconds_by_axes[axes] += each.busy
        seconds_by_kind[each.collective.kind] += each.busy
        bytes_by_axes[axes] += each.collective.nbytes_total
    peak = use.memory.peak
    return Estimate(
        hardware.title,
        timeline.operations,
        timeline.nbytes_accessed,
        sum(bytes_by_axes.values()),
        timeline.compute_seconds,
        sum(seconds_by_axes.values()),
        timeline.seconds,
        timeline.exposed,
        dict(seconds_by_axes),
        dict(bytes_by_axes),
        dict(seconds_by_kind),
        timeline.lane_seconds,
        use.memory.arguments,
        peak,
        peak <= hardware.bytes_of_memory,
    )
