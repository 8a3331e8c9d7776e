# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The work of a device for an operation of a local program."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.cost.op_work import Work, elementwise_work
from pyshardy.partition.op_facts.record import record_of


def work_of(operation: ir.Operation) -> Work:
    """Return the work of a device for one execution of an operation, without its regions."""
    work = record_of(operation.name).work
    return elementwise_work(operation) if work is None else work(operation)
