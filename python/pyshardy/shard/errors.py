# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors of conversions between dialects."""

from __future__ import annotations

from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of

SHARD_TO_SDY = "cannot convert shard to sdy"
SDY_TO_SHARD = "cannot convert sdy to shard"


def refusal(where: str, reason: str, place: ir.Operation) -> PassError:
    """Return an error at an operation; `where` names the conversion."""
    return PassError(error(f"{where}: {reason}", location_of(place.location)))


def cannot_lower(operation: ir.Operation, reason: str) -> PassError:
    """Return an error for an operation without a lowering."""
    return refusal(f"cannot lower '{operation.name}' to StableHLO", reason, operation)
