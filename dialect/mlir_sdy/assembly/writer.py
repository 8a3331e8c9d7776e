# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversion of the generic form that MLIR prints to custom syntax: the inverse of the reader.

The input is always printed by MLIR, so its spacing is known. Operations that the custom syntax
can't express (such as one that lacks an attribute) stay in generic form.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from mlir_sdy.assembly.op_syntax import PrintedOperation, write_operation
from mlir_sdy.assembly.source import STRING, end_of_braces, end_of_brackets
from mlir_sdy.assembly.syntax import SDY, Syntax
from mlir_sdy.host import ir, readable
from mlir_sdy.ods import irdl_groups
from mlir_sdy.ods.declarations import OpAttributeDecl
from mlir_sdy.ods.tables import ENUMS, OPERATIONS

_ENTRY_TOKEN = re.compile(rf"{STRING}|->|[<>]=|[(\[{{<>}}\]),]")
_ENTRY_KEY = re.compile(rf"\s*({STRING}|[\w$.]+)\s*(?:=\s*)?")
_BLOCK_ARGUMENTS = re.compile(r"\s*\^bb0(?=\()")
_TAIL = re.compile(r"(?: \{(?P<attributes>.*)\})? : (?P<types>\(.*)\Z", re.DOTALL)
_TEMPLATE_OPERANDS = "\0"


def _default_text(attribute: OpAttributeDecl) -> str:
    """Return the text of the default of an enum attribute in generic form: `0 : i32`."""
    cases = ENUMS[attribute.kind.removeprefix("enum ")].cases
    return f"{next(case.value for case in cases if case.name == attribute.default)} : i32"


_DEFAULTS = {
    name: {
        attribute.name: _default_text(attribute)
        for attribute in declaration.attributes
        if attribute.default is not None
    }
    for name, declaration in OPERATIONS.items()
}
"""Inherent attributes that the generic form of an operation has even if they are not set."""


@lru_cache(maxsize=4096)
def dictionary_entries(text: str) -> tuple[tuple[str, str | None], ...]:
    """Return the names and texts of the entries of a printed attribute dictionary."""
    entries: list[tuple[str, str | None]] = []
    depth = 0
    start = 0
    for match in _ENTRY_TOKEN.finditer(text):
        token = match[0]
        if token in ("(", "[", "{", "<"):
            depth += 1
        elif token in (")", "]", "}", ">"):
            depth -= 1
        elif token == "," and depth == 0:
            entries.append(_entry(text[start : match.start()]))
            start = match.end()
    if text[start:].strip():
        entries.append(_entry(text[start:]))
    return tuple(entries)


def _entry(text: str) -> tuple[str, str | None]:
    match = _ENTRY_KEY.match(text)
    assert match is not None, f"not an entry of an attribute dictionary: {text!r}"
    return match[1], text[match.end() :].strip() or None


def _without_location(tail: str) -> str:
    """Return the rest of an operation's line after its operands, without the location."""
    start = tail.rfind(" loc(")
    if start >= 0 and end_of_brackets(tail, start + len(" loc")) == len(tail):
        return tail[:start]
    return tail


