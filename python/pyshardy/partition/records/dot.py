# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Contractions: products of elements, added up along the contracted dimensions."""

from __future__ import annotations

import math
from dataclasses import replace

from mlir_sdy.host import ir
from pyshardy.cost.op_work import ProductWork, SizedOperation
from pyshardy.irtools.stablehlo_views import DotView
from pyshardy.partition.local.arithmetic import retype_only
from pyshardy.partition.op_facts.record import Neutral, PartitionRecord
from pyshardy.partition.partial.linear_operations import multiplicative
from pyshardy.partition.partial.reductions import completion_by_sum
from pyshardy.partition.types.neutral_elements import has_zero


def zeros_for_all_operands(operation: ir.Operation) -> dict[int, Neutral] | None:
    """Return 0 for all operands, since 0 for one of them times an infinity would be NaN.

    None if an element type has no zero.
    """
    if not all(has_zero(operand.type) for operand in operation.operands):
        return None
    return dict.fromkeys(range(len(operation.operands)), 0)


def _num_operations(sized: SizedOperation) -> int:
    """Return 2 for each element of the result and of the contracted dimensions."""
    numbers = DotView(sized.operation).dot_dimension_numbers
    shape = sized.operands[0].shape
    dims: list[int] = list(numbers.lhs_contracting_dimensions)
    return 2 * math.prod(shape[dim] for dim in dims) * sized.results[0].elements


def _num_operations_of_matrices(sized: SizedOperation) -> int:
    """Return 2 for each element of the result and of the last dimension of the left operand."""
    shape = sized.operands[0].shape
    return 2 * (shape[-1] if shape else 1) * sized.results[0].elements


_CONTRACTION = PartitionRecord(
    completion=completion_by_sum,
    local_form=retype_only,
    neutral_values=zeros_for_all_operands,
)
_PRODUCT = replace(_CONTRACTION, linearity=multiplicative(0, 1))

RECORDS = {
    "stablehlo.dot": replace(_PRODUCT, work=ProductWork(_num_operations_of_matrices)),
    "stablehlo.dot_general": replace(_PRODUCT, work=ProductWork(_num_operations)),
    "stablehlo.einsum": _CONTRACTION,
    "stablehlo.unary_einsum": _CONTRACTION,
}
