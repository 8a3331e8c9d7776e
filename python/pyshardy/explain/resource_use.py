# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The work and memory of a partitioned program on a device, whatever the hardware."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mlir_sdy.host import ir
from mlir_sdy.traversal import SCALAR_BODIES, named_operations_in
from pyshardy.cost.op_work import TensorSizes, Work
from pyshardy.explain.memory import Memory, memory_of
from pyshardy.local_program.segments import COLLECTIVES
from pyshardy.partition.op_facts.work import work_of


@dataclass(frozen=True, slots=True)
class ResourceUse:
    """The work and memory of a local program.

    Attributes:
        work: the work of one execution of each operation, in the order of the text, without
            collectives and operations that need none.
        memory: the memory.
    """

    work: Mapping[ir.Operation, Work]
    memory: Memory


def resource_use_of(module: ir.Module) -> ResourceUse:
    """Return the work and memory of a local program.

    Args:
        module: the program, entered at `@main`.
    """
    sizes, none = TensorSizes(), Work()
    work: dict[ir.Operation, Work] = {}
    for operation, name in named_operations_in(module, leaving_out=SCALAR_BODIES):
        if name not in COLLECTIVES:
            once = work_of(name, sizes.of_operation(operation))
            if once != none:
                work[operation] = once
    return ResourceUse(work, memory_of(module, sizes))
