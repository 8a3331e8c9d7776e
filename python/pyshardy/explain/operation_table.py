# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operations of a local program as plain lists, read once for all of its costs.

Operations are numbered in the order of the text from 0, which is the module. Values are known by
their identities (`mlir_sdy.host.identity`), which are valid while the module isn't changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mlir_sdy.host import identity, ir
from mlir_sdy.traversal import may_have_regions
from pyshardy.cost.op_work import TensorSize, TensorSizes

_NO_REGIONS: tuple[Block, ...] = ()


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
        operations: the operations.
        names: their names.
        ends: for each operation the number after that of the last operation inside of it.
        operands: the operands of each.
        results: the results of each.
        blocks: the blocks of operations that have some.
        sizes: the size of each value.
    """

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
        reader.read_operation(module.operation, module.operation.name)
        return cls(
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

    def read_operation(self, operation: ir.Operation, name: str) -> None:
        number = len(self.operations)
        self.operations.append(operation)
        self.names.append(name)
        self.operands.append([identity(operand) for operand in operation.operands])
        self.results.append([self._read_value(result) for result in operation.results])
        self.ends.append(number + 1)
        if may_have_regions(name):
            blocks = [
                self._read_block(region_number, block)
                for region_number, region in enumerate(operation.regions)
                for block in region.blocks
            ]
            if blocks:
                self.blocks[number] = tuple(blocks)
                self.ends[number] = len(self.operations)

    def _read_block(self, region: int, block: ir.Block) -> Block:
        arguments = tuple(map(self._read_value, block.arguments))
        start = len(self.operations)
        read = self.read_operation
        for view in block.operations:
            operation = view.operation
            read(operation, operation.name)
        return Block(region, arguments, range(start, len(self.operations)))

    def _read_value(self, value: ir.Value) -> int:
        number = identity(value)
        self.sizes[number] = self._size_of(value)
        return number
