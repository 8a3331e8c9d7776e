# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What stands around the elements that a device has."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import cached_property

from mlir_sdy.host import ir


class PaddingContents(Enum):
    """What the positions must hold that are no elements."""

    UNDEFINED = "undefined"
    ZERO = "zero, as far as they are needed"
    SCALAR = "the scalar, as far as they are needed"


class FillValue:
    """What is put around elements: a scalar, and whether it matters that it is there.

    Args:
        make: makes the scalar, when it is needed first.
        rest: what must be there.
    """

    def __init__(self, make: Callable[[], ir.Value], rest: PaddingContents):
        self._make = make
        self.rest = rest

    @cached_property
    def scalar(self) -> ir.Value:
        """The scalar."""
        return self._make()
