# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fill values: the contents of positions without elements."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import cached_property

from mlir_sdy.host import ir


class PaddingContents(Enum):
    """The contents that positions without elements must have."""

    UNDEFINED = "undefined"
    ZERO = "zero, as far as they are needed"
    SCALAR = "the scalar, as far as they are needed"


class FillValue:
    """A scalar for positions without elements, and the contents that these must have.

    Args:
        make: builds the scalar, when it is first needed.
        rest: the required contents.
    """

    def __init__(self, make: Callable[[], ir.Value], rest: PaddingContents):
        self._make = make
        self.rest = rest

    @cached_property
    def scalar(self) -> ir.Value:
        """The scalar."""
        return self._make()
