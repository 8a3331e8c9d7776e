# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ODS assembly formats as directives."""

from __future__ import annotations

import re
from typing import Any

from mlir_sdy.ods.declarations import (
    AllOperands,
    AllResults,
    AttrDict,
    Custom,
    Directive,
    FunctionalType,
    Literal,
    OptionalGroup,
    Type,
    Whitespace,
)


class FormatParser:
    """Parses an ODS assembly format to directives."""

    _TOKEN = re.compile(r"`(?P<quoted>[^`]*)`|\$(?P<variable>\w+)|[\w-]+|[()<>,?^:]")

    def __init__(self, text: str, variables: dict[str, Directive]):
        self.text = text
        self.variables = variables
        self.tokens = list(self._TOKEN.finditer(text))
        self.position = 0

    def parse(self) -> tuple[Directive, ...]:
        """The directives of the whole format."""
        directives = []
        while self.position < len(self.tokens):
            directives.append(self._directive())
        return tuple(directives)

    def _peek(self) -> str:
        return self.tokens[self.position][0] if self.position < len(self.tokens) else ""

    def _next(self, expected: str | None = None) -> re.Match[str]:
        token = self.tokens[self.position]
        if expected is not None and token[0] != expected:
            raise ValueError(f"expected {expected!r} at {token.start()} of {self.text!r}")
        self.position += 1
        return token

    def _directive(self) -> Directive:
        token = self._next()
        if token["quoted"] is not None:
            quoted = token["quoted"]
            return Whitespace(quoted) if not quoted.strip() else Literal(quoted)
        if token["variable"]:
            return self.variables[token["variable"]]
        match token[0]:
            case "operands":
                return AllOperands()
            case "results":
                return AllResults()
            case "attr-dict":
                return AttrDict()
            case "type":
                (of,) = self._arguments("(", ")")
                return Type(of)
            case "functional-type":
                return FunctionalType(*self._arguments("(", ")"))
            case "custom":
                self._next("<")
                name = self._next()[0]
                self._next(">")
                return Custom(name, self._arguments("(", ")"))
            case "(":
                return self._optional_group()
        raise ValueError(f"unknown directive {token[0]!r} in {self.text!r}")

    def _arguments(self, opening: str, closing: str) -> tuple[Any, ...]:
        self._next(opening)
        arguments = [self._directive()]
        while self._peek() == ",":
            self._next()
            arguments.append(self._directive())
        self._next(closing)
        return tuple(arguments)

    def _optional_group(self) -> OptionalGroup:
        elements: list[Directive] = []
        anchor = ""
        while self._peek() != ")":
            elements.append(self._directive())
            if self._peek() == "^":
                self._next()
                anchored: Any = elements[-1]
                while isinstance(anchored, Custom | Type):
                    anchored = anchored.of if isinstance(anchored, Type) else anchored.arguments[0]
                anchor = anchored.name
        self._next(")")
        self._next("?")
        return OptionalGroup(tuple(elements), anchor)
