# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The work of the operations of a local program, and their seconds on given hardware.

1. The time of an operation is the maximum of its arithmetic and its memory traffic. What is fused
   into users has no time of its own: those have its work (see `partition.op_facts.fusion`).
2. The time of a collective is the number of bytes sent at the bandwidth of its slowest link, plus
   the latency of this link for each step of a ring: n - 1 steps in a group of n devices, twice as
   many for an all-reduce, one for a permute.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace

from mlir_sdy.host import ir
from mlir_sdy.traversal import SCALAR_BODIES
from pyshardy.cost.hardware import Hardware
from pyshardy.cost.op_work import SizedOperation, Work
from pyshardy.irtools.plain_operations import keeps_its_place
from pyshardy.irtools.stablehlo_views import COLLECTIVES, callee_of, symbol_name
from pyshardy.local_program.communication import Collective
from pyshardy.partition.op_facts.work import work_form, work_of
from pyshardy.timeline.memory import Memory, Orders, kernels_in, memory_of
from pyshardy.timeline.operation_table import Block, OperationTable

_CALL = "func.call"


@dataclass(frozen=True, slots=True)
class ResourceUse:
    """The work and memory of a local program, whatever the hardware.

    Attributes:
        table: its operations.
        work: the work of one execution of each operation, by its number in the table, without
            collectives and operations that need none.
        fused: the operations that are computed as parts of their users.
        memory: the memory in the order of the text.
    """

    table: OperationTable
    work: Mapping[int, Work]
    fused: frozenset[int]
    memory: Memory

    def memory_in(self, orders: Orders) -> Memory:
        """Return the memory if blocks run in other orders."""
        if not orders:
            return self.memory
        return memory_of(self.table.module, self.table, self.fused, orders)


def resource_use_of(module: ir.Module) -> ResourceUse:
    """Return the work and memory of a local program.

    Args:
        module: the program, entered at `@main`.
    """
    table, none = OperationTable.of(module), Work()
    names, ends, sizes = table.names, table.ends, table.sizes
    kernels = kernels_in(table)
    work: dict[int, Work] = {}
    alike: dict[object, Work] = {}  # equal layers have operations of equal work
    parts: defaultdict[int, float] = defaultdict(float)
    number, end = 0, len(names)
    while number < end:
        name = names[number]
        if name not in COLLECTIVES:
            operands = [sizes[each] for each in table.operands[number]]
            reads = kernels.reads.get(number)
            if reads is not None:
                operands = [size.times(n) for size, n in zip(operands, reads, strict=True)]
            results = [sizes[each] for each in table.results[number]]
            operation = SizedOperation(table.operations[number], operands, results)
            form = work_form(name, operation)
            once = alike.get(form) or work_of(name, operation)
            if form is not None:
                alike[form] = once
            if number in kernels.fused:
                for start in kernels.fused[number]:
                    parts[start] += once.operations
            else:
                read = [sizes[each].nbytes for each in kernels.inputs.get(number, ())]
                once += Work(parts.pop(number, 0.0), sum(read))
                if once != none:
                    work[number] = once
        number = ends[number] if name in SCALAR_BODIES else number + 1
    fused = frozenset(kernels.fused)
    return ResourceUse(table, work, fused, memory_of(module, table, fused))


def seconds_of(collective: Collective, hardware: Hardware) -> float:
    """Return the time of one execution of a collective."""
    return collective.planned.traffic(hardware).seconds


@dataclass(frozen=True, slots=True)
class Transfer:
    """A collective on its lanes.

    Attributes:
        index: its index among the collectives of the program.
        seconds: the time of one execution.
        lanes: the lanes that it occupies.
    """

    index: int
    seconds: float
    lanes: tuple[str, ...]


class Durations:
    """The seconds of the operations of a program.

    Args:
        use: the work of the program.
        collectives: its collectives, in the order of the text.
        hardware: the devices and links.

    Attributes:
        table: the operations.
        compute: the seconds of each operation that computes for some time, by its number.
        transfers: the collectives, by their numbers, and by those of `async_start` around them.
        functions: the bodies of functions by name.
    """

    def __init__(self, use: ResourceUse, collectives: Sequence[Collective], hardware: Hardware):
        self.table = table = use.table
        self.hardware = hardware
        self.compute = {number: work.seconds(hardware) for number, work in use.work.items()}
        numbers = (number for number, name in enumerate(table.names) if name in COLLECTIVES)
        self.transfers = {
            number: Transfer(index, seconds_of(each, hardware), hardware.lanes(each.axis_names))
            for index, (number, each) in enumerate(zip(numbers, collectives, strict=True))
        }
        self.functions: dict[str, Block] = {}
        self._inside: dict[int, tuple[frozenset[str], bool]] = {}
        for number, name in enumerate(table.names):
            if name == "func.func":
                for block in table.blocks_of(number):
                    self.functions[symbol_name(table.operations[number])] = block
            elif name == "stablehlo.async_start" and number + 1 in self.transfers:
                self.transfers[number] = self.transfers[number + 1]

    def with_operands(self, operands: Sequence[Sequence[int]]) -> Durations:
        """Return the durations of a program whose operations have other operands."""
        other = copy(self)
        other.table = replace(self.table, operands=operands)
        return other

    def callee(self, call: int) -> Block:
        """Return the body of the function that a call names."""
        return self.functions[callee_of(self.table.operations[call])]

    def lanes_inside(self, number: int) -> frozenset[str]:
        """Return the lanes of all collectives in the regions of an operation, or in its callee."""
        return self._look_inside(number)[0] if self.has_inside(number) else frozenset()

    def keeps_its_place(self, number: int) -> bool:
        """Whether other operations may not move across an operation."""
        if not self.has_inside(number):
            return keeps_its_place(self.table.operations[number])
        return self._look_inside(number)[1]

    def has_inside(self, number: int) -> bool:
        """Whether an operation has regions or is a call."""
        return self.table.ends[number] > number + 1 or self.table.names[number] == _CALL

    def _look_inside(self, number: int) -> tuple[frozenset[str], bool]:
        known = self._inside.get(number)
        if known is None:
            self._inside[number] = frozenset[str](), False  # ends a recursion
            table = self.table
            inner: Iterable[int] = range(number + 1, table.ends[number])
            if table.names[number] == _CALL:
                inner = self.callee(number).inside
            lanes, fixed = set[str](), keeps_its_place(table.operations[number])
            for each in inner:
                if each in self.transfers:
                    lanes.update(self.transfers[each].lanes)
                elif table.names[each] == _CALL:
                    lanes |= self.lanes_inside(each)
                    fixed = fixed or self.keeps_its_place(each)
                fixed = fixed or keeps_its_place(table.operations[each])
            known = self._inside[number] = frozenset(lanes), fixed
        return known
