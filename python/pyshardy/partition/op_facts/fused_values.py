# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The values of a module that are fused into their users, as `fusion` says.

The bodies of functions that will be inlined stand in place of their calls: JAX makes a function of
`jnp.where`. Operations that only say how a value is sharded stand for their operands.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from mlir_sdy.host import ir
from mlir_sdy.traversal import SCALAR_BODIES
from pyshardy.irtools.functions import entry_block, functions_of
from pyshardy.irtools.tensor_types import tensor_bytes
from pyshardy.partition.op_facts.fusion import Operations, kernels_of, name_in_kernels

_RETURN = "func.return"
_SAME_VALUE = frozenset({"sdy.propagation_barrier", "sdy.reshard", "sdy.sharding_constraint"})
_NONE: Mapping[ir.Operation, ir.Block] = MappingProxyType({})


class FusedValues:
    """Finds the values of a program that are fused into their users.

    Args:
        module: the program, in which each function is called once.
        bodies: the bodies of the calls that are inlined.
    """

    def __init__(self, module: ir.Module, bodies: Mapping[ir.Operation, ir.Block] = _NONE):
        self._sources: dict[ir.Value, ir.Value] = {}
        self._numbers: dict[ir.Operation, int] = {}
        self._names: list[str] = []
        self._blocks: list[ir.Block] = []
        self._operands: list[list[ir.Value]] = []
        self._results: list[list[ir.Value]] = []
        replaced = {*bodies.values()}
        for function in functions_of(module):
            block = entry_block(function)
            if block is not None and block not in replaced:
                self._read(block, block, bodies)
        found = Operations(self._names, self._blocks, self._operands, self._results)
        self._kernels = kernels_of(found, lambda value: tensor_bytes(value.type))

    def is_fused(self, value: ir.Value) -> bool:
        """Whether a value is fused into its users."""
        source = self._source(value)
        if not isinstance(source, ir.OpResult):
            return False
        return self._numbers.get(source.owner.operation, -1) in self._kernels.fused

    def accesses(self, operation: ir.Operation) -> list[int]:
        """Return how often the operands of an operation are read, then its results written."""
        number = self._numbers.get(operation, -1)
        reads = self._kernels.reads.get(number) or [1] * len(operation.operands)
        return [*reads, *(int(not self.is_fused(each)) for each in operation.results)]

    def _read(
        self, block: ir.Block, place: ir.Block, bodies: Mapping[ir.Operation, ir.Block]
    ) -> None:
        """Read the operations of a block, which will be in another one.

        Args:
            block: the block.
            place: the block that its operations are inlined into.
            bodies: the bodies of the calls that are inlined.
        """
        for view in block.operations:
            operation = view.operation
            name, operands = operation.name, [self._source(each) for each in operation.operands]
            body = bodies.get(operation)
            if body is not None:
                self._sources.update(zip(body.arguments, operands, strict=True))
                self._read(body, place, bodies)
                returned = list(body.operations)[-1].operation.operands
                sources = zip(operation.results, map(self._source, returned), strict=True)
                self._sources.update(sources)
            elif name in _SAME_VALUE:
                self._sources[operation.results[0]] = operands[0]
            elif name != _RETURN or place == block:
                self._numbers[operation] = len(self._names)
                self._names.append(name_in_kernels(operation, name))
                self._blocks.append(place)
                self._operands.append(operands)
                self._results.append(list(operation.results))
                if name not in SCALAR_BODIES:
                    for region in operation.regions:
                        for inner in region.blocks:
                            self._read(inner, inner, bodies)

    def _source(self, value: ir.Value) -> ir.Value:
        return self._sources.get(value, value)
