# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The peak memory of a local program on a device, by the live ranges of its values.

1. Arguments are always live, since the caller owns them. What is returned for donated ones may be
   written over them.
2. Other values are live as `_live_bytes` says.
3. While an operation with regions runs, the peak memory of one region is added, without the
   arguments of a loop body, which share the memory of its operands and results.
4. Bodies that compute with scalars, such as that of a reduction, need none.
5. While a called function runs, its peak memory is added, without its arguments.
6. A collective that runs beside others needs its result from the start on, and its operand until
   its end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from types import MappingProxyType

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.traversal import SCALAR_BODIES
from pyshardy.backends.donations import aliased_results
from pyshardy.irtools.functions import ENTRY
from pyshardy.irtools.stablehlo_views import callee_of, symbol_name
from pyshardy.partition.op_facts.fusion import (
    Kernels,
    Operations,
    kernels_of,
    name_in_kernels,
)
from pyshardy.propagation.elementwise import ELEMENTWISE_OPERATIONS
from pyshardy.timeline.operation_table import RUN, Block, BlockStep, OperationTable

_CALL = "func.call"
_WHILE = "stablehlo.while"
_SAME_MEMORY = frozenset(
    {"stablehlo.bitcast_convert", "stablehlo.optimization_barrier", "stablehlo.reshape"}
)
_UPDATES = frozenset({"stablehlo.dynamic_update_slice", "stablehlo.scatter"})


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory that a device needs.

    Attributes:
        arguments: the bytes of the arguments.
        during: the bytes during each step of `@main`, by the number of its operation in the table,
            including arguments.
    """

    arguments: int
    during: tuple[tuple[int, int], ...]

    @property
    def peak(self) -> int:
        """The peak memory in bytes, including arguments."""
        return max((nbytes for _, nbytes in self.during), default=self.arguments)

    @property
    def at(self) -> int | None:
        """The first operation during which the peak occurs; None if no operation needs memory."""
        peak = self.peak
        if peak == self.arguments:
            return None
        return next(operation for operation, nbytes in self.during if nbytes == peak)


Orders = Mapping[Block, Sequence[BlockStep]]
"""The steps of blocks whose order isn't that of the text."""


def memory_of(
    module: ir.Module,
    table: OperationTable | None = None,
    fused: Set[int] | None = None,
    orders: Orders = MappingProxyType({}),
) -> Memory:
    """Return the memory that a local program needs on a device.

    Args:
        module: the program, entered at `@main`.
        table: its operations, if they have been read.
        fused: the operations that are parts of their users, if they are known.
        orders: the steps of the blocks that run in an order other than that of the text.
    """
    table = table or OperationTable.of(module)
    fused = kernels_in(table).fused.keys() if fused is None else fused
    peaks = _Peaks(table, fused, orders)
    function = peaks.functions[ENTRY]
    block = peaks.only_block(function)
    arguments = sum(table.sizes[value].nbytes for value in block.arguments)
    overwritten = {
        result: block.arguments[index]
        for index, result in enumerate(aliased_results(table.operations[function]))
        if result is not None
    }
    during = peaks.live_bytes(block, overwritten)
    return Memory(arguments, tuple((each, arguments + needed) for each, needed in during))


class _Peaks:
    """Computes the peak memory of regions and functions without their arguments."""

    def __init__(self, table: OperationTable, fused: Set[int], orders: Orders):
        self._table = table
        self._fused = fused
        self._orders = orders
        self.functions = {
            symbol_name(table.operations[number]): number
            for number, name in enumerate(table.names)
            if name == "func.func"
        }
        self._of_functions: dict[str, int] = {}

    def inside(self, number: int) -> int:
        """Return the bytes that an operation needs for its regions, or the function it calls."""
        name = self._table.names[number]
        if name == _CALL:
            return self._of_function(callee_of(self._table.operations[number]))
        blocks = self._table.blocks_of(number)
        if not blocks or name in SCALAR_BODIES:
            return 0
        if name == _WHILE:
            condition, body = blocks
            overwritten = dict(enumerate(body.arguments))
            return max(self._of_block(condition, {}), self._of_block(body, overwritten))
        return max(self._of_block(block, {}) for block in blocks)

    def _of_block(self, block: Block, overwritten: Mapping[int, int]) -> int:
        during = self.live_bytes(block, overwritten)
        return max((needed for _, needed in during), default=0)

    def live_bytes(self, block: Block, overwritten: Mapping[int, int]) -> Iterator[tuple[int, int]]:
        """Yield the steps of a block with their bytes; see `_live_bytes`."""
        steps = self._orders.get(block) or self._table.written_steps(block)
        uses = _Uses(self._table, self._fused, steps)
        return _live_bytes(self._table, uses, self.inside, overwritten)

    def _of_function(self, name: str) -> int:
        if name not in self._of_functions:
            self._of_functions[name] = 0  # a recursive function is counted once
            block = self.only_block(self.functions[name])
            self._of_functions[name] = self._of_block(block, {})
        return self._of_functions[name]

    def only_block(self, function: int) -> Block:
        """Return the block of a function.

        Raises:
            UsageError: it has none, or several ones, whose order is unknown.
        """
        blocks = self._table.blocks.get(function, ())
        if len(blocks) != 1:
            what = "several blocks" if blocks else "no body"
            advice = ": use stablehlo.if, case or while" if blocks else ""
            message = f"the cost of a function with {what} is unknown{advice}"
            raise UsageError(error(message, location_of(self._table.operations[function].location)))
        return blocks[0]


