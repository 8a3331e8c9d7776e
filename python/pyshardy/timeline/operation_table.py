# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operations of a local program as plain lists, read once for all of its costs.

Operations are numbered in the order of the text from 0, which is the module. Values are known by
their identities (`mlir_sdy.host.identity`), which are valid while the module isn't changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mlir_sdy.host import identity, ir
from mlir_sdy.traversal import may_have_regions
from mlir_sdy.values import ASYNC_DONE, ASYNC_START
from pyshardy.cost.op_work import TensorSize, TensorSizes

_NO_REGIONS: tuple[Block, ...] = ()


RUN, START, DONE = "run", "start", "done"
"""The phases of an operation: all of it at once, the start of a collective, the wait for it."""


class BlockStep(NamedTuple):
    """A place in the order of a block, at which an operation runs, starts or is waited for.

    Attributes:
        phase: `RUN`, `START` or `DONE`.
        number: the operation; of an asynchronous collective the `async_start`.
        done: the operation whose results the step makes: the `async_done` of an `async_start`,
            otherwise `number`.
    """

    phase: str
    number: int
    done: int


@dataclass(frozen=True, slots=True)
class Block:
    """A block of an operation.

    Attributes:
        region: the number of its region in the operation.
        arguments: its arguments.
        inside: the numbers of its operations and of those inside of them.
    """

    region: int
    arguments: tuple[int, ...]
    inside: range


@dataclass(frozen=True, slots=True)
class OperationTable:
    """The operations of a module, by their numbers.

    Attributes:
        module: the module.
        operations: the operations.
        names: their names.
        ends: for each operation the number after that of the last operation inside of it.
        operands: the operands of each.
        results: the results of each.
        blocks: the blocks of operations that have some.
        sizes: the size of each value.
    """

    module: ir.Module
    operations: Sequence[ir.Operation]
    names: Sequence[str]
    ends: Sequence[int]
    operands: Sequence[Sequence[int]]
    results: Sequence[Sequence[int]]
    blocks: Mapping[int, tuple[Block, ...]]
    sizes: Mapping[int, TensorSize]

    @classmethod
    def of(cls, module: ir.Module) -> OperationTable:
        """Return the table of a module."""
        reader = _Reader()
        reader.read([module.operation])
        return cls(
            module,
            reader.operations,
            reader.names,
            reader.ends,
            reader.operands,
            reader.results,
            reader.blocks,
            reader.sizes,
        )

    def blocks_of(self, number: int) -> tuple[Block, ...]:
        """Return the blocks of an operation."""
        return self.blocks.get(number, _NO_REGIONS)

    def directly_in(self, block: Block) -> Iterator[int]:
        """Yield the operations of a block, without those inside of them."""
        number, end, ends = block.inside.start, block.inside.stop, self.ends
        while number < end:
            yield number
            number = ends[number]

    def written_steps(self, block: Block) -> list[BlockStep]:
        """Return the steps of a block in the order of the text."""
        names, numbers = self.names, list(self.directly_in(block))
        starts = {self.results[each][0]: each for each in numbers if names[each] == ASYNC_START}
        if not starts:
            return [BlockStep(RUN, each, each) for each in numbers]
        waits = {
            each: starts[self.operands[each][0]]
            for each in numbers
            if names[each] == ASYNC_DONE and self.operands[each][0] in starts
        }
        dones = {start: done for done, start in reversed(waits.items())}
        return [
            BlockStep(START, each, dones.get(each, each))
            if names[each] == ASYNC_START
            else BlockStep(DONE, waits[each], each)
            if dones.get(waits.get(each, -1)) == each
            else BlockStep(RUN, each, each)
            for each in numbers
        ]

    def operands_of(self, step: BlockStep) -> Sequence[int]:
        """Return the values that a step reads; the end of a collective those of its start, too."""
        if step.phase == DONE:
            return [*self.operands[step.number], *self.results[step.done]]
        return self.operands[step.number]

    def results_of(self, step: BlockStep) -> Sequence[int]:
        """Return the values whose memory a step needs; those of a collective from its start on."""
        return () if step.phase == DONE else self.results[step.done]


class _Reader:
    """Reads the operations of a module."""

    def __init__(self) -> None:
        self.operations: list[ir.Operation] = []
        self.names: list[str] = []
        self.ends: list[int] = []
        self.operands: list[Sequence[int]] = []
        self.results: list[Sequence[int]] = []
        self.blocks: dict[int, tuple[Block, ...]] = {}
        self.sizes: dict[int, TensorSize] = {}
        self._size_of = TensorSizes().of

    def read(self, given: Iterable[ir.OpView | ir.Operation]) -> None:
        """Read operations, and those in their regions. This is the hot loop of reading."""
        operations, names, ends = self.operations, self.names, self.ends
        operands, results, may_nest = self.operands, self.results, may_have_regions
        for view in given:
            operation = view.operation
            number, name, made = len(operations), operation.name, operation.results
            operations.append(operation)
            names.append(name)
            ends.append(number + 1)
            operands.append([identity(operand) for operand in operation.operands])
            results.append([self._read_value(made[at]) for at in range(len(made))])
            blocks = self._blocks_of(operation) if may_nest(name) else ()
            if blocks:
                self.blocks[number] = blocks
                ends[number] = len(operations)

    def _blocks_of(self, operation: ir.Operation) -> tuple[Block, ...]:
        return tuple(
            self._read_block(number, block)
            for number, region in enumerate(operation.regions)
            for block in region.blocks
        )

    def _read_block(self, region: int, block: ir.Block) -> Block:
        arguments = tuple(map(self._read_value, block.arguments))
        start = len(self.operations)
        self.read(block.operations)
        return Block(region, arguments, range(start, len(self.operations)))

    def _read_value(self, value: ir.Value) -> int:
        number = identity(value)
        self.sizes[number] = self._size_of(value)
        return number
