# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The work and memory of a partitioned program on a device, whatever the hardware."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mlir_sdy.host import ir
from mlir_sdy.traversal import SCALAR_BODIES
from pyshardy.cost.op_work import SizedOperation, Work
from pyshardy.explain.fused_operations import fused_operations
from pyshardy.explain.memory import Memory, memory_of
from pyshardy.explain.operation_table import OperationTable
from pyshardy.irtools.stablehlo_views import COLLECTIVES
from pyshardy.partition.op_facts.work import work_of


@dataclass(frozen=True, slots=True)
class ResourceUse:
    """The work and memory of a local program.

    Attributes:
        table: its operations.
        work: the work of one execution of each operation, by its number in the table, without
            collectives and operations that need none.
        memory: the memory.
    """

    table: OperationTable
    work: Mapping[int, Work]
    memory: Memory


def resource_use_of(module: ir.Module) -> ResourceUse:
    """Return the work and memory of a local program.

    Args:
        module: the program, entered at `@main`.
    """
    table, none = OperationTable.of(module), Work()
    names, ends = table.names, table.ends
    fused = fused_operations(table)
    sizes = dict(table.sizes)
    for number in fused:
        (result,) = table.results[number]
        sizes[result] = sizes[result].fused
    work: dict[int, Work] = {}
    number, end = 0, len(names)
    while number < end:
        name = names[number]
        if name not in COLLECTIVES:
            operands = [sizes[each] for each in table.operands[number]]
            results = [sizes[each] for each in table.results[number]]
            once = work_of(name, SizedOperation(table.operations[number], operands, results))
            if once != none:
                work[number] = once
        number = ends[number] if name in SCALAR_BODIES else number + 1
    return ResourceUse(table, work, memory_of(module, table, fused))
