# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The collectives and the memory of a program as XLA propagates and partitions it.

Collectives are those of optimised HLO, after XLA has removed and combined some. Memory is that of
XLA's buffer assignment.
"""

from __future__ import annotations

import re

from mlir_sdy.diagnostics import SourceLocation
from mlir_sdy.model import Mesh
from pyshardy import packages
from pyshardy.backends.xla.hlo import HloCollective, collectives_of
from pyshardy.backends.xla.program import XlaProgram
from pyshardy.contracts.measured import MeasuredProgram, PlacedCollective, lines_of
from pyshardy.explain.page.scopes import scope_names
from pyshardy.local_program.communication import axes_of_groups, axes_of_moves
from pyshardy.local_program.process_groups import Layout

_ENTERED_TWICE = re.compile(r"^(jit\([^()]*\)/)\1")
_COMBINED = re.compile(r"(?P<before>(?:.*/)?)\((?P<paths>[^:]+(?::[^:]+)+)\)")


def measure_by_xla(annotated: str, mesh: Mesh) -> MeasuredProgram:
    """Compile a program for CPUs by XLA, which propagates and partitions it, and measure it.

    Args:
        annotated: the text of the program before propagation, with locations.
        mesh: the devices.

    Raises:
        MissingPackageError: JAX is missing.
        ExecutionError: XLA rejects the program.
    """
    packages.require("jaxlib", "the measurement of XLA's partitioning", extra="jax")
    program = XlaProgram(annotated, (), (), Layout(1, mesh.total_size), partitioned_by_xla=True)
    found = collectives_of(program.hlo, mesh.total_size)
    collectives = tuple(placed_hlo(each, mesh) for each in found)
    return MeasuredProgram(tuple(mesh.axis_names), collectives, program.peak_bytes)


def placed_hlo(one: HloCollective, mesh: Mesh) -> PlacedCollective:
    """Return a collective of HLO with its places.

    Args:
        one: the collective.
        mesh: the devices.
    """
    axes = axes_of_moves(one.moves, mesh) if one.moves else axes_of_groups(one.groups, mesh)
    names = None if axes is None else tuple(dict.fromkeys(axis.name for axis in axes))
    paths = _paths(one.source)
    file, _, line = one.place.rpartition(":")
    nbytes = round(one.sent_bytes)
    along = "" if names is None else f" along {', '.join(names)}"
    where = f" at {one.place}" if one.place else ""
    times = "" if one.times == 1 else f", executed {one.times} times"
    return PlacedCollective(
        one.kind.replace("-", "_"),
        names,
        nbytes * one.times,
        SourceLocation(file, int(line), 0) if file else None,
        (
            *(scope for path in paths for scope in scope_names(path)),
            *(lines_of(file, line) if file else ()),
        ),
        f"{one.kind}{along}{where}: {nbytes:,} bytes sent{times}\n"
        f"  emitted by XLA's partitioner for {' and '.join(paths) or 'an unknown operation'}",
    )


def _paths(source: str) -> list[str]:
    """Return the paths of operations in the name of a collective.

    XLA combines the names of operations: `jit(f)/(mlp/dot:attention/dot)` is `jit(f)/mlp/dot` and
    `jit(f)/attention/dot`. A function that was made by `jax.jit` is a call in the program that it
    was lowered to: `jit(f)/jit(f)/mlp/dot`.
    """
    source = _ENTERED_TWICE.sub(r"\1", source)
    combined = _COMBINED.fullmatch(source)
    if combined is None:
        return [source] if source else []
    return [combined["before"] + path for path in combined["paths"].split(":")]
