# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The live bytes of a block during each of its operations.

1. A buffer is live from its definition to its last use, in the order of the text.
2. The result of a reshape, a bitcast or a barrier shares the memory of its operand.
3. Results of elementwise operations and broadcasts take no memory where compilers fuse them into
   their users: into a single one, or if they are cheap to compute, into each of several. Their
   operands are live until then.
4. A `dynamic_update_slice` or a scatter is written over its operand if this is its last use.
5. The results of a loop reuse the buffers of operands that aren't used later. Values that the body
   doesn't change share the memory of the operand.
6. What a loop body returns is written over its argument, if this isn't used later than an
   elementwise operation computes the value, or before any other one does. So is what a function
   returns for a donated argument.

This is what XLA's buffer assignment does; `bench/memory.py` compares the two.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass

from pyshardy.explain.operation_table import Block, OperationTable
from pyshardy.propagation.elementwise import ELEMENTWISE_OPERATIONS

_SAME_MEMORY = frozenset(
    {"stablehlo.bitcast_convert", "stablehlo.optimization_barrier", "stablehlo.reshape"}
)
_WHILE = "stablehlo.while"
_UPDATES = frozenset({"stablehlo.dynamic_update_slice", "stablehlo.scatter"})


def live_bytes(
    table: OperationTable,
    fused: Set[int],
    block: Block,
    inside: Callable[[int], int],
    overwritten: Mapping[int, int],
) -> Iterator[tuple[int, int]]:
    """Yield the operations of a block with the bytes while each runs, without those of arguments.

    Args:
        table: the operations of the program.
        fused: its `fused_operations`.
        block: the block.
        inside: returns the bytes that an operation with regions or a call needs inside.
        overwritten: by the number of an operand of the terminator, the argument of the block whose
            memory it may have.
    """
    uses = _Uses(table, fused, block)
    buffers = _Buffers(uses, table, overwritten)
    for at, is_fused in enumerate(uses.is_fused):
        if not is_fused:
            buffers.define(at)
    buffers.overwrite_arguments()
    allocated, freed = buffers.changes()
    held = 0
    for at, number in enumerate(uses.operations):
        held += allocated[at]
        yield number, held + inside(number)
        held -= freed[at]


class _Uses:
    """The operations of a block, at their places in it, and when they use values.

    Attributes:
        operations: the numbers of the operations.
        names: their names.
        is_fused: whether each is computed as a part of its users.
        time: the place of the operation with which each is computed: its own, or that of the last
            operation that it is fused into.
        last: the time of the last use of each value that has uses.
    """

    def __init__(self, table: OperationTable, fused: Set[int], block: Block):
        self.operations = list(table.directly_in(block))
        self.names = [table.names[number] for number in self.operations]
        count = len(self.operations)
        users: defaultdict[int, list[int]] = defaultdict(list)
        nested: defaultdict[int, list[int]] = defaultdict(list)
        operands, ends = table.operands, table.ends
        for at, number in enumerate(self.operations):
            for operand in operands[number]:
                users[operand].append(at)
            for inner in range(number + 1, ends[number]):
                for operand in operands[inner]:
                    nested[operand].append(at)
        self.is_fused = [number in fused for number in self.operations]
        self.time = list(range(count))
        time = self.time
        for at in reversed(range(count)):
            if self.is_fused[at]:
                (result,) = table.results[self.operations[at]]
                time[at] = max([time[user] for user in users[result]])
        self.last = {value: max([time[at] for at in places]) for value, places in users.items()}
        for value, places in nested.items():
            self.last[value] = max(*places, self.last.get(value, 0))


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
        number, name = self._uses.operations[at], self._uses.names[at]
        results = self._table.results[number]
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
