# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exceptions of checks for violated rules."""

from __future__ import annotations

from mlir_sdy.attributes import value_of
from mlir_sdy.diagnostics import Diagnostic, error, note
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import Mesh
from mlir_sdy.symbols import mesh_operation


class Violation(Exception):
    """A violated rule of an operation.

    Attributes:
        message: the error, with the numbers and, if there is one, the fix.
        notes: related operations or values with messages.
        mesh_name: the symbol of the mesh of the rule, if a note on it is to be added.
    """

    def __init__(self, message: str, *notes: tuple[ir.Location, str], mesh_name: str | None = None):
        self.message = message
        self.notes = notes
        self.mesh_name = mesh_name
        super().__init__(message)

    def prefixed(self, prefix: str) -> Violation:
        """Return the violation with `prefix`, which describes the part, before the message."""
        return Violation(prefix + self.message, *self.notes, mesh_name=self.mesh_name)

    def on_mesh(self, mesh_or_ref: str | Mesh) -> Violation:
        """Return the violation with a note on the mesh, unless it is inlined."""
        name = mesh_or_ref if isinstance(mesh_or_ref, str) else None
        return Violation(self.message, *self.notes, mesh_name=self.mesh_name or name)

    def diagnostic(self, operation: ir.Operation) -> Diagnostic:
        """Return the violation as an error at `operation`."""
        return error(
            f"'{operation.name}' op {self.message}",
            location_of(operation.location),
            [note(message, location_of(place)) for place, message in self._all_notes(operation)],
        )

    def _all_notes(self, operation: ir.Operation) -> list[tuple[ir.Location, str]]:
        notes = list(self.notes)
        if self.mesh_name is not None:
            mesh = mesh_operation(operation, self.mesh_name)
            if mesh is not None:
                value = value_of(mesh.attributes["mesh"])
                notes.append((mesh.location, f"the mesh is {value}"))
        return notes
