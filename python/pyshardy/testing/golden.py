# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Golden files: the collectives of a program by source line, as JSON.

A later version of the program is compared with the file, so that a test shows each collective that
appears, disappears, or sends another number of bytes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from mlir_sdy.diagnostics import UsageError, error
from pyshardy.contracts.measured import MeasuredProgram

_OTHER_GROUPS = "other groups"


class _Key(NamedTuple):
    """The collectives that a golden file counts together."""

    line: str
    kind: str
    axes: str


class _Sum(NamedTuple):
    """Their number and the bytes that a device sends in a run."""

    number: int
    nbytes: int


class GoldenMismatch(AssertionError):
    """The collectives of a program differ from those of its golden file."""


def golden_text(measured: MeasuredProgram) -> str:
    """Return the golden file of a program."""
    rows = [
        {"line": line, "collective": kind, "axes": axes, "count": number, "nbytes": nbytes}
        for (line, kind, axes), (number, nbytes) in sorted(_sums(measured).items())
    ]
    lines = ",\n".join("    " + json.dumps(row) for row in rows)
    collectives = f"[\n{lines}\n  ]" if rows else "[]"
    axes = json.dumps(list(measured.axes))
    return f'{{\n  "axes": {axes},\n  "collectives": {collectives}\n}}\n'


def assert_equals_golden(
    measured: MeasuredProgram, path: str | os.PathLike[str], *, update: bool = False
) -> None:
    """Assert that the collectives of a program are those of a golden file.

    Args:
        measured: the collectives.
        path: the file.
        update: write the file instead.

    Raises:
        GoldenMismatch: they differ; the text is a table of the differences.
        UsageError: the file can't be read or written, or isn't a golden file.
    """
    __tracebackhide__ = True  # for pytest
    try:
        if update:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_text(golden_text(measured), encoding="utf-8")
            return
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        message = f"there is no golden file '{path}': write it by 'pytest --sdy-update'"
        raise UsageError(error(message)) from None
    except OSError as refusal:
        reason = refusal.strerror or refusal
        raise UsageError(error(f"cannot use the golden file '{path}': {reason}")) from None
    expected = _parsed(text, path)
    found = _sums(measured)
    if expected != found:
        raise GoldenMismatch(_differences(expected, found, path))


def _sums(measured: MeasuredProgram) -> dict[_Key, _Sum]:
    sums: dict[_Key, _Sum] = {}
    for each in measured.collectives:
        place = each.place
        line = "" if place is None else f"{PurePath(place.filename).name}:{place.line}"
        axes = _OTHER_GROUPS if each.axes is None else ", ".join(each.axes)
        key = _Key(line, each.kind, axes)
        number, nbytes = sums.get(key, _Sum(0, 0))
        sums[key] = _Sum(number + 1, nbytes + each.nbytes_total)
    return sums


def _parsed(text: str, path: str | os.PathLike[str]) -> dict[_Key, _Sum]:
    try:
        rows: list[dict[str, Any]] = json.loads(text)["collectives"]
        return {
            _Key(row["line"], row["collective"], row["axes"]): _Sum(row["count"], row["nbytes"])
            for row in rows
        }
    except (ValueError, KeyError, TypeError) as reason:
        message = f"'{path}' is not a golden file ({reason!r}): write it by 'pytest --sdy-update'"
        raise UsageError(error(message)) from None


def _differences(
    expected: Mapping[_Key, _Sum], found: Mapping[_Key, _Sum], path: str | os.PathLike[str]
) -> str:
    none = _Sum(0, 0)
    rows: list[tuple[str, ...]] = [("line", "collective", "axes", "count", "bytes sent")]
    for key in sorted(expected.keys() | found.keys()):
        before, after = expected.get(key, none), found.get(key, none)
        if before != after:
            rows.append(
                (
                    key.line or "unknown",
                    key.kind,
                    key.axes,
                    _change(before.number, after.number),
                    _change(before.nbytes, after.nbytes),
                )
            )
    lines = [f"the collectives differ from those of '{path}':", *_aligned(rows)]
    return "\n".join([*lines, "if this is intended, update the file by 'pytest --sdy-update'"])


def _change(before: int, after: int) -> str:
    return f"{before:,}" if before == after else f"{before:,} -> {after:,}"


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  "
        + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
