# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The peak memory of a local program on a device, by the live ranges of its values.

1. Arguments are always live, since the caller owns them. What is returned for donated ones may be
   written over them.
2. Other values are live as `live_ranges` says.
3. While an operation with regions runs, the peak memory of one region is added, without the
   arguments of a loop body, which share the memory of its operands and results.
4. Bodies that compute with scalars, such as that of a reduction, need none.
5. While a called function runs, its peak memory is added, without its arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass

from mlir_sdy.host import ir
from mlir_sdy.traversal import SCALAR_BODIES
from pyshardy.backends.donations import aliased_results
from pyshardy.explain.fused_operations import fused_operations
from pyshardy.explain.live_ranges import live_bytes
from pyshardy.explain.operation_table import Block, OperationTable
from pyshardy.irtools.functions import ENTRY
from pyshardy.irtools.stablehlo_views import callee_of, symbol_name

_CALL = "func.call"
_WHILE = "stablehlo.while"


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory that a device needs.

    Attributes:
        arguments: the bytes of the arguments.
        during: the bytes during each operation of `@main`, by its number in the table, including
            arguments.
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


def memory_of(
    module: ir.Module, table: OperationTable | None = None, fused: Set[int] | None = None
) -> Memory:
    """Return the memory that a local program needs on a device.

    Args:
        module: the program, entered at `@main`.
        table: its operations, if they have been read.
        fused: its `fused_operations`, if they are known.
    """
    table = table or OperationTable.of(module)
    fused = fused_operations(table) if fused is None else fused
    peaks = _Peaks(table, fused)
    function = peaks.functions[ENTRY]
    (block,) = table.blocks[function]
    arguments = sum(table.sizes[value].nbytes for value in block.arguments)
    overwritten = {
        result: block.arguments[index]
        for index, result in enumerate(aliased_results(table.operations[function]))
        if result is not None
    }
    during = live_bytes(table, fused, block, peaks.inside, overwritten)
    return Memory(arguments, tuple((each, arguments + needed) for each, needed in during))


class _Peaks:
    """Computes the peak memory of regions and functions without their arguments."""

    def __init__(self, table: OperationTable, fused: Set[int]):
        self._table = table
        self._fused = fused
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
        during = live_bytes(self._table, self._fused, block, self.inside, overwritten)
        return max((needed for _, needed in during), default=0)

    def _of_function(self, name: str) -> int:
        if name not in self._of_functions:
            self._of_functions[name] = 0  # a recursive function is counted once
            (block,) = self._table.blocks[self.functions[name]]
            self._of_functions[name] = self._of_block(block, {})
        return self._of_functions[name]
