# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exceptions of checks for violated rules."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from mlir_sdy.attributes import value_of
from mlir_sdy.diagnostics import Diagnostic, Part, Severity, note
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import Mesh
from mlir_sdy.symbols import mesh_operation

BINDING = "parent bounding this axis as manual"
"""The note on the computation that binds an axis."""


def bound_axis(name: str) -> str:
    """Return the message for an axis that a manual computation around the operation binds."""
    return f'operates on axis "{name}" which is already bound by a parent sdy.manual_computation op'


class ConstraintViolation(Exception):
    """A violated rule of an operation.

    Attributes:
        message: the error, with the numbers and, if there is one, the fix.
        notes: related operations or values with messages.
        parts: the part of the operation that is wrong, from the outside in.
        mesh_name: the symbol of the mesh of the rule, if a note on it is to be added.
        consequences: as those of `Diagnostic`.
    """

    def __init__(
        self,
        message: str,
        *notes: tuple[ir.Location, str],
        parts: Sequence[Part] = (),
        mesh_name: str | None = None,
        consequences: Sequence[str] = (),
    ):
        self.message = message
        self.notes = notes
        self.parts = tuple(parts)
        self.mesh_name = mesh_name
        self.consequences = tuple(consequences)
        super().__init__(message)

    def prefixed(self, prefix: str) -> ConstraintViolation:
        """Return the violation with `prefix`, which describes the part, before the message."""
        return self._with(message=prefix + self.message)

    def inside(self, *parts: Part) -> ConstraintViolation:
        """Return the violation with the parts around the one that is wrong, from the outside in."""
        return self._with(parts=(*parts, *self.parts))

    def on_mesh(self, mesh_or_ref: str | Mesh) -> ConstraintViolation:
        """Return the violation with a note on the mesh, unless it is inlined."""
        name = mesh_or_ref if isinstance(mesh_or_ref, str) else None
        return self._with(mesh_name=self.mesh_name or name)

    def _with(
        self,
        *,
        message: str | None = None,
        parts: Sequence[Part] | None = None,
        mesh_name: str | None = None,
    ) -> ConstraintViolation:
        return ConstraintViolation(
            self.message if message is None else message,
            *self.notes,
            parts=self.parts if parts is None else parts,
            mesh_name=mesh_name or self.mesh_name,
            consequences=self.consequences,
        )

    def diagnostic(self, operation: ir.Operation) -> Diagnostic:
        """Return the violation as an error at `operation`."""
        notes = self._all_notes(operation)
        return Diagnostic(
            Severity.ERROR,
            f"'{operation.name}' op {self.message}",
            location_of(operation.location),
            tuple(note(message, location_of(place)) for place, message in notes),
            self.parts,
            consequences=self.consequences,
        )

    def _all_notes(self, operation: ir.Operation) -> list[tuple[ir.Location, str]]:
        notes = list(self.notes)
        if self.mesh_name is not None:
            mesh = mesh_operation(operation, self.mesh_name)
            if mesh is not None:
                value = value_of(mesh.attributes["mesh"])
                notes.append((mesh.location, f"the mesh is {value}"))
        return notes


@contextlib.contextmanager
def inside(*parts: Part) -> Iterator[None]:
    """Add the parts around the one that is wrong to violations of the `with` block."""
    try:
        yield
    except ConstraintViolation as violation:
        raise violation.inside(*parts) from None