# --- Fused operations ----------------------------------------------------------------------------


def kernels_in(table: OperationTable) -> Kernels[int]:
    """Return the kernels of a program."""
    block_of = [-1] * len(table.names)
    blocks = (block for own in table.blocks.values() for block in own)
    for place, block in enumerate(blocks):
        for number in table.directly_in(block):
            block_of[number] = place
    names = list(map(name_in_kernels, table.operations, table.names))
    operations = Operations(names, block_of, table.operands, table.results)
    return kernels_of(operations, lambda value: table.sizes[value].nbytes)


# --- Live ranges ---------------------------------------------------------------------------------


def _live_bytes(
    table: OperationTable,
    uses: _Uses,
    inside: Callable[[int], int],
    overwritten: Mapping[int, int],
) -> Iterator[tuple[int, int]]:
    """Yield the operations of a block with the bytes while they run, without the arguments.

    1. A buffer is live from its definition to its last use, in the order of the steps.
    2. The result of a reshape, a bitcast or a barrier shares the memory of its operand.
    3. Results of elementwise operations and broadcasts take no memory where compilers fuse them
       into their users: into a single one, or if they are cheap to compute, into each of several.
       Their operands are live until then.
    4. A `dynamic_update_slice` or a scatter is written over its operand if this is its last use.
    5. The results of a loop reuse the buffers of operands that aren't used later. Values that the
       body doesn't change share the memory of the operand.
    6. What a loop body returns is written over its argument, if this isn't used later than an
       elementwise operation computes the value, or before any other one does. So is what a function
       returns for a donated argument.

    This is what XLA's buffer assignment does; `bench/memory.py` compares the two.

    Args:
        table: the operations of the program.
        uses: the steps of the block.
        inside: returns the bytes that an operation with regions or a call needs inside.
        overwritten: by the number of an operand of the terminator, the argument of the block whose
            memory it may have.
    """
    buffers = _Buffers(uses, table, overwritten)
    for at, is_fused in enumerate(uses.is_fused):
        if not is_fused:
            buffers.define(at)
    buffers.overwrite_arguments()
    allocated, freed = buffers.changes()
    held = 0
    for at, step in enumerate(uses.steps):
        held += allocated[at]
        yield step.number, held + (inside(step.number) if step.phase == RUN else 0)
        held -= freed[at]


class _Uses:
    """The steps of a block, at their places in it, and when they use values.

    Attributes:
        steps: the steps.
        operations: the numbers of their operations.
        names: the names of those that run all at once; those of collectives are empty.
        is_fused: whether each is computed as a part of its users.
        last: the place of the last use of each value that has uses. What is fused is computed with
            the last operation that it is a part of.
    """

    def __init__(self, table: OperationTable, fused: Set[int], steps: Sequence[BlockStep]):
        self.steps = steps
        self.operations = [step.number for step in steps]
        self.names = [table.names[step.number] if step.phase == RUN else "" for step in steps]
        self.is_fused = [number in fused for number in self.operations]
        self.last = last = dict[int, int]()
        operands, ends, of_step = table.operands, table.ends, table.operands_of
        for at in reversed(range(len(steps))):  # users come before what they use
            step, number, when = steps[at], self.operations[at], at
            if self.is_fused[at]:
                when = last[table.results[number][0]]
            for operand in operands[number] if step.phase == RUN else of_step(step):
                if last.get(operand, -1) < when:
                    last[operand] = when
            for inner in range(number + 1, ends[number]):
                for operand in operands[inner]:
                    last[operand] = max(at, last.get(operand, at))


@dataclass(slots=True, eq=False)
class _Buffer:
    """Memory of one or more values.

    Attributes:
        size: its size.
        start: the place of the operation that allocates it; -1 for arguments.
        end: the time of its last use.
        is_reusable: whether other values may be written over it.
        is_counted: whether it is memory beyond that of the arguments.
    """

    size: int
    start: int
    end: int
    is_reusable: bool = True
    is_counted: bool = True


