# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations whose dimensions must stay as they are."""

from __future__ import annotations

from mlir_sdy.discardable import has_discardable
from mlir_sdy.host import ir

_ATTRIBUTES = ("sdy.sharding", "sdy.sharding_rule", "mhlo.sharding")


def has_fixed_dims(operation: ir.Operation) -> bool:
    """Whether attributes of an operation, such as its sharding, refer to its dimensions."""
    return any(has_discardable(operation, name) for name in _ATTRIBUTES)
