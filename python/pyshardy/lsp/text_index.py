# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The names in a text of MLIR, and where they are defined.

The index needs no valid program, so that it also serves a text that is being edited:

1. A name `%x` is defined at the start of an operation (`%x = ...`, `%x:2 = ...`), as an argument
   (`(%x: tensor<...>)`), or as an argument of a loop (`(%x = %init)`).
2. A use refers to the last definition before it, in the innermost region around it that has one.
3. A symbol `@f` is defined by the operation whose name precedes it. The axes of a mesh are defined
   in its declaration.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

# The pattern of `assembly.source`, whose package loads the MLIR host.
_STRING = r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"'
_TOKEN = re.compile(
    rf"(?P<string>{_STRING})|(?P<comment>//[^\n]*)|(?P<value>%[\w$.-]+)(?P<part>[:#]\d+)?"
    r"|(?P<symbol>@[\w$.-]+)|(?P<bracket>->|[(){}])"
)
_RESULTS = re.compile(r"^[ \t]*%[\w$.-]+(?::\d+)?(?:\s*,\s*%[\w$.-]+(?::\d+)?)*\s*=(?!=)", re.M)
_DECLARES = re.compile(
    r"\b(?P<keyword>func\.func|sdy\.mesh|module)(?:\s+(?:public|private|nested))?\s+\Z"
)
_MESH = re.compile(r"\bsdy\.mesh\s+@(?P<name>[\w$.-]+)\s*=\s*<\[(?P<axes>[^\]]*)\]")
_AXIS = re.compile(r'"([^"\n]*)"\s*=\s*(\d+)')
_SHARDING_OF_MESH = re.compile(r"<\s*@([\w$.-]+)\s*,[^@]*\Z")


@dataclass(frozen=True, slots=True)
class Name:
    """An occurrence of a name.

    Attributes:
        text: the name with its `%` or `@`, or the name of an axis without quotes.
        start: the offset of its first character, or of the opening quote.
        end: the offset after its last character.
        definition: the offset where the name is defined; -1 if it is not defined in the text.
        count: at a definition `%x:2`, the number of results; else 1.
    """

    text: str
    start: int
    end: int
    definition: int
    count: int = 1

    @property
    def is_definition(self) -> bool:
        """Whether this occurrence defines the name."""
        return self.definition == self.start


class Region(NamedTuple):
    """A region or a dictionary.

    Attributes:
        start: the offset of its opening brace.
        end: the offset of its closing brace.
        is_in_parentheses: whether it is directly in parentheses, as the attributes of arguments.
    """

    start: int
    end: int
    is_in_parentheses: bool


@dataclass(frozen=True, slots=True)
class Declaration:
    """An operation that defines a symbol.

    Attributes:
        keyword: `func.func`, `sdy.mesh` or `module`.
        name: the symbol.
        start: the offset of the operation.
        end: the offset after its region, or after its line if it has none.
    """

    keyword: str
    name: Name
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class MeshDeclaration:
    """A mesh that the text declares.

    Attributes:
        name: its name without `@`.
        axes: the offset of the opening quote of each axis, and its size, by name.
    """

    name: str
    axes: dict[str, tuple[int, int]]


