# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The peak memory of a local program on a device, by the live ranges of its values.

1. Arguments are always live, since the caller owns them. What is returned for donated ones may be
   written over them.
2. Other values are live as `live_ranges` says.
3. While an operation with regions runs, the peak memory of one region is added, without the
   arguments of a loop body, which share the memory of its operands and results.
4. While a called function runs, its peak memory is added, without its arguments.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mlir_sdy.host import ir
from pyshardy.backends.donations import aliased_results
from pyshardy.cost.op_work import TensorSizes
from pyshardy.explain.live_ranges import live_bytes
from pyshardy.irtools.stablehlo_views import callee_of, symbol_name
from pyshardy.local_program.entry import ENTRY

_CALL = "func.call"
_WHILE = "stablehlo.while"


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory that a device needs.

    Attributes:
        arguments: the bytes of the arguments.
        during: the bytes during each operation of `@main`, including arguments.
    """

    arguments: int
    during: tuple[tuple[ir.Operation, int], ...]

    @property
    def peak(self) -> int:
        """The peak memory in bytes, including arguments."""
        return max((nbytes for _, nbytes in self.during), default=self.arguments)

    @property
    def at(self) -> ir.Operation | None:
        """The first operation during which the peak occurs; None if no operation needs memory."""
        peak = self.peak
        if peak == self.arguments:
            return None
        return next(operation for operation, nbytes in self.during if nbytes == peak)


def memory_of(module: ir.Module, sizes: TensorSizes | None = None) -> Memory:
    """Return the memory that a local program needs on a device.

    Args:
        module: the program, entered at `@main`.
        sizes: the sizes of values that are known already.
    """
    peaks = _Peaks(module, sizes or TensorSizes())
    function = peaks.functions[ENTRY]
    block = function.regions[0].blocks[0]
    arguments = sum(peaks.sizes.of(value).nbytes for value in block.arguments)
    overwritten = {
        result: block.arguments[index]
        for index, result in enumerate(aliased_results(function))
        if result is not None
    }
    during = live_bytes(block, peaks.sizes, peaks.inside, overwritten)
    return Memory(arguments, tuple((each, arguments + needed) for each, needed in during))


class _Peaks:
    """Computes the peak memory of regions and functions without their arguments."""

    def __init__(self, module: ir.Module, sizes: TensorSizes):
        self.sizes = sizes
        self.functions = {
            symbol_name(view.operation): view.operation
            for view in module.body.operations
            if view.operation.name == "func.func"
        }
        self._of_functions: dict[str, int] = {}

    def inside(self, operation: ir.Operation, name: str) -> int:
        """Return the bytes that an operation with regions or a call needs inside."""
        if name == _CALL:
            return self._of_function(callee_of(operation))
        blocks = [block for region in operation.regions for block in region.blocks]
        if name == _WHILE:
            condition, body = blocks
            overwritten = dict(enumerate(body.arguments))
            return max(self._of_block(condition, {}), self._of_block(body, overwritten))
        return max((self._of_block(block, {}) for block in blocks), default=0)

    def _of_block(self, block: ir.Block, overwritten: Mapping[int, ir.Value]) -> int:
        during = live_bytes(block, self.sizes, self.inside, overwritten)
        return max((needed for _, needed in during), default=0)

    def _of_function(self, name: str) -> int:
        if name not in self._of_functions:
            self._of_functions[name] = 0  # a recursive function is counted once
            block = self.functions[name].regions[0].blocks[0]
            self._of_functions[name] = self._of_block(block, {})
        return self._of_functions[name]
