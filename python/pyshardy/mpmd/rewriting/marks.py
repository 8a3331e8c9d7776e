# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Marks of fragments that passes have made, labels of origins, and copies of values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mlir_sdy.discardable import get_discardable, set_discardable
from mlir_sdy.host import ir
from mlir_sdy.mpmd.building import fragment, return_
from mlir_sdy.mpmd.reading import body_of
from pyshardy.irtools.locations import tag_of, tagged

INFERRED_BY = "mpmd.inferred_by"
"""The attribute with the passes that have made an inferred fragment."""

# The labels of the origins of assignments, as C++ Shardy writes them.

USER_INPUT = "user_in"
"""An argument that the user has placed on a mesh."""

USER_OUTPUT = "user_out"
"""A result that the user has placed on a mesh."""

INFERRED_INPUT = "inferred_in"
"""An argument whose mesh is inferred."""

INFERRED_OUTPUT = "inferred_out"
"""A result whose mesh is inferred."""

CONSTRAINED_INPUT = "io_constraint_in"
"""An argument that must be on the mesh of a result."""

CONSTRAINED_OUTPUT = "io_constraint_out"
"""A result that must be on the mesh of an argument."""

_REDUCTION = "reduction"


def mark_inferred(fragment: ir.Operation, *passes: str) -> None:
    """Mark a fragment with the passes that have made it."""
    strings = [ir.StringAttr.get(each, fragment.context) for each in passes]
    set_discardable(fragment, INFERRED_BY, ir.ArrayAttr.get(strings, fragment.context))


def inferred_by(fragments: Iterable[ir.Operation]) -> list[str]:
    """Return the passes that have made any of the fragments, each once."""
    found: dict[str, None] = {}
    for each in fragments:
        for name in get_discardable(each, INFERRED_BY) or ():
            found[ir.StringAttr(name).value] = None
    return list(found)


def mark_reduction(operation: ir.Operation) -> None:
    """Mark an operation on values of several meshes, in its location, which passes keep."""
    operation.location = tagged(operation.location, _REDUCTION, 0)


def is_reduction(operation: ir.Operation) -> bool:
    """Whether an operation has the mark of `mark_reduction`."""
    return tag_of(operation.location, _REDUCTION) is not None


def copies(values: Sequence[ir.Value], mesh: str, *passes: str) -> list[ir.Value]:
    """Build a fragment that passes have made, which returns values of a mesh as they are."""
    operands = list(dict.fromkeys(values))
    built = fragment(mesh, [value.type for value in values], operands)
    mark_inferred(built, *passes)
    with ir.InsertionPoint(body_of(built)):
        arguments = dict(zip(operands, body_of(built).arguments, strict=True))
        return_([arguments[value] for value in values])
    return list(built.results)
