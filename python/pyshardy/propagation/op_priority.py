# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operation priorities: propagate through pass-through operations first.

Propagation runs once for each of the priorities 0 to 4. In the run for p, axes flow along a factor
in the directions that row p or a row above it allows:

| p | allows                                                                                     |
|---|--------------------------------------------------------------------------------------------|
| 0 | both for pass-through operations all of whose operands are scalars or used only here       |
| 1 | both for pass-through operations                                                           |
| 2 | both, for a broadcast backward only, along pass-through factors                            |
| 3 | both, for a broadcast backward only, along all factors                                     |
| 4 | both                                                                                       |

In rows 0 and 1, dynamic slices and dynamic update slices count as pass-through, but only forward.

So a product in the middle of a chain of element-wise operations is propagated only when the
shardings of these are compatible. Edges, barriers and results of functions have no priority: they
take part from the first run on. A factor that a rule blocks stays blocked in all runs.
"""

from __future__ import annotations

import enum
import functools

from mlir_sdy.model import OpShardingRule, PropagationDirection

NUM_PRIORITIES = 5
"""The number of runs."""

_NONE = PropagationDirection.NONE
_FORWARD = PropagationDirection.FORWARD
_BACKWARD = PropagationDirection.BACKWARD
_BOTH = PropagationDirection.BOTH


class PriorityClass(enum.Enum):
    """Behavior of an operation under operation priorities."""

    ALWAYS = enum.auto()
    """Takes part in every run."""

    PASS_THROUGH = enum.auto()
    """Has tensors with the same elements, or with elements that correspond one to one."""

    DYNAMIC_SLICE = enum.auto()
    """Reads or replaces a slice."""

    BROADCAST = enum.auto()
    """Has a result with more dimensions to shard than its operand."""

    OTHER = enum.auto()


PRIORITY_CLASSES = {
    "stablehlo.reshape": PriorityClass.PASS_THROUGH,
    "stablehlo.transpose": PriorityClass.PASS_THROUGH,
    "stablehlo.dynamic_slice": PriorityClass.DYNAMIC_SLICE,
    "stablehlo.dynamic_update_slice": PriorityClass.DYNAMIC_SLICE,
    "stablehlo.broadcast_in_dim": PriorityClass.BROADCAST,
}
"""The class of operations by name, except for element-wise ones (see `elementwise`) and edges."""

PASS_THROUGH_CUSTOM_CALLS = frozenset({"MoveToDevice", "MoveToHost"})
"""Targets of custom calls that count as pass-through operations."""


@functools.cache
def directions_at(
    rule: OpShardingRule, priority_class: PriorityClass, priority: int, single_use: bool
) -> tuple[PropagationDirection, ...]:
    """Return the directions in which axes may flow along each factor of an operation.

    Args:
        rule: the rule of the operation.
        priority_class: the class of the operation.
        priority: the number of the run; with `NUM_PRIORITIES - 1` all are allowed.
        single_use: whether each operand is a scalar or has no other use.
    """
    blocked = frozenset(rule.blocked_propagation_factors)
    special = frozenset(
        (*rule.reduction_factors, *rule.need_replication_factors, *rule.permutation_factors)
    )
    return tuple(
        _NONE
        if factor in blocked
        else _direction(priority_class, priority, single_use, factor in special)
        for factor in range(rule.num_factors)
    )


def _direction(
    priority_class: PriorityClass, priority: int, single_use: bool, is_special: bool
) -> PropagationDirection:
    if priority_class is PriorityClass.ALWAYS or priority >= NUM_PRIORITIES - 1:
        return _BOTH
    allowed = _NONE
    if priority >= 1 or single_use:
        if priority_class is PriorityClass.PASS_THROUGH:
            return _BOTH
        if priority_class is PriorityClass.DYNAMIC_SLICE:
            allowed = _FORWARD
    if priority >= 3 or (priority == 2 and not is_special):
        allowed = _BACKWARD if priority_class is PriorityClass.BROADCAST else _BOTH
    return allowed
