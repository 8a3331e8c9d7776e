# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An operation, together with what several readers want to know of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mlir_sdy.host import ir


class OperationView(NamedTuple):
    """An operation, and what has been asked of it already, as asking takes longer than all else.

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
        """What there is to know of an operation of a name."""
        return cls(operation, name, list(operation.operands), list(operation.results))

    @property
    def values(self) -> tuple[ir.Value, ...]:
        """Its operands, then its results."""
        return (*self.operands, *self.results)
