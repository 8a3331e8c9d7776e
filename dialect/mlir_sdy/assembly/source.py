# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A source text with a cursor: the tokens of MLIR assembly, and errors with their exact place."""

from __future__ import annotations

import bisect
import codecs
import re
import sys
from collections.abc import Sequence
from functools import cached_property

from mlir_sdy.diagnostics import ParseError, SourceLocation, UsageError, error

BLANK = r"(?:\s|//[^\n]*)*"
"""White space and comments between two tokens."""

STRING = r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"'
"""A string literal; the loop is unrolled since data can be megabytes long."""

BRACKET = re.compile(rf"{STRING}|//[^\n]*|->|[<>]=|[(\[{{<>}}\])]")
"""A bracket, or text in which characters are no brackets."""

_NUM_PROBED = 64
"""The number of bytes by which UTF-16 is recognized: every other one is zero."""

_BLANK = re.compile(BLANK)
_STRING = re.compile(STRING)
_IDENTIFIER = re.compile(r"[A-Za-z_][\w$.]*")
_WORD = re.compile(r"[A-Za-z_]\w*")
_ALIAS_NAME = re.compile(r"[A-Za-z_][\w$.-]*")
_INTEGER = re.compile(r"-?\d+")
_SYMBOL = re.compile(rf"@(?:[A-Za-z_][\w$.]*|{STRING})")
_VALUE = re.compile(r"%[\w$.-]+(?:#\d+)?")
_BRACE = re.compile(rf"{STRING}|//[^\n]*|[{{}}]")
_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}
_LINE_END = re.compile(rf"({STRING})|(?:[ \t]*(?://[^\n]*)?\n)+[ \t]*|[ \t]*//[^\n]*\Z")
_ALIAS_DEFINITION = re.compile(r"^[ \t]*#(?P<name>[A-Za-z_][\w$.-]*)\s*=\s*", re.MULTILINE)
_ESCAPE = re.compile(r"\\([0-9A-Fa-f]{2}|.)", re.DOTALL)
_ESCAPED_CHARACTERS = {"n": b"\n", "t": b"\t", '"': b'"', "\\": b"\\"}


def unescape(literal: str) -> str:
    r"""Return the value of a string literal with its quotes.

    `\n`, `\t`, `\"`, `\\` and two hexadecimal digits (a byte of UTF-8) are the escapes of MLIR.

    Raises:
        ValueError: it contains another escape, or its bytes are not UTF-8.
    """
    inner = literal[1:-1]
    if "\\" not in inner:
        return inner
    out = bytearray()
    last = 0
    for match in _ESCAPE.finditer(inner):
        out += inner[last : match.start()].encode()
        escape = match[1]
        if len(escape) == 1 and escape not in _ESCAPED_CHARACTERS:
            raise ValueError(f"unknown escape '\\{escape}' in a string")
        out += _ESCAPED_CHARACTERS[escape] if len(escape) == 1 else bytes.fromhex(escape)
        last = match.end()
    out += inner[last:].encode()
    try:
        return out.decode()
    except UnicodeDecodeError:
        raise ValueError("a string whose bytes are not UTF-8") from None


def on_one_line(text: str) -> str:
    """Return the text without line breaks and comments."""
    return _LINE_END.sub(lambda match: match[1] or " ", text).strip()


def decoded(data: bytes, filename: str) -> str:
    """Return the text of a file in UTF-8, without a byte order mark.

    Raises:
        UsageError: it is in another encoding, such as UTF-16; at the first wrong byte.
    """
    beginning = data[:_NUM_PROBED]
    zeros = [beginning[first::2].count(0) * 4 > len(beginning) for first in (0, 1)]
    if zeros[0] != zeros[1]:
        message = "the file looks like UTF-16; save it as UTF-8"
        raise UsageError(error(message, SourceLocation(filename, 1, 1)))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        # The mark isn't counted in the place of the error.
        data = data.removeprefix(codecs.BOM_UTF8)
        line = data.count(b"\n", 0, wrong.start) + 1
        column = wrong.start - data.rfind(b"\n", 0, wrong.start)
        message = (
            f"the file is neither bytecode nor UTF-8 text: byte 0x{data[wrong.start]:02x} is not "
            f"valid here ({wrong.reason}); save it as UTF-8"
        )
        raise UsageError(error(message, SourceLocation(filename, line, column))) from None


