# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Look-up of the exchange forms of operations."""

from __future__ import annotations

import functools

from mlir_sdy.host import ir
from mlir_sdy.model import OpShardingRule
from pyshardy.partition.op_facts.record import operations_where, record_of
from pyshardy.partition.types.exchange_plan import ExchangeForm


@functools.cache
def exchanging_operations() -> frozenset[str]:
    """Return the names of operations that may have a form."""
    return operations_where(lambda record: record.halo_form is not None)


def form_of(operation: ir.Operation, rule: OpShardingRule) -> ExchangeForm | None:
    """Return the form of an operation with the given rule; None if it has none.

    1. Its record has the function of a form.
    2. The rule isn't user-defined: such a rule may describe something else.
    3. All its tensors are ranked, have static shapes, and are not empty.
    4. Its regions capture no values.
    """
    find = record_of(operation.name).halo_form
    if find is None or rule.is_custom_rule:
        return None
    values = (*operation.operands, *operation.results)
    if not all(map(_is_static, values)) or _captures(operation):
        return None
    return find(operation, rule)


def _is_static(value: ir.Value) -> bool:
    """Whether a value is a tensor with a static shape and at least one element."""
    value_type = value.type
    return isinstance(value_type, ir.RankedTensorType) and all(
        size > 0 for size in value_type.shape
    )


def _captures(operation: ir.Operation) -> bool:
    """Whether regions of an operation use values from outside, as far as can be seen."""
    for region in operation.regions:
        for block in region.blocks:
            known: list[ir.Value] = list(block.arguments)
            for view in block.operations:
                if len(view.regions) or any(operand not in known for operand in view.operands):
                    return True
                known.extend(view.results)
    return False
