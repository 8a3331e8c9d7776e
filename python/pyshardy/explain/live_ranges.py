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
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from mlir_sdy.host import ir
from mlir_sdy.traversal import may_have_regions
from pyshardy.cost.op_work import TensorSizes
from pyshardy.partition.op_facts.fusion import (
    FUSED_OPERATIONS,
    FUSING_OPERATIONS,
    RECOMPUTED_OPERATIONS,
)
from pyshardy.propagation.elementwise import ELEMENTWISE_OPERATIONS

_SAME_MEMORY = frozenset(
    {"stablehlo.bitcast_convert", "stablehlo.optimization_barrier", "stablehlo.reshape"}
)
_WHILE = "stablehlo.while"
_UPDATES = frozenset({"stablehlo.dynamic_update_slice", "stablehlo.scatter"})


def live_bytes(
    block: ir.Block,
    sizes: TensorSizes,
    inside: Callable[[ir.Operation, str], int],
    overwritten: Mapping[int, ir.Value],
) -> Iterator[tuple[ir.Operation, int]]:
    """Yield the operations of a block with the bytes while each runs, without those of arguments.

    Args:
        block: the block.
        sizes: the sizes of values.
        inside: returns the bytes that an operation with regions or a call needs inside.
        overwritten: by the number of an operand of the terminator, the argument of the block whose
            memory it may have.
    """
    uses = _Uses(block)
    buffers = _Buffers(uses, sizes, overwritten)
    for number, is_fused in enumerate(uses.is_fused):
        if not is_fused:
            buffers.define(number)
    buffers.overwrite_arguments()
    allocated, freed = buffers.changes()
    held = 0
    for number, (operation, name) in enumerate(zip(uses.operations, uses.names, strict=True)):
        held += allocated[number]
        yield operation, held + (inside(operation, name) if may_have_regions(name) else 0)
        held -= freed[number]


class _Uses:
    """The operations of a block, and when they use values.

    Attributes:
        operations: the operations.
        names: their names.
        is_fused: whether each is computed as a part of its users.
        time: the number of the operation with which each is computed: its own, or that of the last
            operation that it is fused into.
        last: the time of the last use of each value that has uses.
    """

    def __init__(self, block: ir.Block):
        self.operations: list[ir.Operation] = [view.operation for view in block.operations]
        self.names = [operation.name for operation in self.operations]
        count = len(self.operations)
        users: defaultdict[ir.Value, list[int]] = defaultdict(list)
        nested: defaultdict[ir.Value, list[int]] = defaultdict(list)
        for number, (operation, name) in enumerate(zip(self.operations, self.names, strict=True)):
            for operand in operation.operands:
                users[operand].append(number)
            if may_have_regions(name):
                for value in _used_inside(operation):
                    nested[value].append(number)
        self.is_fused = [False] * count
        self.time = list(range(count))
        for number in reversed(range(count)):
            name = self.names[number]
            if name in FUSED_OPERATIONS:
                (result,) = self.operations[number].results
                direct = users.get(result, [])
                is_fused = direct and result not in nested and self._is_fusable(name, direct)
                if is_fused:
                    self.is_fused[number] = True
                    self.time[number] = max(self.time[user] for user in direct)
        self.last: dict[ir.Value, int] = {}
        for value, numbers in users.items():
            self.last[value] = max(self.time[number] for number in numbers)
        for value, numbers in nested.items():
            self.last[value] = max(*numbers, self.last.get(value, 0))

    def _is_fusable(self, name: str, users: list[int]) -> bool:
        several = len(users) > 1
        return (name in RECOMPUTED_OPERATIONS or not several) and all(
            self.names[user] in FUSING_OPERATIONS for user in users
        )