class SourceText:
    """A text and the name of the file that it came from.

    Attributes:
        text: the full text.
        filename: the file name for locations.
        first_line: the line number of the text's first line, for a part of a larger file.
        insertions: the offsets and lengths of text that is not in the file: ASCII characters,
            which don't count for columns.
    """

    def __init__(
        self,
        text: str,
        filename: str,
        first_line: int = 1,
        insertions: Sequence[tuple[int, int]] = (),
    ):
        self.text = text
        self.filename = filename
        self.first_line = first_line
        self.insertions = insertions

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def line_and_column(self, offset: int) -> tuple[int, int]:
        """Return the line (from `first_line`) and the column (from 1, in bytes as in MLIR)."""
        index = bisect.bisect_right(self._line_starts, offset) - 1
        start = self._line_starts[index]
        prefix = self.text[start:offset]
        column = len(prefix.encode("utf-8", "surrogateescape")) + 1
        for at, length in self.insertions:
            if start <= at < offset:
                column -= min(length, offset - at)
        return index + self.first_line, column

    @cached_property
    def lines_with_insertions(self) -> frozenset[int]:
        """Return the lines with insertions, on which columns differ from characters."""
        return frozenset(self.line_and_column(at)[0] for at, _ in self.insertions)

    def location(self, offset: int) -> SourceLocation:
        """Return the location of the character at `offset`."""
        return SourceLocation(self.filename, *self.line_and_column(offset))

    def offset(self, line: int, column: int) -> int:
        """Invert `line_and_column`, clamped to the text's bounds."""
        index = min(max(line - self.first_line, 0), len(self._line_starts) - 1)
        start = self._line_starts[index]
        end = self.text.find("\n", start)
        line_text = self.text[start : len(self.text) if end < 0 else end]
        prefix = line_text.encode("utf-8", "surrogateescape")[: max(column - 1, 0)]
        return start + len(prefix.decode("utf-8", "surrogateescape"))

    @cached_property
    def alias_definitions(self) -> dict[str, tuple[int, int]]:
        """The offsets of the definition `#name = ...` of each alias and of its right-hand side."""
        return {match["name"]: match.span() for match in _ALIAS_DEFINITION.finditer(self.text)}

    def error(self, message: str, offset: int) -> ParseError:
        """A parse error at `offset`, to be raised."""
        return ParseError(error(message, self.location(offset)))


