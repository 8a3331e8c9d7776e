# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Open documents: their texts, the names in them, and the facts of their last analysis.

Positions are lines and columns that count from 1, as in diagnostics.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from lsprotocol import types
from pygls.workspace import PositionCodec

from pyshardy.lsp.text_index import Name, TextIndex


@dataclass(frozen=True, slots=True)
class DiagnosticData:
    """A diagnostic.

    Attributes:
        severity: `error`, `warning`, `remark` or `note`.
        message: the message.
        filename: the file; empty for the analyzed document.
        line: the line; 0 if unknown.
        column: the column; 0 if unknown.
        notes: messages of its notes.
    """

    severity: str
    message: str
    filename: str
    line: int
    column: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ValueFact:
    """A value of a program after propagation.

    Attributes:
        key: its number, for a request to explain it.
        name: its name in the text; the name of an argument of a traced function.
        line: the line of the definition in the text; 0 if the program has no text.
        column: its column.
        filename: the source file, for traced programs; else empty.
        source_line: the line in the source file.
        source_columns: the first column there and that after the last, from 0; zeros if unknown.
        scope: the scope of the operation, such as `layer_3/mlp`; empty without one.
        type: the type.
        sharding: the sharding; empty if it has none.
        dims: the axes of each dimension, as in `[{"data"}, {}]`; empty without a sharding.
        local_type: the type of a shard.
        nbytes: the bytes of the value; 0 if unknown.
        local_nbytes: the bytes of a shard.
        is_annotated: whether the input program states the sharding.
    """

    key: int
    name: str
    line: int
    column: int
    filename: str
    source_line: int
    source_columns: tuple[int, int]
    scope: str
    type: str
    sharding: str
    dims: str
    local_type: str
    nbytes: int
    local_nbytes: int
    is_annotated: bool


@dataclass(frozen=True, slots=True)
class CollectiveFact:
    """A collective of the partitioned program.

    Attributes:
        summary: the kind, the axes, the bytes and the reason in one line.
        value: the key of the value that it moves or completes; -1 if unknown.
        users: the keys of the first results of the operations that need it, which is for a
            completion the operation that makes the value.
    """

    summary: str
    value: int
    users: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """The results for a program.

    Attributes:
        problems: errors and warnings.
        values: arguments and results of operations; none if there are errors in the program.
        collectives: the collectives; none if the program can't be partitioned.
    """

    problems: tuple[DiagnosticData, ...] = ()
    values: tuple[ValueFact, ...] = ()
    collectives: tuple[CollectiveFact, ...] = field(default=())

    def as_data(self) -> dict[str, Any]:
        """Return the facts as dictionaries and lists."""
        return asdict(self)

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Facts:
        """Return the facts that `as_data` gave."""
        return cls(
            tuple(DiagnosticData(**each) for each in data["problems"]),
            tuple(ValueFact(**each) for each in data["values"]),
            tuple(CollectiveFact(**each) for each in data["collectives"]),
        )

    @classmethod
    def merged(cls, several: Iterable[Facts]) -> Facts:
        """Return the facts of several programs as one."""
        parts = [*several]
        return cls(
            tuple(problem for part in parts for problem in part.problems),
            tuple(value for part in parts for value in part.values),
            tuple(one for part in parts for one in part.collectives),
        )


NO_FACTS = Facts()
"""The facts before the first analysis."""


_STATEMENT = re.compile(
    r"^[ \t]*(?:(?P<result>%)[^=\n]*=(?!=)|\"?[a-z_]\w*\.[a-z_]|(?:return|call|module)\b|\})", re.M
)
_WORD = re.compile(r'"[^"\n]*"?|[@%#!^]?[\w.$-]+(?:#\d+)?|.')


