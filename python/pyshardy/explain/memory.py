# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The memory of a device that a local program needs at once, by the lives of its values.

1. A value lives from the operation that makes it to the last one that uses it, in the order of the
   text. Arguments live all the time: whoever calls has them.
2. A value that nothing but a reshape, a bitcast or a barrier makes is the same memory.
3. What elementwise operations and broadcasts make for one use only is never in memory: compilers
   fuse them into that.
4. While an operation with regions runs, what is needed inside of one region is needed besides, the
   arguments of a loop's body apart, which are its operands and results.
5. A called function needs its memory, its arguments apart, while it runs.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir_sdy.host import ir
from pyshardy.cost.op_work import nbytes_of
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
    """What a device needs.

    Attributes:
        arguments: the bytes of what comes in.
        peak: the most bytes that are needed at once, arguments included.
        at: the operation before whose end that is; None if it needs nothing but arguments.
    """

    arguments: int
    peak: int
    at: ir.Operation | None


def memory_of(module: ir.Module) -> Memory:
    """The memory that a local program needs on a device.

    Args:
        module: the program, entered at `@main`.
    """
    liveness = _Liveness(module)
    main = liveness.functions[ENTRY]
    arguments = sum(map(nbytes_of, main.regions[0].blocks[0].arguments))
    peak, at = liveness.of_block(main.regions[0].blocks[0])
    return Memory(arguments, arguments + peak, at)


class _Liveness:
    """Finds what blocks need besides their arguments."""

    def __init__(self, module: ir.Module):
        self.functions = {
            view.operation.attributes["sym_name"].value: view.operation
            for view in module.body.operations
            if view.operation.name == "func.func"
        }
        self._of_functions: dict[str, int] = {}

    def of_block(self, block: ir.Block) -> tuple[int, ir.Operation | None]:
        """The most bytes that are needed at once, and where."""
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
        held = peak = 0
        at: ir.Operation | None = None
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
            needed = held + self._inside(operation)
            if needed > peak:
                peak, at = needed, operation
            held -= freed.get(number, 0)
        return peak, at

    def _inside(self, operation: ir.Operation) -> int:
        if operation.name == _CALL:
            return self._of_function(operation.attributes["callee"].value)
        regions = (block for region in operation.regions for block in region.blocks)
        return max((self.of_block(block)[0] for block in regions), default=0)

    def _of_function(self, name: str) -> int:
        if name not in self._of_functions:
            self._of_functions[name] = 0  # what calls itself is not counted twice
            block = self.functions[name].regions[0].blocks[0]
            self._of_functions[name] = self.of_block(block)[0]
        return self._of_functions[name]


def _used_by(operation: ir.Operation) -> list[ir.Value]:
    """The operands of an operation, and of all in its regions."""
    used = list(operation.operands)
    for region in operation.regions:
        for block in region.blocks:
            for view in block.operations:
                used += _used_by(view.operation)
    return used


def _is_fused(operation: ir.Operation, result: ir.Value) -> bool:
    """Whether a value is made where it is used, and nowhere else."""
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