class _Buffers:
    """The buffers of the values of a block.

    Args:
        uses: the operations of the block.
        table: the operations of the program.
        overwritten: the arguments of the block that what it returns may be written over.
    """

    def __init__(self, uses: _Uses, table: OperationTable, overwritten: Mapping[int, int]):
        self._uses, self._table, self._reusable = uses, table, {*overwritten.values()}
        self._of: dict[int, _Buffer] = {}
        returned = table.operands[uses.operations[-1]]
        self._places = {
            returned[index]: self._buffer(argument) for index, argument in overwritten.items()
        }
        self._all: list[_Buffer] = []
        self._fused = {
            table.results[number][0]: number
            for number, is_fused in zip(uses.operations, uses.is_fused, strict=True)
            if is_fused
        }

    def define(self, at: int) -> None:
        """Assign buffers to the results of the operation at a place."""
        number, name, step = self._uses.operations[at], self._uses.names[at], self._uses.steps[at]
        results = self._table.results[number] if name else self._table.results_of(step)
        if name in _SAME_MEMORY:
            for operand, result in zip(self._table.operands[number], results, strict=False):
                self._share(result, self._buffer(operand))
        elif name == _WHILE:
            self._define_loop(at, number)
        else:
            for result in results:
                found = self._overwritten_by(at, name, number, result)
                if found is None:
                    self._allocate(result, at)
                else:
                    self._share(result, found)

    def overwrite_arguments(self) -> None:
        """Put what the terminator returns into the memory of arguments that are dead by then."""
        for value, place in self._places.items():
            buffer = self._buffer(value)
            if place.is_reusable and place.end < buffer.start and place.size == buffer.size:
                buffer.is_counted = place.is_reusable = False

    def changes(self) -> tuple[list[int], list[int]]:
        """Return the bytes that are allocated before each operation, and freed after it."""
        count = len(self._uses.operations)
        allocated, freed = [0] * count, [0] * count
        for buffer in self._all:
            if buffer.is_counted:
                allocated[buffer.start] += buffer.size
                freed[buffer.end] += buffer.size
        return allocated, freed

    def _define_loop(self, at: int, number: int) -> None:
        table = self._table
        _, body = table.blocks[number]
        *_, terminator = table.directly_in(body)
        returned = table.operands[terminator]
        taken: set[int] = set()
        for index, (operand, result) in enumerate(
            zip(table.operands[number], table.results[number], strict=True)
        ):
            buffer = self._buffer(operand)
            if returned[index] == body.arguments[index]:
                self._share(result, buffer)
            elif buffer.is_reusable and buffer.end == at and id(buffer) not in taken:
                taken.add(id(buffer))
                self._share(result, buffer)
            else:
                self._allocate(result, at)

    def _overwritten_by(self, at: int, name: str, number: int, result: int) -> _Buffer | None:
        """Return the buffer of an operand that a result may be written over."""
        table = self._table
        if name in _UPDATES:
            waiting = [table.operands[number][0]]
        elif name in ELEMENTWISE_OPERATIONS and result in self._places:
            waiting = [*table.operands[number]]
        else:
            return None
        size, seen = table.sizes[result].nbytes, set[int]()
        place = self._places.get(result)
        while waiting:
            operand = waiting.pop()
            if operand in seen:
                continue
            seen.add(operand)
            fused = self._fused.get(operand)
            if fused is None:
                buffer = self._buffer(operand)
                is_possible = buffer.is_reusable and buffer.end == at and buffer.size == size
                if is_possible and (name in _UPDATES or buffer is place):
                    return buffer
            elif table.names[fused] in ELEMENTWISE_OPERATIONS:
                waiting.extend(table.operands[fused])
        return None

    def _buffer(self, value: int) -> _Buffer:
        """Return the buffer of a value; those of arguments and outer values aren't counted."""
        found = self._of.get(value)
        if found is None:
            size, end = self._table.sizes[value].nbytes, self._uses.last.get(value, -1)
            found = self._of[value] = _Buffer(size, -1, end, value in self._reusable, False)
        return found

    def _allocate(self, result: int, at: int) -> None:
        end = self._uses.last.get(result, at)
        buffer = self._of[result] = _Buffer(self._table.sizes[result].nbytes, at, end)
        self._all.append(buffer)

    def _share(self, result: int, buffer: _Buffer) -> None:
        self._of[result] = buffer
        buffer.end = max(buffer.end, self._uses.last.get(result, -1))
