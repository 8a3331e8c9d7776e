# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The dimension numbers of `chlo.ragged_dot`, for which the bindings have no class."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields

Dims = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RaggedDotNumbers:
    """The roles of the dimensions of both operands.

    Attributes:
        lhs_batching: the batching dimensions of the left operand.
        rhs_batching: those of the right operand.
        lhs_contracting: the contracting dimensions of the left operand.
        rhs_contracting: those of the right operand.
        lhs_ragged: the dimension of the left operand that is cut into groups.
        rhs_group: the dimension of groups of the right operand, unless the cut dimension is
            contracting.
    """

    lhs_batching: Dims
    rhs_batching: Dims
    lhs_contracting: Dims
    rhs_contracting: Dims
    lhs_ragged: Dims
    rhs_group: Dims

    @classmethod
    def parse(cls, text: str) -> RaggedDotNumbers:
        """Read the text of the attribute."""
        return cls(*(_dims(text, field.name) for field in fields(cls)))

    @property
    def is_contracting(self) -> bool:
        """Whether the cut dimension is contracting: the result has a dimension of groups, first."""
        return not set(self.lhs_ragged).isdisjoint(self.lhs_contracting)


def _dims(text: str, name: str) -> Dims:
    found = re.search(rf"{name}_dimensions = \[([\d, ]*)\]", text)
    return tuple(map(int, found[1].split(","))) if found and found[1] else ()
