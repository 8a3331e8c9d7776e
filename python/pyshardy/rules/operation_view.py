# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations with their names, operands and results read once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mlir_sdy.host import ir


class OperationView(NamedTuple):
    """An operation with its name, operands and results read once.

    Calls into the bindings dominate the run time of look-ups.

    Attributes:
        operation: the operation.
        name: its name.
        operands: its operands.
        results: its results.
    """

    operation: ir.Operation
    name: str
    operands: Sequence[ir.Value]
    results: Sequence[ir.Value]

    @classmethod
    def of(cls, operation: ir.Operation, name: str) -> OperationView:
        """Read an operation of a known name."""
        return cls(operation, name, list(operation.operands), list(operation.results))

    @property
    def values(self) -> tuple[ir.Value, ...]:
        """The operands, then the results."""
        return (*self.operands, *self.results)
