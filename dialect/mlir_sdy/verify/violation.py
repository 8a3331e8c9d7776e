# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How a check tells that a rule is broken."""

from __future__ import annotations

from mlir_sdy.diagnostics import Diagnostic, error, note
from mlir_sdy.host import ir, location_of


class Violation(Exception):
    """A broken rule, found while looking at some operation.

    Attributes:
        message: what is wrong, with the numbers and where there is one the mend.
        notes: other places that belong to it, as operations or values with a message.
    """

    def __init__(self, message: str, *notes: tuple[ir.Location, str]):
        self.message = message
        self.notes = notes
        super().__init__(message)

    def prefixed(self, prefix: str) -> Violation:
        """The same violation with `prefix`, which says what part it is about, in front."""
        return Violation(prefix + self.message, *self.notes)

    def diagnostic(self, operation: ir.Operation) -> Diagnostic:
        """The violation as an error at `operation`."""
        return error(
            f"'{operation.name}' op {self.message}",
            location_of(operation.location),
            [note(message, location_of(place)) for place, message in self.notes],
        )
