# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The work of a device for an operation of a local program."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from mlir_sdy.host import identity, ir
from mlir_sdy.traversal import may_have_regions
from pyshardy.cost.op_work import (
    ProductWork,
    SizedOperation,
    Work,
    elementwise_work,
    moving_work,
    multiplied_elements,
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
    function = record_of(name).work or elementwise_work
    work = function(operation)
    return replace(work, is_fused=True) if operation.is_fused else work


def work_form(name: str, operation: SizedOperation) -> Hashable:
    """Return a key that operations of equal work share; None if the work depends on more."""
    sizes = name, tuple(operation.operands), tuple(operation.results)
    if depends_on_sizes_only(name):
        return sizes
    if may_have_regions(name):
        return None
    # By address: attributes and types live as long as the context.
    types = [identity(operand.type) for operand in operation.operation.operands]
    attributes = [(key, identity(value)) for key, value in operation.operation.attributes.items()]
    return sizes, *types, *attributes


def elements_of_product(name: str, operation: ir.Operation) -> str | None:
    """Return `Work.element` of an operation of some name."""
    is_product = isinstance(record_of(name).work, ProductWork)
    return multiplied_elements(operation) if is_product else None


def depends_on_sizes_only(name: str) -> bool:
    """Whether operations of a name whose values are of equal sizes have equal work."""
    return record_of(name).work in _OF_SIZES
