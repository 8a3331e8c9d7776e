# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Places of the parts of an operation in its text, for diagnostics.

A verifier names the part that is wrong, such as dimension 1 of the sharding of argument 0. When a
program was read from text, that part is found by reading the text of the operation again. This
costs nothing as long as there is no error.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from mlir_sdy.assembly.source import BLANK, BRACKET, STRING, SourceText, end_of_brackets
from mlir_sdy.diagnostics import Diagnostic, Part, SourceLocation

_VALUE = re.compile(rf"{STRING}|(?P<value>%[\w$.-]+(?:#\d+)?)")
_ALIAS = re.compile(r"#(?P<name>[A-Za-z_][\w$-]*)(?![\w$.<-])")
_WORD = re.compile(r"[#!@]?(?:[\w$.-]|->)*")
_NEXT_OPERATION = re.compile(
    r'\n[ \t]*(?:%[\w$.-]+(?::\d+)?[ \t]*[,=]|"?[a-z_]\w*\.\w|return\b|\}|//|#|\^|\{-#)'
)
_OPENING = "([{<"


@dataclass(frozen=True, slots=True)
class _Span:
    """A part of the source, by the offsets of its start and its end."""

    start: int
    end: int


def pointed_at(diagnostic: Diagnostic, source: SourceText) -> Diagnostic:
    """Return a diagnostic whose location is that of the part that is wrong.

    It stays at the operation if the text doesn't have the part, as when the location of the
    operation isn't a place in the source but in the program of the user.
    """
    place = diagnostic.location
    if not diagnostic.parts or place is None or place.filename != source.filename:
        return diagnostic
    found = place_of(diagnostic.parts, source, source.offset(place.line, place.column))
    if found is None:
        return replace(diagnostic, parts=())
    return replace(diagnostic, location=found, parts=(), operation=place)


def place_of(parts: tuple[Part, ...], source: SourceText, start: int) -> SourceLocation | None:
    """Return the place of a part of an operation, or of the innermost part around it that is there.

    Args:
        parts: the part, from the outside in.
        source: the text.
        start: the offset of the operation in the text.

    Returns:
        The place; None if the outermost part isn't in the text.
    """
    reader = _Reader(source)
    span = found = reader.operation(start)
    for part in parts:
        inner = reader.part(part, span)
        if inner is None:
            break
        span = inner
    return None if span is found else source.location(span.start)


