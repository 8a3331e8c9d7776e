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

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from mlir_sdy.host import ir
from mlir_sdy.traversal import may_have_regions
from pyshardy.cost.op_work import TensorSizes
from pyshardy.irtools.stablehlo_views import callee_of, symbol_name
from pyshardy.local_program.entry import ENTRY
from pyshardy.partition.op_facts.fusion import FUSED_OPERATIONS, FUSING_OPERATIONS

_SAME_MEMORY = frozenset(
    {"stablehlo.bitcast_convert", "stablehlo.optimization_barrier", "stablehlo.reshape"}
)
_CALL = "func.call"


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
    liveness = _Liveness(module, sizes or TensorSizes())
    block = liveness.functions[ENTRY].regions[0].blocks[0]
    arguments = sum(liveness.sizes.of(value).nbytes for value in block.arguments)
    during = liveness.during(block)
    return Memory(arguments, tuple((each, arguments + needed) for each, needed in during))


@dataclass(slots=True)
class _Uses:
    """The uses of a value in its block; a use in a region of an operation is one of its own.

    Attributes:
        last: the number of the last operation that uses it.
        direct: the number of uses as an operand.
        nested: whether an operation in a region uses it.
    """

    last: int = 0
    direct: int = 0
    nested: bool = False


class _Liveness:
    """Computes the peak memory of blocks without their arguments."""

    def __init__(self, module: ir.Module, sizes: TensorSizes):
        self.sizes = sizes
        self.functions = {
            symbol_name(view.operation): view.operation
            for view in module.body.operations
            if view.operation.name == "func.func"
        }
        self._of_functions: dict[str, int] = {}

    def during(self, block: ir.Block) -> Iterator[tuple[ir.Operation, int]]:
        """Yield the operations of a block with the memory in bytes while each of them runs."""
        operations = [view.operation for view in block.operations]
        names = [operation.name for operation in operations]
        results: list[list[ir.Value]] = [list(operation.results) for operation in operations]
        roots: dict[ir.Value, ir.Value] = {}
        uses: defaultdict[ir.Value, _Uses] = defaultdict(_Uses)
        for number, (operation, name) in enumerate(zip(operations, names, strict=True)):
            operands: list[ir.Value] = list(operation.operands)
            for operand in operands:
                uses[operand].direct += 1
                uses[roots.get(operand, operand)].last = number
            if may_have_regions(name):
                for value in _used_inside(operation):
                    uses[value].nested = True
                    uses[roots.get(value, value)].last = number
            if name in _SAME_MEMORY:
                for operand, result in zip(operands, results[number], strict=False):
                    roots[result] = roots.get(operand, operand)
        freed: defaultdict[int, int] = defaultdict(int)
        held = 0
        for number, (operation, name) in enumerate(zip(operations, names, strict=True)):
            for result in results[number]:
                if result in roots:
                    continue
                used = uses.get(result)
                is_used_once = used is not None and used.direct == 1 and not used.nested
                if name in FUSED_OPERATIONS and is_used_once:
                    user = next(iter(result.uses)).owner.operation.name
                    if user in FUSING_OPERATIONS:
                        continue
                nbytes = self.sizes.of(result).nbytes
                held += nbytes
                freed[number if used is None else used.last] += nbytes
            inside = self._inside(operation, name) if may_have_regions(name) else 0
            yield operation, held + inside
            held -= freed[number]

    def _inside(self, operation: ir.Operation, name: str) -> int:
        if name == _CALL:
            return self._of_function(callee_of(operation))
        blocks = (block for region in operation.regions for block in region.blocks)
        return max(map(self._of_block, blocks), default=0)

    def _of_block(self, block: ir.Block) -> int:
        return max((needed for _, needed in self.during(block)), default=0)

    def _of_function(self, name: str) -> int:
        if name not in self._of_functions:
            self._of_functions[name] = 0  # a recursive function is counted once
            block = self.functions[name].regions[0].blocks[0]
            self._of_functions[name] = self._of_block(block)
        return self._of_functions[name]


def _used_inside(operation: ir.Operation) -> Iterator[ir.Value]:
    """Yield the operands of all operations in the regions of an operation."""
    for region in operation.regions:
        for block in region.blocks:
            for view in block.operations:
                yield from view.operation.operands
                if may_have_regions(view.operation.name):
                    yield from _used_inside(view.operation)