@dataclass
class Document:
    """A document in the editor.

    Attributes:
        uri: its identifier.
        text: its text.
        codec: converts the columns of the editor.
        facts: the facts of its last analysis; for a Python file, of the programs that it traced.
    """

    uri: str
    text: str
    codec: PositionCodec
    facts: Facts = field(default_factory=Facts)

    @property
    def path(self) -> str:
        """The path of its file."""
        return unquote(urlparse(self.uri).path)

    @property
    def is_python(self) -> bool:
        """Whether it is a Python file."""
        return self.uri.endswith(".py")

    @cached_property
    def index(self) -> TextIndex:
        """The names in the text."""
        return TextIndex(self.text)

    @cached_property
    def lines(self) -> list[str]:
        """The lines with their ends."""
        return self.text.splitlines(keepends=True) or [""]

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0]
        for line in self.lines:
            starts.append(starts[-1] + len(line))
        return starts

    # --- Positions ----------------------------------------------------------------------------

    def offset(self, position: types.Position) -> int:
        """Return the offset of a position in the text."""
        place = self.codec.position_from_client_units(self.lines, position)
        line = min(place.line, len(self.lines) - 1)
        return min(self._starts[line] + place.character, len(self.text))

    def position(self, offset: int) -> types.Position:
        """Return the position of an offset."""
        line = min(bisect.bisect(self._starts, offset) - 1, len(self.lines) - 1)
        return types.Position(line, self.units(self.text[self._starts[line] : offset]))

    def units(self, text: str) -> int:
        """Return the columns that a part of the text takes in the editor."""
        return len(text) if text.isascii() else self.codec.client_num_units(text)

    def range(self, start: int, end: int) -> types.Range:
        """Return the range between two offsets."""
        return types.Range(self.position(start), self.position(end))

    def word_at(self, line: int, column: int) -> types.Range:
        """Return the range of the word at a line and column that count from 1."""
        start = self.offset_of(line, column)
        word = _WORD.match(self.text, start)
        return self.range(start, start if word is None else word.end())

    def offset_of(self, line: int, column: int) -> int:
        """Return the offset of a line and column that count from 1."""
        line = min(max(line, 1), len(self.lines))
        return min(self._starts[line - 1] + max(column, 1) - 1, len(self.text))

    # --- Facts --------------------------------------------------------------------------------

    @cached_property
    def _value_at(self) -> dict[int, list[ValueFact]]:
        found: dict[int, list[ValueFact]] = {}
        for value in self.facts.values:
            if value.line:
                found.setdefault(self.offset_of(value.line, value.column), []).append(value)
        return found

    def values_of(self, name: Name) -> list[ValueFact]:
        """Return the values that a name stands for: one, or all results `%x:2` of an operation."""
        values = self._value_at.get(name.definition, [])
        part = re.match(r"#(\d+)", self.text[name.end : name.end + 8])
        return values[int(part[1]) :][:1] if part is not None else values

    def values_on(self, path: str, line: int, column: int = -1) -> list[ValueFact]:
        """Return the values of the innermost expression at a place, or else of the line."""
        found = [
            value
            for value in self.facts.values
            if value.source_line == line and is_same_file(value.filename, path)
        ]
        lengths = {
            value.key: end - start
            for value in found
            for start, end in [value.source_columns]
            if start <= column < end
        }
        shortest = min(lengths.values(), default=0)
        return [value for value in found if lengths.get(value.key) == shortest] or found

    def collectives_of(self, values: Sequence[ValueFact]) -> list[CollectiveFact]:
        """Return the collectives that move or complete values, or that their operations need."""
        keys = {value.key for value in values}
        return [
            one
            for one in self.facts.collectives
            if one.value in keys or not keys.isdisjoint(one.users)
        ]

    def collectives_at(self, name: Name | None, offset: int) -> list[CollectiveFact]:
        """Return the collectives of what is at an offset.

        1. At the definition of a value they are those that move or complete it.
        2. At an operand they are those of its value for this operation.
        3. Elsewhere in an operation they are those that it needs.

        Args:
            name: the name there; None if there is no value.
            offset: the offset.
        """
        statement = next((each.key for each in self._defined_at(offset)), None)
        values = None if name is None else {each.key for each in self.values_of(name)}
        return [
            one
            for one in self.facts.collectives
            if (values is None or one.value in values)
            and (
                (name is not None and name.is_definition)
                # An operation without results returns values.
                or (statement in one.users if statement is not None else name and not one.users)
            )
        ]

    def _defined_at(self, offset: int) -> list[ValueFact]:
        """Return the results of the operation at an offset."""
        start = -1
        for statement in _STATEMENT.finditer(self.text):
            if statement.start() > offset:
                break
            start = statement.start("result")
        return self._value_at.get(start, [])


def is_same_file(named: str, path: str) -> bool:
    """Whether a file that a location names is the one with a path."""
    return bool(named) and bool(path) and Path(path).as_posix().endswith(Path(named).as_posix())
