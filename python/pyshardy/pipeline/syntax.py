# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The syntax of pass pipelines, which is that of MLIR, and its syntax tree.

    pipeline ::= anchor `(` elements `)` | elements
    elements ::= element (`,` element)*
    element  ::= pass-name (`{` options `}`)? | anchor `(` elements? `)`
    options  ::= (name (`=` value)?)*            separated by spaces

A value with spaces is enclosed in quotes or in braces. The parser does not look up passes: `plan`
checks that names exist and take the options.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from mlir_sdy.diagnostics import SourceLocation, UsageError, error

SOURCE_NAME = "<pass-pipeline>"
"""The file name in the locations of errors in a pipeline text."""

MODULE_ANCHOR = "builtin.module"
_TOP_LEVEL_ANCHORS = (MODULE_ANCHOR, "any")

_DEEPEST_NESTING = 64
_NAME_ENDS = ",(){}= \t\n"


@dataclass(frozen=True, slots=True)
class OptionText:
    """One option of a pass as written: `name=value`, or `name` alone (value None)."""

    name: str
    value: str | None = None
    location: SourceLocation | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return self.name if self.value is None else f"{self.name}={_spelled(self.value)}"


@dataclass(frozen=True, slots=True)
class PassUse:
    """A pass, or a named pipeline, with its options."""

    name: str
    options: tuple[OptionText, ...] = ()
    location: SourceLocation | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        if not self.options:
            return self.name
        return f"{self.name}{{{' '.join(map(str, self.options))}}}"


@dataclass(frozen=True, slots=True)
class PassPipeline:
    """Passes that run in order on each `anchor` operation.

    `str(pipeline)` is the canonical text; `parse_pipeline` reads it back as an equal value.
    """

    anchor: str
    elements: tuple[PassUse | PassPipeline, ...] = ()
    location: SourceLocation | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.anchor}({','.join(map(str, self.elements))})"

    def passes(self) -> Iterator[PassUse]:
        """All passes in the order of execution, at any nesting."""
        for element in self.elements:
            if isinstance(element, PassPipeline):
                yield from element.passes()
            else:
                yield element


def parse_pipeline(text: str, source_name: str = SOURCE_NAME) -> PassPipeline:
    """Read a textual pass pipeline.

    A bare list of elements runs on the module: `a,func.func(b)` is short for
    `builtin.module(a,func.func(b))`.

    Args:
        text: the pipeline.
        source_name: the file name to put in the locations of errors.

    Raises:
        UsageError: the text is not a pipeline; located in `text`.
    """
    parser = _Parser(text, source_name)
    elements = parser.elements(nested=False)
    if len(elements) == 1:
        only = elements[0]
        if isinstance(only, PassPipeline) and only.anchor in _TOP_LEVEL_ANCHORS:
            return only
    return PassPipeline(MODULE_ANCHOR, elements, parser.location(0))


def parse_options(text: str, source_name: str = SOURCE_NAME) -> tuple[OptionText, ...]:
    """Parse the options between the braces after the name of a pass: `a=1 b={x y}`."""
    parser = _Parser(text, source_name)
    options = parser.options()
    if not parser.at_end:
        raise parser.error("unbalanced '}' in the options")
    return options