@dataclass
class Writer:
    """Rewrites the generic form of an operation in `context`."""

    context: ir.Context
    syntax: Syntax = SDY
    generic: bool = False
    """Keep operations in generic form, with inherent attributes as `<{properties}>`."""

    def __post_init__(self) -> None:
        self._values: dict[str, object] = {}
        self._attribute_texts: dict[str, str] = {}
        self._templates: dict[tuple[str, str, str], str] = {}

    def rewrite(self, text: str) -> str:
        """Return the text in custom syntax."""
        if not self.generic:
            text = self.syntax.prepared(readable(text))
        out: list[str] = []
        self._rewrite(text, 0, len(text), out)
        return "".join(out)

    def _rewrite(self, text: str, position: int, end: int, out: list[str]) -> None:
        copied = position
        search = self.syntax.of_interest_in_print.search
        texts = self._attribute_texts
        operations = self.syntax.operations
        while match := search(text, position, end):
            start, position = match.span()
            if text[start] in "#!":
                token = match[0]
                out.append(text[copied:start])
                out.append(texts.get(token) or self._attribute(token))
                copied = position
            elif match[0][1:-1] in operations and text.startswith("(", position):
                out.append(text[copied:start])
                copied = position = self._operation(match[0][1:-1], text, start, position, out)
        out.append(text[copied:end])

    def _rewritten(self, text: str) -> str:
        out: list[str] = []
        self._rewrite(text, 0, len(text), out)
        return "".join(out)

    # --- Attributes -------------------------------------------------------------------------

    def _attribute(self, token: str) -> str:
        text = self._attribute_texts[token] = self.syntax.full_text(self._value(token))
        return text

    def _value(self, token: str) -> object:
        known = self._values.get(token)
        if known is None:
            known = self._values[token] = self.syntax.parsed(token, self.context)
        return known

    def value(self, text: str | None) -> object | None:
        """Return the plain value of a printed attribute of the dialects; None for another one."""
        if text is None or self.syntax.printed_attribute.fullmatch(text) is None:
            return None
        return self._value(text)

    # --- Operations -------------------------------------------------------------------------

    def _operation(self, name: str, text: str, start: int, position: int, out: list[str]) -> int:
        """Rewrite the operation whose name is from `start` to `position`; return its end."""
        operands_end = text.index(")", position)
        operands = text[position + 1 : operands_end]
        position = operands_end + 1
        if text.startswith(" ({", position):
            return self._region_operation(name, operands, text, start, position, out)
        end = text.find("\n", position)
        tail = text[position : len(text) if end < 0 else end]
        tail = _without_location(tail)
        mark = operands and _TEMPLATE_OPERANDS
        key = name, mark, tail
        template = self._templates.get(key)
        if template is None:
            template = self._templates[key] = self._template(name, mark, tail)
        out.append(template.replace(_TEMPLATE_OPERANDS, operands))
        return position + len(tail)

    def _template(self, name: str, operands: str, tail: str) -> str:
        """Return the custom text of an operation without regions, with a mark for its operands."""
        printed = self._printed(name, operands, tail)
        if printed is not None:
            if self.generic:
                return self._generic(printed, None)
            if (custom := write_operation(printed, self.value, self.syntax)) is not None:
                return "".join(custom)
        return f'"{name}"({operands}){self._rewritten(tail)}'

    def _region_operation(
        self, name: str, operands: str, text: str, start: int, position: int, out: list[str]
    ) -> int:
        body_start = position + 2
        body_end = end_of_braces(text, body_start, len(text))
        tail_start = body_end + 1  # after the parenthesis that closes the list of regions
        end = text.find("\n", tail_start)
        tail = text[tail_start : len(text) if end < 0 else end]
        tail = _without_location(tail)
        printed = self._printed(name, operands, tail)
        if printed is None or self.generic:
            head = self._generic(printed, text[body_start:body_end]) if printed else None
            if head is not None:
                out.append(head)
                return tail_start + len(tail)
            out.append(text[start:body_start])
            return body_start
        arguments = "()"
        inner_start = body_start + 1
        if match := _BLOCK_ARGUMENTS.match(text, inner_start):
            arguments_end = end_of_brackets(text, match.end())
            arguments = self._rewritten(text[match.end() : arguments_end])
            inner_start = arguments_end + 1
        printed.region_head = f"{arguments} {{"
        custom = write_operation(printed, self.value, self.syntax)
        if custom is None:
            out.append(text[start:body_start])
            return body_start
        head, trailer = custom
        out.append(head)
        self._rewrite(text, inner_start, body_end - 1, out)
        out.append(trailer)
        return tail_start + len(tail)

    def _printed(self, name: str, operands: str, tail: str) -> PrintedOperation | None:
        match = _TAIL.match(tail)
        if match is None:
            return None
        declaration = self.syntax.operations[name]
        inherent = declaration.attribute_names if self.generic else declaration.names_in_format
        attributes: dict[str, str | None] = {}
        others: list[str] = []
        for key, value in dictionary_entries(match["attributes"] or ""):
            if key in inherent:
                attributes[key] = value
            elif key not in (irdl_groups.OPERAND_SIZES, irdl_groups.RESULT_SIZES):
                others.append(key if value is None else f"{key} = {self._rewritten(value)}")
        types = match["types"]
        if "!" in types:
            types = self._rewritten(types)
        return PrintedOperation(name, operands, attributes, ", ".join(others), types)

    def _generic(self, printed: PrintedOperation, region: str | None) -> str:
        attributes = {**_DEFAULTS.get(printed.name, {}), **printed.attributes}
        inherent = ", ".join(
            key if value is None else f"{key} = {self._rewritten(value)}"
            for key, value in sorted(attributes.items())
        )
        parts = [f'"{printed.name}"({printed.operands})']
        if inherent:
            parts.append(f"<{{{inherent}}}>")
        if region is not None:
            parts.append(f"({self._rewritten(region)})")
        if printed.other_attributes:
            parts.append(f"{{{printed.other_attributes}}}")
        return f"{' '.join(parts)} : {printed.types}"