@dataclass(slots=True, eq=False)
class _Buffer:
    """Memory of one or more values.

    Attributes:
        size: its size.
        start: the number of the operation that allocates it; -1 for arguments.
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
        uses: the operations.
        sizes: the sizes of values.
        overwritten: the arguments of the block that what it returns may be written over.
    """

    def __init__(self, uses: _Uses, sizes: TensorSizes, overwritten: Mapping[int, ir.Value]):
        self._uses, self._sizes, self._reusable = uses, sizes, {*overwritten.values()}
        self._of: dict[ir.Value, _Buffer] = {}
        returned = uses.operations[-1].operands
        self._places = {
            returned[index]: self._buffer(argument) for index, argument in overwritten.items()
        }
        self._all: list[_Buffer] = []
        self._fused: dict[ir.Value, ir.Operation] = {
            operation.results[0]: operation
            for operation, is_fused in zip(uses.operations, uses.is_fused, strict=True)
            if is_fused
        }

    def define(self, number: int) -> None:
        """Assign buffers to the results of an operation."""
        operation, name = self._uses.operations[number], self._uses.names[number]
        results = list(operation.results)
        if name in _SAME_MEMORY:
            for operand, result in zip(operation.operands, results, strict=False):
                self._share(result, self._buffer(operand))
        elif name == _WHILE:
            self._define_loop(number, operation)
        else:
            for result in results:
                found = self._overwritten_by(number, name, operation, result)
                if found is None:
                    self._allocate(result, number)
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

    def _define_loop(self, number: int, operation: ir.Operation) -> None:
        body = operation.regions[1].blocks[0]
        returned = body.operations[len(body.operations) - 1].operation.operands
        taken: set[int] = set()
        for index, (operand, result) in enumerate(
            zip(operation.operands, operation.results, strict=True)
        ):
            buffer = self._buffer(operand)
            if returned[index] == body.arguments[index]:
                self._share(result, buffer)
            elif buffer.is_reusable and buffer.end == number and id(buffer) not in taken:
                taken.add(id(buffer))
                self._share(result, buffer)
            else:
                self._allocate(result, number)

    def _overwritten_by(
        self, number: int, name: str, operation: ir.Operation, result: ir.Value
    ) -> _Buffer | None:
        """Return the buffer of an operand that a result may be written over."""
        if name in _UPDATES:
            waiting = [operation.operands[0]]
        elif name in ELEMENTWISE_OPERATIONS and result in self._places:
            waiting = [*operation.operands]
        else:
            return None
        size, seen = self._sizes.of(result).nbytes, set[ir.Value]()
        place = self._places.get(result)
        while waiting:
            operand = waiting.pop()
            if operand in seen:
                continue
            seen.add(operand)
            fused = self._fused.get(operand)
            if fused is None:
                buffer = self._buffer(operand)
                is_possible = buffer.is_reusable and buffer.end == number and buffer.size == size
                if is_possible and (name in _UPDATES or buffer is place):
                    return buffer
            elif fused.name in ELEMENTWISE_OPERATIONS:
                waiting.extend(fused.operands)
        return None

    def _buffer(self, value: ir.Value) -> _Buffer:
        """Return the buffer of a value; those of arguments and outer values aren't counted."""
        found = self._of.get(value)
        if found is None:
            size, end = self._sizes.of(value).nbytes, self._uses.last.get(value, -1)
            found = self._of[value] = _Buffer(size, -1, end, value in self._reusable, False)
        return found

    def _allocate(self, result: ir.Value, number: int) -> None:
        end = self._uses.last.get(result, number)
        buffer = self._of[result] = _Buffer(self._sizes.of(result).nbytes, number, end)
        self._all.append(buffer)

    def _share(self, result: ir.Value, buffer: _Buffer) -> None:
        self._of[result] = buffer
        buffer.end = max(buffer.end, self._uses.last.get(result, -1))


def _used_inside(operation: ir.Operation) -> Iterator[ir.Value]:
    """Yield the operands of all operations in the regions of an operation."""
    for region in operation.regions:
        for block in region.blocks:
            for view in block.operations:
                yield from view.operation.operands
                if may_have_regions(view.operation.name):
                    yield from _used_inside(view.operation)
