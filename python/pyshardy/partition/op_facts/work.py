# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The work of a device for an operation of a local program."""

from __future__ import annotations

from pyshardy.cost.op_work import (
    SizedOperation,
    Work,
    elementwise_work,
    moving_work,
    no_work,
    taking_work,
)
from pyshardy.partition.op_facts.record import record_of

_OF_SIZES = frozenset({None, elementwise_work, moving_work, no_work, taking_work})


def work_of(name: str, operation: SizedOperation) -> Work:
    """Return the work of a device for one execution of an operation, without its regions.

    Args:
        name: the name of the operation.
        operation: the operation.
    """
    work = record_of(name).work
    return elementwise_work(operation) if work is None else work(operation)


def depends_on_sizes_only(name: str) -> bool:
    """Whether operations of a name have equal work if their operands and results are of equal size.

    Args:
        name: the name of the operations.
    """
    return record_of(name).work in _OF_SIZES
