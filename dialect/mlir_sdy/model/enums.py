# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The enumerations of the dialect, and the kinds of factors."""

from __future__ import annotations

import enum


class KeywordEnum(enum.IntEnum):
    """An integer enum whose text, `str` and in f-strings, is its keyword in the assembly."""

    @property
    def keyword(self) -> str:
        """The word for this case in the custom assembly."""
        return self.name.lower()

    def __str__(self) -> str:
        return self.keyword

    def __format__(self, format_spec: str) -> str:
        return format(self.keyword, format_spec)


class PropagationDirection(KeywordEnum):
    """Directions in which shardings may flow through an operation; `BOTH` is the union."""

    NONE = 0
    FORWARD = 1
    BACKWARD = 2
    BOTH = 3

    @property
    def keyword(self) -> str:
        """The word for this case in the custom assembly, in capitals."""
        return self.name

    def union(self, other: PropagationDirection) -> PropagationDirection:
        """The directions of either: `FORWARD` with `BACKWARD` is `BOTH`."""
        return PropagationDirection(self | other)

    def intersection(self, other: PropagationDirection) -> PropagationDirection:
        """The directions of both: `FORWARD` with `BACKWARD` is `NONE`."""
        return PropagationDirection(self & other)


class EdgeNodeType(KeywordEnum):
    """The end of an operation that a propagation edge refers to: operand or result."""

    OPERAND = 0
    RESULT = 1


class ReductionOp(KeywordEnum):
    """Reduction that combines the partial results along unreduced axes."""

    SUM = 0
    MAX = 1
    MIN = 2


class FactorType(enum.Enum):
    """Kind of a factor: the communication that sharding along it requires."""

    PASS_THROUGH = "pass-through"
    """No communication if all tensors are sharded equally."""
    REDUCTION = "reduction"
    """Partial results must be reduced."""
    NEED_REPLICATION = "need-replication"
    """All tensors must be replicated along the factor."""
    PERMUTATION = "permutation"
    """Shards exchange elements with neighbors."""
