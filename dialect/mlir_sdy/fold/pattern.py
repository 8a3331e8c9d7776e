# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a pattern is, and what several of them ask of the IR."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

from mlir_sdy.host import ir, rewrite

Rewrite = Callable[[ir.Operation, rewrite.PatternRewriter], bool]

RESHARD = "sdy-reshard"
"""The label of patterns that merge reshards."""

COLLECTIVE = "sdy-collective"
"""The label of patterns that simplify collectives."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A way to simplify an operation.

    Attributes:
        root: the name of the operation.
        rewrite: looks at such an operation and, if the pattern matches, rewrites it and returns
            True. Operations must be replaced and erased through the rewriter.
        label: the group that options of passes know the pattern by; empty without one.
    """

    root: str
    rewrite: Rewrite
    label: str = ""

    @property
    def name(self) -> str:
        """The name that options of passes know just this pattern by."""
        return self.rewrite.__name__.replace("_", "-")


def producer(value: ir.Value, name: str) -> ir.Operation | None:
    """The operation called `name` that `value` is a result of; None if it isn't."""
    if isinstance(value, ir.BlockArgument):
        return None
    operation = value.owner.operation
    return operation if operation.name == name else None


def is_used(value: ir.Value) -> bool:
    """Whether anything uses `value`."""
    return next(iter(value.uses), None) is not None


def has_one_use(value: ir.Value) -> bool:
    """Whether `value` is used exactly once."""
    return len(tuple(islice(value.uses, 2))) == 1
