# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operations at which the graph shows collectives."""

from __future__ import annotations

from pyshardy.explain.collectives import CollectiveExplanation
from pyshardy.propagation.program import DATA_FLOW_EDGE, SHARDING_GROUP, TERMINATORS, Program

HIDDEN = frozenset({"func.func", "sdy.mesh", DATA_FLOW_EDGE, SHARDING_GROUP})
"""Operations that the report doesn't list."""

NOT_DRAWN = HIDDEN | TERMINATORS
"""Operations that the graph doesn't show."""


def is_drawn(operation: int | None, program: Program) -> bool:
    """Whether the graph shows an operation."""
    return operation is not None and program.names[operation] not in NOT_DRAWN


def node_of(explanation: CollectiveExplanation, program: Program) -> int | None:
    """Return the operation at which the graph shows a collective; None if there is none.

    It is the first one that is drawn of the operation that makes the value and its users.
    """
    made = explanation.made
    ends = [*(() if made is None else (made,)), *explanation.wanted]
    return next((each.operation for each in ends if is_drawn(each.operation, program)), None)