class TextIndex:
    """The names of a text.

    Args:
        text: the text.
    """

    def __init__(self, text: str):
        self.text = text

    @cached_property
    def names(self) -> list[Name]:
        """All occurrences of values, symbols and axes, in the order of the text."""
        found = [*self._values_and_axes(), *self._symbols()]
        return sorted(found, key=lambda name: name.start)

    @cached_property
    def meshes(self) -> dict[str, MeshDeclaration]:
        """The declared meshes by name."""
        declared: dict[str, MeshDeclaration] = {}
        for mesh in _MESH.finditer(self.text):
            axes = {
                axis[1]: (mesh.start("axes") + axis.start(), int(axis[2]))
                for axis in _AXIS.finditer(mesh["axes"])
            }
            declared[mesh["name"]] = MeshDeclaration(mesh["name"], axes)
        return declared

    @cached_property
    def regions(self) -> list[Region]:
        """The regions of several lines, in the order of the text."""
        found: list[Region] = []
        brackets: list[tuple[str, int]] = []
        for token in _TOKEN.finditer(self.text):
            if token["bracket"] in ("(", "{"):
                brackets.append((token["bracket"], token.start()))
            elif token["bracket"] in (")", "}") and brackets:
                opening, start = brackets.pop()
                if opening == "{" and "\n" in self.text[start : token.start()]:
                    is_inside = bool(brackets) and brackets[-1][0] == "("
                    found.append(Region(start, token.start(), is_inside))
        return sorted(found)

    @cached_property
    def declarations(self) -> list[Declaration]:
        """The operations that define symbols, in the order of the text."""
        found: list[Declaration] = []
        names = [name for name in self.names if name.text.startswith("@") and name.is_definition]
        for number, name in enumerate(names, 1):
            limit = names[number].start if number < len(names) else len(self.text)
            before = _DECLARES.search(self.text, max(0, name.start - 60), name.start)
            line_end = self.text.find("\n", name.end)
            end = len(self.text) if line_end < 0 else line_end
            behind = self.regions[bisect.bisect(self.regions, (name.end,)) :]
            body = next((each for each in behind if not each.is_in_parentheses), None)
            if body is not None and body.start < limit:
                end = body.end + 1
            if before is not None:
                found.append(Declaration(before["keyword"], name, before.start(), end))
        return found

    def at(self, offset: int) -> Name | None:
        """Return the name at an offset, or None."""
        starts = [name.start for name in self.names]
        index = bisect.bisect_right(starts, offset) - 1
        if index < 0 or self.names[index].end < offset:
            return None
        return self.names[index]

    def kind_of(self, name: Name) -> str:
        """Return what a name stands for: a variable, parameter, function, struct or enumMember.

        A mesh is a struct, and its axes are the members of an enumeration.
        """
        if name.text.startswith("%"):
            return "variable" if name.definition in self._results else "parameter"
        if not name.text.startswith("@"):
            return "enumMember"
        return "struct" if name.text[1:] in self.meshes else "function"

    def references(self, name: Name) -> list[Name]:
        """Return all occurrences of the value, symbol or axis that a name refers to."""
        if name.definition < 0:
            return [each for each in self.names if each.text == name.text]
        return [each for each in self.names if each.definition == name.definition]

    def mesh_at(self, offset: int) -> MeshDeclaration | None:
        """Return the mesh of the sharding around an offset; else the only mesh of the text."""
        if len(self.meshes) == 1:
            return next(iter(self.meshes.values()))
        found = _SHARDING_OF_MESH.search(self.text, max(0, offset - 2000), offset)
        return None if found is None else self.meshes.get(found[1])

    # --- Values and axes ----------------------------------------------------------------------

    def _values_and_axes(self) -> Iterator[Name]:
        text = self.text
        results = self._results
        scopes: list[dict[str, int]] = [{}]
        brackets: list[str] = []
        for token in _TOKEN.finditer(text):
            if token["string"] is not None:
                if (axis := self._axis(token)) is not None:
                    yield axis
            elif (bracket := token["bracket"]) in ("(", "{"):
                brackets.append(bracket)
                if bracket == "{":
                    scopes.append({})
            elif bracket in (")", "}"):
                if brackets:
                    brackets.pop()
                if bracket == "}" and len(scopes) > 1:
                    scopes.pop()
            elif token["value"] is not None:
                start, end = token.span("value")
                if start in results or (brackets[-1:] == ["("] and self._is_argument(end)):
                    scopes[-1][token["value"]] = start
                    count = int(token["part"][1:]) if token["part"] else 1
                    yield Name(token["value"], start, end, start, count)
                else:
                    around = (
                        each[token["value"]] for each in reversed(scopes) if token["value"] in each
                    )
                    yield Name(token["value"], start, end, next(around, -1))

    @cached_property
    def _results(self) -> set[int]:
        """The offsets at which results of operations are defined."""
        return {
            line.start() + name.start()
            for line in _RESULTS.finditer(self.text)
            for name in re.finditer(r"%[\w$.-]+", line[0])
        }

    def _is_argument(self, end: int) -> bool:
        return bool(re.compile(r":(?!\d)|\s*=(?!=)").match(self.text, end))

    def _axis(self, string: re.Match[str]) -> Name | None:
        """Return the axis that a string names, if it is in a mesh or in a sharding."""
        word = string["string"][1:-1]
        if not any(word in mesh.axes for mesh in self.meshes.values()):
            return None
        start, end = string.span()
        mesh = self.mesh_at(start)
        for declared in self.meshes.values():
            if declared.axes.get(word, (-1, 0))[0] == start:
                mesh = declared
        place = mesh.axes.get(word) if mesh is not None else None
        return None if place is None else Name(word, start, end, place[0])

    # --- Symbols ------------------------------------------------------------------------------

    def _symbols(self) -> Iterator[Name]:
        found = [token for token in _TOKEN.finditer(self.text) if token["symbol"] is not None]
        defined = {
            token["symbol"]: token.start()
            for token in found
            if _DECLARES.search(self.text, max(0, token.start() - 60), token.start())
        }
        for token in found:
            yield Name(token["symbol"], *token.span(), defined.get(token["symbol"], -1))
