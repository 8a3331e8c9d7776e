# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The collectives and the memory of a partitioned program, as contracts check them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

from mlir_sdy.diagnostics import SourceLocation


@dataclass(frozen=True, slots=True)
class PlacedCollective:
    """A collective with all that limits of a contract may name.

    Attributes:
        kind: its kind: `all_gather`.
        axes: the axes along which it communicates, without the sizes of sub-axes; None if its
            groups don't correspond to axes.
        nbytes_total: the bytes that a device sends in a run.
        place: its source line, else that of the value or of its use; None if unknown.
        places: the scopes, source files and lines, and values that it belongs to.
        text: the collective with its reasons, for messages.
        is_peeled: whether it is one more copy of a collective of a loop, which isn't counted.
    """

    kind: str
    axes: tuple[str, ...] | None
    nbytes_total: int
    place: SourceLocation | None
    places: tuple[str, ...]
    text: str
    is_peeled: bool = False


@dataclass(frozen=True, slots=True)
class MeasuredProgram:
    """The collectives and the memory of a partitioned program.

    Attributes:
        axes: the names of the axes of the mesh.
        collectives: the collectives in the order of the program.
        peak_bytes: the peak memory of a device.
    """

    axes: tuple[str, ...]
    collectives: tuple[PlacedCollective, ...]
    peak_bytes: int


def lines_of(file: str, line: int | str) -> tuple[str, str, str, str]:
    """Return a file and a line in it, each with its folder and without."""
    name = PurePath(file).name
    return file, f"{file}:{line}", name, f"{name}:{line}"


def axis_name(text: str) -> str:
    """Return the name of an axis or a sub-axis."""
    return text.split('"')[1] if '"' in text else text
