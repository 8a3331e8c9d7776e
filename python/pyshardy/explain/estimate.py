# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The estimated time and memory of a run of a partitioned program on given hardware.

1. The time of an operation is the maximum of its arithmetic and its memory traffic. All arithmetic
   has the same rate as matrix products. Results that are fused into their users are neither written
   nor read.
2. The time of a collective is the number of bytes sent at the bandwidth of its slowest link, plus
   the latency of this link for each step of a ring: n - 1 steps in a group of n devices, twice as
   many for an all-reduce, one for a permute.
3. The time of a run is the sum, without overlap. `overlapped` is the other extreme, in which the
   shorter one of communication and computation is hidden completely.
4. Operations in a loop count once for each iteration, or once if the trip count is unknown.

The constants are from data sheets. The estimates are for ranking plans, not for absolute times.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mlir_sdy.host import ir
from mlir_sdy.traversal import SCALAR_BODIES
from pyshardy.cost.hardware import Hardware, warn_of_unknown_axes
from pyshardy.cost.op_work import SizedOperation, Work
from pyshardy.display import Displayed, Table, counted, seconds_text
from pyshardy.explain.memory import Memory, fused_operations, memory_of
from pyshardy.explain.operation_table import OperationTable
from pyshardy.irtools.loops import Repetitions
from pyshardy.irtools.stablehlo_views import COLLECTIVES
from pyshardy.local_program.communication import Collective
from pyshardy.partition.op_facts.work import work_of
from pyshardy.program import PartitionedProgram


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
        seconds_by_axes: the time of the communication by the axes of collectives.
        bytes_by_axes: the bytes sent by the axes of collectives.
        seconds_by_kind: the time of the communication by the kinds of collectives.
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
    seconds_by_axes: Mapping[str, float]
    bytes_by_axes: Mapping[str, int]
    seconds_by_kind: Mapping[str, float]
    argument_bytes: int
    peak_bytes: int
    fits: bool

    @property
    def seconds(self) -> float:
        """The time of a run without overlap."""
        return self.compute_seconds + self.communication_seconds

    @property
    def overlapped(self) -> float:
        """The time of a run in which communication and computation overlap completely."""
        return max(self.compute_seconds, self.communication_seconds)

    def summary(self) -> str:
        """Return the hardware, the time, the bytes sent and the memory in one line."""
        return (
            f"{self.hardware}: {seconds_text(self.overlapped)} to {seconds_text(self.seconds)}, "
            f"{self.operations:,.0f} operations, {counted(self.nbytes_sent, 'byte')} sent, "
            f"peak memory {counted(self.peak_bytes, 'byte')}"
        )

    def rows(self, axes: Iterable[str] | None = None) -> list[tuple[str, str]]:
        """Return the costs as text, with their labels.

        Args:
            axes: the axes whose bytes are listed, as in `bytes_by_axes`; by default all of them.
        """
        axes = self.bytes_by_axes if axes is None else axes
        memory = f"{self.peak_bytes:,}" + ("" if self.fits else ", exceeds the device memory")
        return [
            ("operations", f"{self.operations:,.0f}"),
            ("bytes read and written", f"{self.nbytes_accessed:,.0f}"),
            ("bytes sent", f"{self.nbytes_sent:,}"),
            *((f"  along {each}", f"{self.bytes_by_axes.get(each, 0):,}") for each in sorted(axes)),
            ("computation time", seconds_text(self.compute_seconds)),
            ("communication time", seconds_text(self.communication_seconds)),
            ("total time", f"{seconds_text(self.overlapped)} to {seconds_text(self.seconds)}"),
            ("argument memory", f"{self.argument_bytes:,}"),
            ("peak memory", memory),
        ]

    def tables(self) -> list[Table]:
        """Return a table of the costs."""
        title = f"Estimate for {self.hardware}"
        return [Table(title, ("", "on each device"), self.rows(), num_numeric=1)]


def estimate(
    program: PartitionedProgram, hardware: Hardware, use: ResourceUse | None = None
) -> Estimate:
    """Estimate a run of a partitioned program.

    Args:
        program: the program.
        hardware: the hardware.
        use: its `resource_use_of`, if it is known already.
    """
    use = use or resource_use_of(program.module)
    warn_of_unknown_axes(hardware, program.mesh.axis_names)
    work, compute = _computation(program, use, hardware)
    seconds_by_axes: defaultdict[str, float] = defaultdict(float)
    bytes_by_axes: defaultdict[str, int] = defaultdict(int)
    seconds_by_kind: defaultdict[str, float] = defaultdict(float)
    for collective in program.collectives:
        times = collective.assumed_repetitions
        axes = ", ".join(collective.axes or ("other groups",))
        seconds = times * seconds_of(collective, hardware)
        seconds_by_axes[axes] += seconds
        seconds_by_kind[collective.kind] += seconds
        bytes_by_axes[axes] += collective.nbytes_total
    peak = use.memory.peak
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
        use.memory.arguments,
        peak,
        peak <= hardware.bytes_of_memory,
    )


def seconds_of(collective: Collective, hardware: Hardware) -> float:
    """Return the time of one execution of a collective."""
    return collective.planned.traffic(hardware).seconds


def _computation(
    program: PartitionedProgram, use: ResourceUse, hardware: Hardware
) -> tuple[Work, float]:
    repetitions = Repetitions(program.module)
    num_operations, nbytes, seconds = 0.0, 0.0, 0.0
    for number, once in use.work.items():
        times = repetitions.of(use.table.operations[number])
        if times is None:
            times = 1
        operations_run, bytes_moved = once.operations * times, once.nbytes * times
        num_operations += operations_run
        nbytes += bytes_moved
        seconds += hardware.work_seconds(operations_run, bytes_moved, once.element)
    return Work(num_operations, nbytes), seconds


# --- Work and memory, whatever the hardware ------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ResourceUse:
    """The work and memory of a local program.

    Attributes:
        table: its operations.
        work: the work of one execution of each operation, by its number in the table, without
            collectives and operations that need none.
        memory: the memory.
    """

    table: OperationTable
    work: Mapping[int, Work]
    memory: Memory


def resource_use_of(module: ir.Module) -> ResourceUse:
    """Return the work and memory of a local program.

    Args:
        module: the program, entered at `@main`.
    """
    table, none = OperationTable.of(module), Work()
    names, ends = table.names, table.ends
    fused = fused_operations(table)
    sizes = dict(table.sizes)
    for number in fused:
        (result,) = table.results[number]
        sizes[result] = sizes[result].fused
    work: dict[int, Work] = {}
    number, end = 0, len(names)
    while number < end:
        name = names[number]
        if name not in COLLECTIVES:
            operands = [sizes[each] for each in table.operands[number]]
            results = [sizes[each] for each in table.results[number]]
            once = work_of(name, SizedOperation(table.operations[number], operands, results))
            if once != none:
                work[number] = once
        number = ends[number] if name in SCALAR_BODIES else number + 1
    return ResourceUse(table, work, memory_of(module, table, fused))