class Cursor:
    """A position in a source, with the steps of a recursive-descent parser.

    Every step first skips white space and comments. `try_...` steps do not move the cursor and
    return a falsy value if the token is not there; the others raise `ParseError`.
    """

    __slots__ = ("known_before", "position", "source", "text")

    def __init__(self, source: SourceText, position: int = 0, known_before: int = sys.maxsize):
        self.known_before = known_before  # aliases defined after this offset can't be used
        self.source = source
        self.text = source.text
        self.position = position

    def error(self, message: str) -> ParseError:
        """A parse error at the next token, to be raised."""
        self.skip_blank()
        return self.source.error(message, self.position)

    def unexpected(self, expected: str) -> ParseError:
        """Return a parse error with the expected and the actual token."""
        self.skip_blank()
        found = self.text[self.position : self.position + 1]
        shown = f"found '{found}'" if found.strip() else "found the end of the text"
        if match := _IDENTIFIER.match(self.text, self.position):
            shown = f"found '{match[0]}'"
        return self.source.error(f"expected {expected}, {shown}", self.position)

    def skip_blank(self) -> None:
        """Skip white space and comments."""
        match = _BLANK.match(self.text, self.position)
        assert match is not None, "the pattern matches the empty text"
        self.position = match.end()

    def try_token(self, token: str) -> bool:
        """Consume punctuation `token` if it is next."""
        if self.text.startswith(token, self.position):
            self.position += len(token)
            return True
        self.skip_blank()
        if self.text.startswith(token, self.position):
            self.position += len(token)
            return True
        return False

    def token(self, token: str) -> None:
        """Consume punctuation `token`."""
        if not self.try_token(token):
            raise self.unexpected(f"'{token}'")

    def peek(self, token: str) -> bool:
        """Whether punctuation `token` is next."""
        self.skip_blank()
        return self.text.startswith(token, self.position)

    def _match(self, pattern: re.Pattern[str]) -> str | None:
        self.skip_blank()
        if match := pattern.match(self.text, self.position):
            self.position = match.end()
            return match[0]
        return None

    def try_word(self) -> str | None:
        """Consume a word (letters, digits, underscores) if one is next."""
        return self._match(_WORD)

    def try_keyword(self, keyword: str) -> bool:
        """Consume the word `keyword` if it is next."""
        start = self.position
        if self.try_word() == keyword:
            return True
        self.position = start
        return False

    def keyword(self, keyword: str) -> None:
        """Consume the word `keyword`."""
        if not self.try_keyword(keyword):
            raise self.unexpected(f"'{keyword}'")

    def try_identifier(self) -> str | None:
        """Consume a bare identifier, which may contain dots and dollars, if one is next."""
        return self._match(_IDENTIFIER)

    def try_string(self) -> str | None:
        """Consume a string literal if one is next; return its value."""
        literal = self._match(_STRING)
        return None if literal is None else self._unescaped(literal)

    def _unescaped(self, literal: str) -> str:
        """Return the value of the literal just consumed."""
        try:
            return unescape(literal)
        except ValueError as reason:
            raise self.source.error(str(reason), self.position - len(literal)) from None

    def string(self, what: str, expected: str = "string") -> str:
        """Consume a string literal; `what` names it in the error, after `expected`."""
        value = self.try_string()
        if value is None:
            raise self.unexpected(f"{expected}: {what} in double quotes")
        return value

    def integer(self, what: str, expected: str = "integer value") -> int:
        """Consume a 64-bit signed integer; `what` names it in the error, after `expected`."""
        self.skip_blank()
        start = self.position
        literal = self._match(_INTEGER)
        if literal is None:
            raise self.unexpected(f"{expected}: {what}")
        value = int(literal)
        if not -(2**63) <= value < 2**63:
            raise self.source.error(f"{what} {literal} does not fit in 64 bits", start)
        return value

    def symbol(self, what: str) -> str:
        """Consume a symbol name `@name` or `@"any name"`; return it without the `@`."""
        literal = self._match(_SYMBOL)
        if literal is None or literal == '@""':
            self.position -= len(literal or "")
            raise self.unexpected(f"{what} '@name'")
        name = self._unescaped(literal[1:]) if literal[1] == '"' else literal[1:]
        if self.text.startswith("::@", self.position):
            raise self.error(f"invalid kind of attribute specified: {what} must be a flat symbol")
        return name

    def alias(self) -> Cursor:
        """Consume an alias `#name` of the source; return a cursor on its definition."""
        self.skip_blank()
        start = self.position
        self.token("#")
        name = self._match(_ALIAS_NAME)
        if name is None:
            raise self.unexpected("the name of an alias")
        defined, definition = self.source.alias_definitions.get(name, (start, start))
        if defined >= min(start, self.known_before):
            raise self.source.error(f"alias '#{name}' is not defined before its use", start)
        return Cursor(self.source, definition, defined)

    def value(self) -> str:
        """Consume an SSA value name such as `%0` or `%arg1#2`."""
        literal = self._match(_VALUE)
        if literal is None:
            raise self.unexpected("SSA operand")
        return literal

    def balanced(self) -> str:
        """Consume the bracketed text that starts at the next token, with any content."""
        self.skip_blank()
        start = self.position
        end = end_of_brackets(self.text, start)
        if end < 0:
            raise self.source.error(f"'{self.text[start]}' is not closed", start)
        self.position = end
        return self.text[start:end]

    def type(self) -> str:
        """Consume the text of one type."""
        self.skip_blank()
        start = self.position
        if self.text.startswith("(", start):
            self.balanced()
            self.token("->")
            if self.peek("("):
                self.balanced()
            else:
                self.type()
        else:
            if self.text.startswith("!", start):
                self.position += 1
            if self.try_identifier() is None:
                raise self.unexpected("a type")
            if self.text.startswith("<", self.position):
                self.balanced()
        return self.text[start : self.position]


def end_of_brackets(text: str, start: int) -> int:
    """Return the offset after the bracket that closes the bracket at `start`, or -1.

    Strings and comments are skipped, and `->` is not a closing angle bracket.
    """
    expected: list[str] = []
    for match in BRACKET.finditer(text, start):
        token = match[0]
        closing = _CLOSING.get(token)
        if closing is not None:
            expected.append(closing)
        elif len(token) == 1:
            if not expected or token != expected.pop():
                return -1
            if not expected:
                return match.end()
    return -1


def end_of_braces(text: str, start: int, end: int) -> int:
    """Return the offset after the brace that closes the brace at `start`, or -1.

    Faster than `end_of_brackets` on a region, which has few braces compared to other brackets.
    """
    depth = 0
    for match in _BRACE.finditer(text, start, end):
        token = match[0]
        if token == "{":
            depth += 1
        elif token == "}":
            depth -= 1
            if depth == 0:
                return match.end()
    return -1
