# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A quick check for elementwise operations whose tensors have one sharding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlir_sdy.discardable import has_discardable
from mlir_sdy.host import ir
from mlir_sdy.model import TensorSharding
from pyshardy.propagation.elementwise import ELEMENTWISE_OPERATIONS
from pyshardy.rules.families.broadcast import BROADCASTING_OPERATIONS
from pyshardy.rules.own_rules import SHARDING_RULE

_OF_ONE_SHAPE = ELEMENTWISE_OPERATIONS.difference(BROADCASTING_OPERATIONS)


def is_compatible_already(
    operation: ir.Operation,
    name: str,
    results: Sequence[TensorSharding | None],
    known: Mapping[ir.Value, TensorSharding | None],
) -> bool:
    """Whether an operation is elementwise and all its tensors have equal shardings.

    This quick check covers most operations of a program. No tensor may be unreduced. Equal
    shardings prove nothing where tensors have different shapes, as for an implicit broadcast.

    Args:
        operation: the operation.
        name: its name.
        results: the shardings of its results.
        known: the shardings of all values.
    """
    if name not in _OF_ONE_SHAPE:
        return False
    (sharding,) = results
    for operand in operation.operands:
        if known[operand] is not sharding:
            return False
    return not has_discardable(operation, SHARDING_RULE)