class _Reader:
    """Finds parts of a text."""

    def __init__(self, source: SourceText):
        self._source = source
        self._text = source.text

    def operation(self, start: int) -> _Span:
        """Return the text of the operation that begins at an offset, with its regions."""
        for match in _NEXT_OPERATION.finditer(self._text, start):
            span = _Span(start, match.start())
            if not self._depth(span):
                return span
        return _Span(start, len(self._text))

    def part(self, part: Part, span: _Span) -> _Span | None:
        """Return a part of the text in a span, or None if it isn't there."""
        span = self._resolved(span)
        match part.kind, part.key:
            case "argument", int(index):
                return self._port(span, index, "arg_attrs")
            case "result", int(index):
                return self._port(span, index, "res_attrs")
            case "operand", int(index):
                values = (each for each in self._matches(_VALUE, span) if each["value"])
                match = next(itertools.islice(values, index, None), None)
                return None if match is None else _Span(*match.span())
            case "attribute", str(name):
                return self._attribute(span, name)
            case "element", int(index):
                return _nth(self._elements(span, "[", None), index)
            case "dimension", int(index):
                return _nth(self._elements(span, "[", ("<",)), index)
            case "text", str(text):
                start = span.start - 1
                for _ in range(part.occurrence + 1):
                    start = self._text.find(text, start + 1, span.end)
                    if start < 0:
                        return None
                return _Span(start, start + len(text))
            case _:
                raise AssertionError(part)

    def _matches(self, pattern: re.Pattern[str], span: _Span) -> Iterator[re.Match[str]]:
        return pattern.finditer(self._text, span.start, span.end)

    def _depth(self, span: _Span) -> int:
        """Return the number of brackets that are open at the end of a span."""
        depth = 0
        for match in self._matches(BRACKET, span):
            if len(match[0]) == 1:
                depth += 1 if match[0] in _OPENING else -1
        return depth

    def _resolved(self, span: _Span) -> _Span:
        """Return the definition of an alias, and other text as it is."""
        alias = _ALIAS.match(self._text, span.start)
        if alias is None or alias["name"] not in self._source.alias_definitions:
            return span
        return self._value(self._source.alias_definitions[alias["name"]][1])

    def _opened(self, span: _Span) -> Iterator[tuple[re.Match[str], tuple[str, ...]]]:
        """Yield each bracket, string or comment in a span with the brackets around it."""
        around: tuple[str, ...] = ()
        for match in self._matches(BRACKET, span):
            if len(match[0]) == 1 and match[0] not in _OPENING:
                around = around[:-1]
            yield match, around
            if match[0] in _OPENING:
                around = (*around, match[0])

    def _elements(
        self, span: _Span, bracket: str, around: tuple[str, ...] | None
    ) -> Iterator[_Span]:
        """Yield the elements of the first list in a span whose bracket is inside of others."""
        for match, outer in self._opened(span):
            if match[0] == bracket and around in (None, outer):
                yield from self._split(match.end())
                return

    def _split(self, start: int) -> Iterator[_Span]:
        """Yield the elements between commas from an offset to the closing bracket."""
        start = self._skip_blank(start)
        position = start
        while position < len(self._text):
            character = self._text[position]
            if character in _OPENING:
                position = end_of_brackets(self._text, position)
                if position < 0:
                    return
            elif character == '"':
                literal = re.compile(STRING).match(self._text, position)
                position = position + 1 if literal is None else literal.end()
            elif self._text.startswith("->", position):
                position += 2
            elif character in ")]}>":
                yield _Span(start, position)
                return
            elif character == ",":
                yield _Span(start, position)
                position = start = self._skip_blank(position + 1)
            else:
                position += 1

    def _skip_blank(self, position: int) -> int:
        match = re.compile(BLANK).match(self._text, position)
        return position if match is None else match.end()

    def _value(self, start: int) -> _Span:
        """Return the attribute at an offset: a word, brackets, or both."""
        start = self._skip_blank(start)
        word = _WORD.match(self._text, start)
        end = start if word is None else word.end()
        if self._text[end : end + 1] in tuple(_OPENING):
            end = max(end_of_brackets(self._text, end), end)
        return _Span(start, max(end, start + 1))

    def _attribute(self, span: _Span, name: str) -> _Span | None:
        """Return the value of an attribute, or where custom syntax leaves out its name."""
        named = re.compile(rf"(?<![\w$.-]){re.escape(name)}\s*=(?!=)")
        for match in self._matches(named, span):
            around = _brackets_around(self._opened(_Span(span.start, match.start())))
            if around in ((), ("{",), ("<", "{")):
                return self._value(match.end())
        if "." in name:
            return None
        opening = "<" if name == "sharding" else "[{"
        after_name = self._value(span.start).end if self._text[span.start] != '"' else span.end
        for match in self._matches(BRACKET, _Span(after_name, span.end)):
            if match[0] in tuple(opening):
                return self._value(match.start())
        return None

    def _port(self, span: _Span, index: int, entry: str) -> _Span | None:
        """Return an argument or a result of a function, or its attributes in generic form."""
        if self._text[span.start] == '"':
            attributes = self._attribute(span, entry)
            return None if attributes is None else self.part(Part("element", index), attributes)
        arguments = next((each for each, _ in self._opened(span) if each[0] == "("), None)
        if arguments is None:
            return None
        if entry == "arg_attrs":
            return _nth(self._split(arguments.end()), index)
        end = end_of_brackets(self._text, arguments.start())
        arrow = re.compile(rf"{BLANK}->{BLANK}").match(self._text, max(end, arguments.end()))
        if arrow is None:
            return None
        if self._text.startswith("(", arrow.end()):
            return _nth(self._split(arrow.end() + 1), index)
        return _Span(arrow.end(), span.end) if index == 0 else None


def _nth(spans: Iterator[_Span], index: int) -> _Span | None:
    return next(itertools.islice(spans, index, None), None)


def _brackets_around(opened: Iterator[tuple[re.Match[str], tuple[str, ...]]]) -> tuple[str, ...]:
    """Return the brackets that are open after the last of those that `_opened` yields."""
    around: tuple[str, ...] = ()
    for match, outer in opened:
        around = (*outer, match[0]) if match[0] in tuple(_OPENING) else outer
    return around
