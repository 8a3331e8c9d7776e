# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The class of patterns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mlir_sdy.host import ir, rewrite

Rewrite = Callable[[Any, rewrite.PatternRewriter], bool | ir.OpView]
"""A function that takes an operation as an object of its class."""

RESHARD = "sdy-reshard"
"""The label of patterns that merge reshards."""

COLLECTIVE = "sdy-collective"
"""The label of patterns that simplify collectives."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A rewrite pattern that simplifies an operation.

    Attributes:
        op_class: the class of the operation.
        rewrite: a function that, if the pattern matches an operation of the class, rewrites it and
            returns True, or an operation of the class to try the patterns on next. Operations must
            be replaced and erased through the rewriter.
        label: the name of its group in options of passes; empty without one.
        inserts: the names of the operations that it may insert besides those of the class.
    """

    op_class: type[ir.OpView]
    rewrite: Rewrite
    label: str = ""
    inserts: tuple[str, ...] = ()

    @property
    def root(self) -> str:
        """The name of the operation."""
        return self.op_class.OPERATION_NAME

    @property
    def name(self) -> str:
        """The name of the pattern in options of passes."""
        return self.rewrite.__name__.replace("_", "-")
