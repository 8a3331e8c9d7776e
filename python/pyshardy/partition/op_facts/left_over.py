# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations of the dialect that an earlier pass should have replaced."""

from __future__ import annotations

REMOVED_BY = {
    "sdy.data_flow_edge": "sdy-sink-data-flow-edges",
    "sdy.func_data_flow_edge": "sdy-sink-func-data-flow-edges",
    "sdy.reshard": "sdy-reshard-to-collectives",
    "sdy.sharding_constraint": "sdy-sharding-constraint-to-reshard",
}
"""The pass that replaces an operation."""


def is_left(name: str) -> str:
    """Return the rest of an error message that begins with the name of a remaining operation."""
    return f"is left: run '{REMOVED_BY[name]}' first"
