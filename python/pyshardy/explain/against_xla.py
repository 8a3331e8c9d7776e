# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The collectives of pyshardy's partitioner beside those of XLA's.

Both sides get the same annotated program. XLA propagates by its Shardy and partitions by its
partitioner. Ours is propagated and partitioned by pyshardy, and then compiled by XLA without
partitioning. Both are counted in optimised HLO, after XLA has removed and combined collectives, so
that our numbers can be lower than those of the partitioned program.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlir_sdy.diagnostics import SourceLocation
from mlir_sdy.model import Mesh
from pyshardy import packages
from pyshardy.backends.xla.hlo import HloCollective, collectives_of
from pyshardy.backends.xla.program import XlaProgram
from pyshardy.contracts.contract import MeasuredProgram, PlacedCollective, lines_of
from pyshardy.display import Displayed, Table
from pyshardy.irtools.locations import scope_names
from pyshardy.local_program.communication import axes_of_groups, axes_of_moves
from pyshardy.local_program.process_groups import Layout

if TYPE_CHECKING:
    from pyshardy.backends.xla.hlo import HloCollective
    from pyshardy.program import PartitionedProgram


_ENTERED_TWICE = re.compile(r"^(jit\([^()]*\)/)\1")
_COMBINED = re.compile(r"(?P<before>(?:.*/)?)\((?P<paths>[^:]+(?::[^:]+)+)\)")


@dataclass(frozen=True, slots=True)
class ComparedKind:
    """The collectives of a kind in groups of a size on both sides.

    Attributes:
        kind: the kind: `all-gather`.
        group_size: the number of devices that exchange data with each other; for a permute, the
            number of devices that send.
        counts: the number of ours, and of XLA's.
        nbytes_sent: the bytes that a device sends in ours, and in XLA's, in a run.
    """

    kind: str
    group_size: int
    counts: tuple[int, int]
    nbytes_sent: tuple[int, int]


@dataclass(frozen=True, slots=True, repr=False)
class AgainstXla(Displayed):
    """Our collectives beside XLA's.

    Attributes:
        kinds: the kinds on either side, those that send most bytes first.
        ours: our collectives.
        xlas: those of XLA's partitioner.
    """

    kinds: tuple[ComparedKind, ...]
    ours: tuple[HloCollective, ...]
    xlas: tuple[HloCollective, ...]

    @property
    def nbytes_sent(self) -> tuple[int, int]:
        """The bytes that a device sends in a run: ours, and XLA's."""
        both = [each.nbytes_sent for each in self.kinds]
        return sum(ours for ours, _ in both), sum(xlas for _, xlas in both)

    def summary(self) -> str:
        """Return the numbers and bytes of both sides in one line."""
        ours, xlas = self.nbytes_sent
        return (
            f"pyshardy: {len(self.ours)} collectives, {ours:,} bytes sent; "
            f"XLA: {len(self.xlas)} collectives, {xlas:,} bytes sent"
        )

    def tables(self) -> list[Table]:
        """Return a table of the kinds, with totals."""
        rows: list[tuple[object, ...]] = [
            (each.kind, each.group_size, *_pair(each.counts), *_pair(each.nbytes_sent))
            for each in self.kinds
        ]
        counts = len(self.ours), len(self.xlas)
        rows.append(("total", "", *_pair(counts), *_pair(self.nbytes_sent)))
        headings = ("collective", "devices", "ours", "XLA's", "our bytes", "XLA's bytes")
        title = "Collectives in optimised HLO: pyshardy's partitioner and XLA's"
        return [Table(title, headings, rows, num_numeric=5)]


def against_xla(annotated: str, program: PartitionedProgram) -> AgainstXla:
    """Compile a program by XLA with both partitioners, and return the collectives.

    Args:
        annotated: the text of the program before propagation.
        program: the program as pyshardy partitioned it.

    Raises:
        MissingPackageError: JAX is missing.
        ExecutionError: XLA rejects the program.
    """
    # Reports import this module for its classes.
    from pyshardy import packages  # noqa: PLC0415
    from pyshardy.backends.xla.hlo import collectives_of  # noqa: PLC0415
    from pyshardy.backends.xla.program import XlaProgram, local_xla_program  # noqa: PLC0415

    packages.require("jaxlib", "the comparison with XLA", extra="jax")
    size = program.mesh.total_size
    layout = Layout(1, size)
    theirs = XlaProgram(annotated, (), (), layout, partitioned_by_xla=True)
    ours = local_xla_program(program.module, layout)
    return compared(collectives_of(ours.hlo, size), collectives_of(theirs.hlo, size))


def compared(ours: Sequence[HloCollective], xlas: Sequence[HloCollective]) -> AgainstXla:
    """Return the collectives of both sides, by kinds."""
    counts: defaultdict[tuple[str, int], list[int]] = defaultdict(lambda: [0, 0])
    sent: defaultdict[tuple[str, int], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for side, collectives in enumerate((ours, xlas)):
        for each in collectives:
            counts[each.kind, each.group_size][side] += 1
            sent[each.kind, each.group_size][side] += each.sent_bytes * each.times
    kinds = [
        ComparedKind(kind, size, (counts[kind, size][0], counts[kind, size][1]), _rounded(both))
        for (kind, size), both in sent.items()
    ]
    kinds.sort(key=lambda each: -max(each.nbytes_sent))
    return AgainstXla(tuple(kinds), tuple(ours), tuple(xlas))


def _rounded(both: Sequence[float]) -> tuple[int, int]:
    return round(both[0]), round(both[1])


def _pair(numbers: tuple[int, int]) -> tuple[str, str]:
    return f"{numbers[0]:,}", f"{numbers[1]:,}"


# --- Measurement for contracts -------------------------------------------------------------------


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
    collectives = tuple(_placed_hlo(each, mesh) for each in found)
    return MeasuredProgram(tuple(mesh.axis_names), collectives, program.peak_bytes)


def _placed_hlo(one: HloCollective, mesh: Mesh) -> PlacedCollective:
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
