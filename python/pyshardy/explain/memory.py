# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The peak memory of a local program on a device, by the live ranges of its values.

1. A value is live from its definition to its last use, in the order of the text. Arguments are
   always live, since the caller owns them.
2. The result of a reshape, a bitcast or a barrier shares the memory of its operand.
3. Results of elementwise operations and broadcasts with a single use take no memory, since
   compilers fuse them into the use.
4. While an operation with regions runs, the peak memory of one region is added, without the
   arguments of a loop body, which share the memory of its operands and results.
5. While a called function runs, its peak memory is added, without its arguments.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mlir_sdy.host import ir
from pyshardy.cost.op_work import nbytes_of
from pyshardy.irtools.stablehlo_views import callee_of, symbol_name
from pyshardy.local_program.entry import ENTRY
from pyshardy.propagation.elementwise import ELEMENTWISE_OPERATIONS

_SAME_MEMORY = frozenset(
    {"stablehlo.bitcast_convert", "stablehlo.optimization_barrier", "stablehlo.reshape"}
)
_FUSED = ELEMENTWISE_OPERATIONS | {
    "stablehlo.broadcast_in_dim",
    "stablehlo.constant",
    "stablehlo.iota",
}
_CALL = "func.call"


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory that a device needs.

    Attributes:
        arguments: the bytes of the arguments.
        peak: the peak memory in bytes, including arguments.
        at: the operation during which the peak occurs; None without operations that need memory.
    """

    arguments: int
    peak: int
    at: ir.Operation | None


def memory_of(module: ir.Module) -> Memory:
    """Return the memory that a local program needs on a device.

    Args:
        module: the program, entered at `@main`.
    """
    liveness = _Liveness(module)
    main = liveness.functions[ENTRY]
    arguments = sum(map(nbytes_of, main.regions[0].blocks[0].arguments))
    peak, at = liveness.of_block(main.regions[0].blocks[0])
    return Memory(arguments, arguments + peak, at)


def memory_during(module: ir.Module) -> list[tuple[ir.Operation, int]]:
    """Return the memory of a device during each operation of `@main`, with the arguments.

    Args:
        module: the program, entered at `@main`.
    """
    liveness = _Liveness(module)
    block = liveness.functions[ENTRY].regions[0].blocks[0]
    arguments = sum(map(nbytes_of, block.arguments))
    return [(operation, arguments + needed) for operation, needed in liveness.during(block)]


class _Liveness:
    """Computes the peak memory of blocks without their arguments."""

    def __init__(self, module: ir.Module):
        self.functions = {
            symbol_name(view.operation): view.operation
            for view in module.body.operations
            if view.operation.name == "func.func"
        }
        self._of_functions: dict[str, int] = {}

    def of_block(self, block: ir.Block) -> tuple[int, ir.Operation | None]:
        """Return the peak memory in bytes, and the operation at which it occurs."""
        peak, at = 0, None
        for operation, needed in self.during(block):
            if needed > peak:
                peak, at = needed, operation
        return peak, at

    def during(self, block: ir.Block) -> Iterator[tuple[ir.Operation, int]]:
        """Yield the operations of a block with the memory in bytes while each of them runs."""
        operations = [view.operation for view in block.operations]
        roots: dict[ir.Value, ir.Value] = {}
        last_use: dict[ir.Value, int] = {}
        for number, operation in enumerate(operations):
            for operand in _used_by(operation):
                last_use[roots.get(operand, operand)] = number
            if operation.name in _SAME_MEMORY and len(operation.operands):
                for operand, result in zip(operation.operands, operation.results, strict=False):
                    roots[result] = roots.get(operand, operand)
        freed: dict[int, int] = {}
        held = 0
        for number, operation in enumerate(operations):
            made = 0
            for result in operation.results:
                if result in roots or _is_fused(operation, result):
                    continue
                nbytes = nbytes_of(result)
                made += nbytes
                end = last_use.get(result, number)
                freed[end] = freed.get(end, 0) + nbytes
            held += made
            yield operation, held + self._inside(operation)
            held -= freed.get(number, 0)

    def _inside(self, operation: ir.Operation) -> int:
        if operation.name == _CALL:
            return self._of_function(callee_of(operation))
        regions = (block for region in operation.regions for block in region.blocks)
        return max((self.of_block(block)[0] for block in regions), default=0)

    def _of_function(self, name: str) -> int:
        if name not in self._of_functions:
            self._of_functions[name] = 0  # a recursive function is counted once
            block = self.functions[name].regions[0].blocks[0]
            self._of_functions[name] = self.of_block(block)[0]
        return self._of_functions[name]


def _used_by(operation: ir.Operation) -> list[ir.Value]:
    """Return the operands of an operation and of all operations in its regions."""
    used = list(operation.operands)
    for region in operation.regions:
        for block in region.blocks:
            for view in block.operations:
                used += _used_by(view.operation)
    return used


def _is_fused(operation: ir.Operation, result: ir.Value) -> bool:
    """Whether the operation is fused into the only use of its result."""
    if operation.name not in _FUSED:
        return False
    uses = list(result.uses)
    return (
        len(uses) == 1
        and uses[0].owner.operation.block == operation.block
        and (
            uses[0].owner.operation.name in _FUSED
            or uses[0].owner.operation.name in ("stablehlo.reduce", "stablehlo.select")
        )
    )
