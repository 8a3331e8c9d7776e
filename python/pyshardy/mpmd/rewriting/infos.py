# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fragments by their descriptions in rules of users."""

from __future__ import annotations

from collections.abc import Sequence

from mlir_sdy.diagnostics import PassError, error, note
from mlir_sdy.discardable import has_discardable
from mlir_sdy.host import ir, location_of
from mlir_sdy.mpmd.reading import CALL_COUNTER, FRAGMENT, integer_of, mesh_name_of, origins_of
from pyshardy.mpmd.rewriting.merging import DROPS_TRANSFERRED, KEEPS_TRANSFERRED, STAGE
from pyshardy.mpmd.schedules.rules import FragmentInfo

HALVES = {"keep": KEEPS_TRANSFERRED, "drop": DROPS_TRANSFERRED}
"""The marks of the halves of split fragments, by their names in rules."""


def info_of(fragment: ir.Operation) -> FragmentInfo:
    """Return the description of a fragment."""
    halves = [half for half, mark in HALVES.items() if has_discardable(fragment, mark)]
    return FragmentInfo(
        origins_of(fragment),
        integer_of(fragment, STAGE),
        integer_of(fragment, CALL_COUNTER),
        halves[0] if halves else "",
        mesh_name_of(fragment),
    )


def by_info(operations: Sequence[ir.Operation]) -> dict[FragmentInfo, ir.Operation]:
    """Return the fragments by their descriptions, also without the mesh if that is enough.

    Raises:
        PassError: two fragments of the user have the same description.
    """
    found: dict[FragmentInfo, ir.Operation] = {}
    on_any_mesh: dict[FragmentInfo, list[ir.Operation]] = {}
    for each in operations:
        if each.name != FRAGMENT or not origins_of(each):
            continue
        info = info_of(each)
        if info in found:
            notes = [note("the other fragment is here", location_of(found[info].location))]
            message = f"two fragments have the description {info}, so no rule can tell them apart"
            raise PassError(error(message, location_of(each.location), notes))
        found[info] = each
        on_any_mesh.setdefault(info._replace(mesh_name=""), []).append(each)
    return {**found, **{info: each[0] for info, each in on_any_mesh.items() if len(each) == 1}}
