# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Copies of an operation in the computation of one device."""

from __future__ import annotations

from collections.abc import Sequence

from mlir_sdy.discardable import remove_discardable
from mlir_sdy.host import ir
from mlir_sdy.values import SHARDING
from pyshardy.irtools.stablehlo_views import FieldValues, set_fields
from pyshardy.partition.op_facts.record import record_of
from pyshardy.partition.types.exchange_form import Body


def local_copy(
    operation: ir.Operation,
    body: Body,
    operands: Sequence[ir.Value],
    attributes: FieldValues,
    result_types: Sequence[ir.Type] | None = None,
) -> ir.Operation:
    """Build an operation on other operands, with attributes replaced.

    Sizes in other attributes are set by the local types.

    Args:
        operation: the operation, which has a local form that is not built of other operations.
        body: the computation of the device.
        operands: the operands.
        attributes: the attributes to replace.
        result_types: the types of the results; those of the computation by default.
    """
    copy = operation.clone(ip=ir.InsertionPoint.current).operation
    for index, operand in enumerate(operands):
        copy.operands[index] = operand
    set_fields(copy, attributes)
    remove_discardable(copy, SHARDING)
    for result, result_type in zip(copy.results, result_types or body.result_types, strict=True):
        result.set_type(result_type)
    fit_sizes = record_of(copy.name).fit_sizes
    if fit_sizes is not None:
        fit_sizes(copy)
    return copy
