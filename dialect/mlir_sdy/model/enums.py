# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The enumerations of the dialect, and the kinds of factors."""

from __future__ import annotations

import enum


class KeywordEnum(enum.IntEnum):
    """An integer enum whose text, `str` and in f-strings, is its keyword in the assembly."""

    @property
    def keyword(self) -> str:
        """The word that stands for this case in the custom assembly."""
        return self.name.lower()

    def __str__(self) -> str:
        return self.keyword

    def __format__(self, format_spec: str) -> str:
        return format(self.keyword, format_spec)


class PropagationDirection(KeywordEnum):
    """Ways in which shardings may flow through an op; `BOTH` is the union of the other two."""

    NONE = 0
    FORWARD = 1
    BACKWARD = 2
    BOTH = 3

    @property
    def keyword(self) -> str:
        """The word that stands for this case in the custom assembly: in capitals."""
        return self.name

    def union(self, other: PropagationDirection) -> PropagationDirection:
        """The directions of either: `FORWARD` with `BACKWARD` is `BOTH`."""
        return PropagationDirection(self | other)

    def intersection(self, other: PropagationDirection) -> PropagationDirection:
        """The directions of both: `FORWARD` with `BACKWARD` is `NONE`."""
        return PropagationDirection(self & other)


class EdgeNodeType(KeywordEnum):
    """Which end of an op a propagation edge refers to."""

    OPERAND = 0
    RESULT = 1


class ReductionOp(KeywordEnum):
    """How the partial values along unreduced axes combine to the true value."""

    SUM = 0
    MAX = 1
    MIN = 2


class FactorType(enum.Enum):
    """What sharding a factor of an op means."""

    PASS_THROUGH = "pass-through"
    """No communication when all tensors agree."""
    REDUCTION = "reduction"
    """Partial results must be reduced."""
    NEED_REPLICATION = "need-replication"
    """The factor must be made replicated."""
    PERMUTATION = "permutation"
    """Shards must be exchanged between neighbours."""
