# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Splitting of an input file into modules for `--split-input-file`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from mlir_sdy.diagnostics import Diagnostic, SourceLocation, warning

SEPARATOR = "// -----"

_NEAR_MISS = re.compile(r"^//[ \t]*(?:-{3,})[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a file; `first_line` is the number of its first line in the whole file."""

    text: str
    first_line: int = 1


def _lines_with(separator: str) -> re.Pattern[str]:
    return re.compile(rf"^{re.escape(separator)}[ \t]*(?:\r?\n|\Z)", re.MULTILINE)


def split_input(text: str, separator: str = SEPARATOR) -> list[Chunk]:
    """Return the parts between the separator lines; at least one, possibly empty."""
    chunks: list[Chunk] = []
    start, line = 0, 1
    for found in _lines_with(separator).finditer(text):
        chunk = text[start : found.start()]
        chunks.append(Chunk(chunk, line))
        line += chunk.count("\n") + 1
        start = found.end()
    chunks.append(Chunk(text[start:], line))
    return chunks


def near_misses(text: str, filename: str) -> Iterator[Diagnostic]:
    """Yield a warning for each line that resembles a separator."""
    separator = _lines_with(SEPARATOR)
    for match in _NEAR_MISS.finditer(text):
        if not separator.match(text, match.start()):
            line = text.count("\n", 0, match.start()) + 1
            message = f"near miss with the separator '{SEPARATOR}' of split inputs"
            yield warning(message, SourceLocation(filename, line, 1))