class _Parser:
    """A cursor over the text, with a method for each rule of the grammar above."""

    def __init__(self, text: str, source_name: str):
        self.text = text
        self.source_name = source_name
        self.offset = 0
        self.depth = 0

    def location(self, offset: int) -> SourceLocation:
        before = self.text[:offset]
        line_start = before.rfind("\n") + 1
        return SourceLocation(self.source_name, before.count("\n") + 1, offset - line_start + 1)

    def error(self, message: str, offset: int | None = None) -> UsageError:
        place = self.location(self.offset if offset is None else offset)
        return UsageError(error(message, place))

    @property
    def at_end(self) -> bool:
        return self.offset >= len(self.text)

    def peek(self) -> str:
        return self.text[self.offset : self.offset + 1]

    def skip_space(self) -> None:
        while not self.at_end and self.peek().isspace():
            self.offset += 1

    def name(self) -> str:
        start = self.offset
        while not self.at_end and self.peek() not in _NAME_ENDS:
            self.offset += 1
        return self.text[start : self.offset]

    def elements(self, nested: bool) -> tuple[PassUse | PassPipeline, ...]:
        found: list[PassUse | PassPipeline] = []
        self.skip_space()
        if self.at_end if not nested else self.peek() == ")":
            return ()
        while True:
            found.append(self.element())
            self.skip_space()
            if self.peek() == ",":
                self.offset += 1
                self.skip_space()
            elif self.at_end or (nested and self.peek() == ")"):
                return tuple(found)
            elif self.peek() == ")":
                raise self.error("')' without a matching '('")
            else:
                raise self.error(f"expected ',' before {self.peek()!r}")

    def element(self) -> PassUse | PassPipeline:
        start = self.offset
        name = self.name()
        if not name:
            raise self.error("expected the name of a pass or an operation")
        location = self.location(start)
        self.skip_space()
        if self.peek() == "(":
            if self.depth == _DEEPEST_NESTING:
                raise self.error(f"nested more than {_DEEPEST_NESTING} deep")
            opening = self.offset
            self.offset += 1
            self.depth += 1
            elements = self.elements(nested=True)
            if self.peek() != ")":
                raise self.error("'(' without a matching ')'", opening)
            self.offset += 1
            self.depth -= 1
            return PassPipeline(name, elements, location)
        if self.peek() == "{":
            opening = self.offset
            self.offset += 1
            options = self.options()
            if self.peek() != "}":
                raise self.error("'{' without a matching '}'", opening)
            self.offset += 1
            return PassUse(name, options, location)
        return PassUse(name, (), location)

    def options(self) -> tuple[OptionText, ...]:
        """Read options up to the end or a closing brace, which is not consumed."""
        found: list[OptionText] = []
        while True:
            self.skip_space()
            if self.at_end or self.peek() == "}":
                return tuple(found)
            location = self.location(self.offset)
            name = self.name()
            if not name:
                raise self.error(f"expected the name of an option before {self.peek()!r}")
            value = None
            if self.peek() == "=":
                self.offset += 1
                value = self.value()
            elif self.peek() not in ("", "}") and not self.peek().isspace():
                raise self.error(f"expected '=' or a space after option '{name}'")
            found.append(OptionText(name, value, location))

    def value(self) -> str:
        start = self.offset
        while not self.at_end and self.peek() != "}" and not self.peek().isspace():
            if self.peek() in "'\"":
                self.skip_quoted()
            elif self.peek() == "{":
                self.skip_braced()
            else:
                self.offset += 1
        return _unwrapped(self.text[start : self.offset])

    def skip_quoted(self) -> None:
        end = self.text.find(self.peek(), self.offset + 1)
        if end < 0:
            raise self.error("unterminated quote")
        self.offset = end + 1

    def skip_braced(self) -> None:
        end = _closing_brace(self.text, self.offset)
        if end is None:
            raise self.error("'{' without a matching '}'")
        self.offset = end + 1


def _closing_brace(text: str, opening: int) -> int | None:
    """Return the offset of the brace that closes the one at `opening`."""
    depth = 0
    for offset in range(opening, len(text)):
        if text[offset] == "{":
            depth += 1
        elif text[offset] == "}":
            depth -= 1
            if depth == 0:
                return offset
    return None


def _unwrapped(written: str) -> str:
    """Return the value of `written`, without enclosing quotes or braces."""
    if len(written) < 2:
        return written
    first, last = written[0], len(written) - 1
    if first in "'\"":
        end = written.find(first, 1)
    elif first == "{":
        end = _closing_brace(written, 0)
    else:
        end = None
    return written[1:-1] if end == last else written


def _spelled(value: str) -> str:
    """Return the shortest spelling that parses as `value`."""
    for spelling in (value, f"{{{value}}}", f'"{value}"', f"'{value}'"):
        if _stands_for(spelling, value):
            return spelling
    raise ValueError(f"the option value {value!r} cannot be written in a pass pipeline")


def _stands_for(spelling: str, value: str) -> bool:
    try:
        return parse_options(f"x={spelling}") == (OptionText("x", value),)
    except UsageError:
        return False
