# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long a run of a partitioned program takes on given hardware, and what memory it needs.

1. An operation takes as long as what it computes, or as what it reads and writes, whichever is
   longer. Matrix products and all else compute at the same rate.
2. A collective takes the bytes that a device sends at the rate of the slowest of its axes, and for
   each step of a ring the time that this link takes to start: n - 1 steps in a group of n devices,
   twice as many for an all-reduce, one for a permute.
3. Nothing happens at the same time: the time of a run is the sum. `overlapped` is the other
   extreme, where all communication hides behind computation or the reverse.
4. What is in a loop counts as often as that runs; once, if that isn't known.

The constants are those of data sheets. Take it for order, not for seconds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from mlir_sdy.traversal import SCALAR_BODIES, operations_in
from pyshardy.cost.hardware import Hardware
from pyshardy.cost.op_work import Work, work_of
from pyshardy.explain.memory import memory_of
from pyshardy.local_program.communication import Collective
from pyshardy.local_program.segments import COLLECTIVES
from pyshardy.local_program.trip_counts import Repetitions
from pyshardy.program import PartitionedProgram


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run is estimated to take on each device.

    Attributes:
        hardware: the name of the hardware.
        operations: what is computed.
        nbytes_accessed: bytes that are read and written.
        nbytes_sent: bytes that are sent.
        compute_seconds: how long the computation takes.
        communication_seconds: how long the communication takes.
        seconds_by_axes: the same by the axes of collectives.
        bytes_by_axes: the bytes that are sent, by the axes of collectives.
        seconds_by_kind: the communication by the kinds of collectives.
        argument_bytes: the memory of what comes in.
        peak_bytes: the most memory that is needed at once.
        fits: whether the device has that much.
    """

    hardware: str
    operations: float
    nbytes_accessed: float
    nbytes_sent: int
    compute_seconds: float
    communication_seconds: float
    seconds_by_axes: Mapping[str, float]
    bytes_by_axes: Mapping[str, int]
    seconds_by_kind: Mapping[str, float]
    argument_bytes: int
    peak_bytes: int
    fits: bool

    @property
    def seconds(self) -> float:
        """How long a run takes if nothing happens at the same time."""
        return self.compute_seconds + self.communication_seconds

    @property
    def overlapped(self) -> float:
        """How long it takes if the one hides behind the other."""
        return max(self.compute_seconds, self.communication_seconds)


def estimate(program: PartitionedProgram, hardware: Hardware) -> Estimate:
    """Estimate a run of a partitioned program.

    Args:
        program: the program.
        hardware: what it runs on.
    """
    work, compute = _computation(program, hardware)
    seconds_by_axes: defaultdict[str, float] = defaultdict(float)
    bytes_by_axes: defaultdict[str, int] = defaultdict(int)
    seconds_by_kind: defaultdict[str, float] = defaultdict(float)
    for collective in program.collectives:
        times = 1 if collective.repetitions is None else collective.repetitions
        axes = ", ".join(collective.axes or ("other groups",))
        seconds = times * seconds_of(collective, hardware)
        seconds_by_axes[axes] += seconds
        seconds_by_kind[collective.kind] += seconds
        bytes_by_axes[axes] += times * collective.nbytes_sent
    memory = memory_of(program.module)
    return Estimate(
        hardware.name,
        work.operations,
        work.nbytes,
        sum(bytes_by_axes.values()),
        compute,
        sum(seconds_by_axes.values()),
        dict(seconds_by_axes),
        dict(bytes_by_axes),
        dict(seconds_by_kind),
        memory.arguments,
        memory.peak,
        memory.peak <= hardware.bytes_of_memory,
    )


def seconds_of(collective: Collective, hardware: Hardware) -> float:
    """How long a collective takes once.

    Args:
        collective: the collective.
        hardware: what it runs on.

    Example: an `all_gather` of 1,000 bytes from each of 4 devices, along a link of 1e9 bytes in a
    second that takes 1e-6 seconds to start, sends 3,000 bytes in 3 steps: 3e-6 + 3e-6 seconds.
    """
    names = {axis.split('"')[1] if '"' in axis else axis for axis in collective.axes or ()}
    links = [hardware.link_along(name) for name in names] or [hardware.link]
    rate = min(link.bytes_per_second for link in links)
    start = max(link.seconds_to_start for link in links)
    return collective.nbytes_sent / rate + _steps(collective) * start


def _steps(collective: Collective) -> int:
    others = max(collective.group_size - 1, 0)
    if collective.kind in ("collective_permute", "collective_broadcast"):
        return min(others, 1)
    return 2 * others if collective.kind == "all_reduce" else others


def _computation(program: PartitionedProgram, hardware: Hardware) -> tuple[Work, float]:
    repetitions = Repetitions(program.module)
    total, seconds = Work(), 0.0
    for view in operations_in(program.module.operation, leaving_out=SCALAR_BODIES):
        operation = view.operation
        if operation.name in COLLECTIVES:
            continue
        once = work_of(operation)
        if once == Work():
            continue
        times = repetitions.of(operation)
        work = once.times(1 if times is None else times)
        total += work
        seconds += max(
            work.operations / hardware.flops_per_second, work.nbytes / hardware.bytes_per_second
        )
    return total, seconds
