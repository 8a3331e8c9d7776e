# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The texts beside the graph: the program, the partitioned program, and Python sources."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from mlir_sdy.assembly import asm, parse
from mlir_sdy.diagnostics import SourceLocation
from mlir_sdy.dialect import Context
from mlir_sdy.host import ir, location_of
from mlir_sdy.traversal import operations_in

_STATEMENT = re.compile(
    r"\s*(?:%[^=]*=\s*)?(?:\"?[a-z_]\w*\.[a-z_][\w.]*|(?:module|return|call)\b)"
)
_SHORT_REDUCE = re.compile(r"\bstablehlo\.reduce\(.*\) applies ")

_ELEMENTS = 32
"""The number of elements from which a constant is elided."""

_PACKAGE = Path(__file__).parents[2]

_MOST_BYTES = 500_000
"""The size up to which a Python file is included."""


class LineData(NamedTuple):
    """An operation in a line of a text.

    Attributes:
        node: the number of the operation.
        line: the number of the line, from 1. Operations may share lines, and have several.
    """

    node: int
    line: int


@dataclass(frozen=True, slots=True)
class TextData:
    """A text with the operations in its lines.

    Attributes:
        name: the name of the text.
        text: the text.
        lines: the operations in the order of the text.
    """

    name: str
    text: str
    lines: tuple[LineData, ...]


def program_text(name: str, module: ir.Module, numbers: Sequence[int | None]) -> TextData:
    """Return the text of a module, with large constants elided.

    Args:
        name: the name of the text.
        module: the module, which has been verified.
        numbers: the number of each of its operations, in the order of the text; None if an
            operation has none.
    """
    text = asm(module, large_elements_limit=_ELEMENTS, assume_verified=True)
    lines = list(_statements(text))
    if len(lines) != len(numbers):  # an operation whose syntax `_statements` doesn't know
        # The same lines; with elided replica groups the text could not be read.
        lines = list(_lines_of_operations(asm(module)))
    numbered = zip(numbers, lines, strict=True)
    found = (LineData(number, line) for number, line in numbered if number is not None)
    return TextData(name, text, tuple(found))


def _statements(text: str) -> Iterator[int]:
    """Yield the line of each operation of a text, as far as lines tell, without parsing it.

    An operation begins a line. A `stablehlo.reduce` in its short form stands for two more.
    """
    is_statement = _STATEMENT.match
    for number, line in enumerate(text.split("\n"), 1):
        # Most lines define values; the regular expression takes longer to see this.
        if line.lstrip().startswith("%") or is_statement(line):
            yield number
            if "stablehlo.reduce(" in line and _SHORT_REDUCE.search(line):
                yield from (number, number)


def _lines_of_operations(text: str) -> Iterator[int]:
    """Yield the line of each operation of a text, in the order of the text, by parsing it."""
    module = parse(text, Context(), "text")
    for view in operations_in(module.operation):
        place = location_of(view.operation.location)
        yield 0 if place is None else place.line


def python_texts(places: Mapping[int, SourceLocation | None]) -> Iterator[TextData]:
    """Yield the Python files that operations come from, if they can be read.

    Files of installed packages are left out, and those of this one.

    Args:
        places: the source location of each operation.
    """
    by_file: defaultdict[str, list[LineData]] = defaultdict(list)
    for node, place in places.items():
        if place is not None and place.filename.endswith(".py"):
            by_file[place.filename].append(LineData(node, place.line))
    for filename, lines in by_file.items():
        path = Path(filename)
        is_own = path.is_relative_to(_PACKAGE)
        if is_own or "site-packages" in path.parts or not path.is_file():
            continue
        if path.stat().st_size <= _MOST_BYTES:
            text = path.read_text(encoding="utf-8", errors="replace")
            yield TextData(path.name, text, tuple(sorted(lines, key=lambda each: each.line)))
