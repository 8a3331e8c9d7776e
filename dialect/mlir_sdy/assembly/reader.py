# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversion of custom syntax to the generic form that MLIR parses.

A dialect registered at run time has no custom syntax in MLIR. This module rewrites attributes and
operations of sdy in a text and copies everything else:

1. An attribute `#sdy.sharding<@m, [{"x"}]>` becomes an alias `#sdy_0`, defined once per distinct
   attribute in front of the text. So each is read once, and the columns after it are kept.
2. An operation in custom syntax becomes its generic form, by its ODS assembly format.
3. An operation in generic form keeps it, but its `<{properties}>` join its attributes, since
   dialects registered at run time have no properties.

Lines are kept, and columns wherever possible (see `RewrittenText`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mlir_sdy.assembly.op_syntax import (
    OperationText,
    Span,
    read_functional_type,
    read_operation,
)
from mlir_sdy.assembly.rewritten_text import RewrittenText
from mlir_sdy.assembly.source import Cursor, SourceText, end_of_brackets, on_one_line
from mlir_sdy.assembly.syntax import Syntax
from mlir_sdy.attributes import AttributeCache
from mlir_sdy.host import diagnostics_of, ir
from mlir_sdy.ods import irdl_groups

# A look-behind in front of the operation would be exact, but disables the fast literal search.
_PART_OF_LONGER_NAME = re.compile(r"[\w.$@%#!^-]")
_ATTRIBUTE_KEY_END = re.compile(r"\s*=")


def _is_in_dictionary(text: str, position: int) -> bool:
    """Whether an entry of a dictionary may start at `position`."""
    while position and text[position - 1].isspace():
        position -= 1
    line = text.rfind("\n", 0, position) + 1
    if text.find("//", line, position) >= 0:
        return True  # after a comment; rare enough to leave it to the host
    return text[position - 1 : position] in ("{", ",")


@dataclass
class Reader:
    """Rewrites one source; use `rewrite` once, then the definitions and the text."""

    source: SourceText
    attributes: AttributeCache
    syntax: Syntax
    aliases: dict[str, str] = field(default_factory=dict[str, str])
    """The alias of each attribute text that occurs in the source."""

    definitions: dict[str, str] = field(default_factory=dict[str, str])
    """The generic text of each alias."""

    def __post_init__(self) -> None:
        self._alias_prefix = "sdy_"
        while f"#{self._alias_prefix}" in self.source.text:
            self._alias_prefix += "_"
        self._alias_by_generic_text: dict[str, str] = {}
        self.rewritten = RewrittenText(self.source)

    def rewrite(self) -> RewrittenText:
        """Return the source in generic form, without the definitions of the aliases.

        Raises:
            ParseError: an attribute or operation has a syntax error; `rewritten` ends before it.
        """
        self._rewrite(0, len(self.source.text), self.rewritten)
        return self.rewritten

    def _rewrite(self, position: int, end: int, out: RewrittenText) -> None:
        text = self.source.text
        copied = position
        search = self.syntax.of_interest.search
        operations = self.syntax.operations
        while match := search(text, position, end):
            start, position = match.span()
            first = text[start]
            if first in "#!":
                out.copy(copied, start)
                after, alias = self._attribute(start)
                out.replace(start, after, alias)
            elif first == '"':
                if match[0][1:-1] not in operations:
                    continue
                out.copy(copied, position)
                after = self._generic_operation(match[0][1:-1], position, out)
            elif first == "/":
                continue
            else:
                if start and _PART_OF_LONGER_NAME.match(text, start - 1):
                    continue
                if _ATTRIBUTE_KEY_END.match(text, position) and _is_in_dictionary(text, start):
                    continue
                out.copy(copied, start)
                after = self._operation(match[0], start, position, out)
            copied = position = after
        out.copy(copied, end)

    def _rewritten(self, start: int, end: int) -> str:
        """Return the text of a part in generic form."""
        if start == end:
            return ""
        out = RewrittenText(self.source)
        self._rewrite(start, end, out)
        return out.text()

    # --- Attributes -------------------------------------------------------------------------

    def _attribute(self, start: int) -> tuple[int, str]:
        """Return the end of the attribute that starts at `start`, and its alias."""
        match = self.syntax.attribute.match(self.source.text, start)
        if match and (alias := self.aliases.get(match[0])):
            return match.end(), alias
        cursor = Cursor(self.source, start)
        value = self.syntax.read_full(cursor)
        try:
            generic = str(self.attributes[value])
        except ir.MLIRError as failure:  # The host can't parse a type inside.
            (first, *_) = diagnostics_of(failure)
            inside = "" if first.location is None else f" in '{first.location.filename}'"
            raise self.source.error(f"{first.message}{inside}", start) from None
        alias = self._alias_of_text(generic, self.source.text[start])
        self.aliases[self.source.text[start : cursor.position]] = alias
        return cursor.position, alias

    def alias(self, value: object) -> str:
        """Return the alias of the attribute of a plain value."""
        return self._alias_of_text(str(self.attributes[value]))

    def _alias_of_text(self, generic: str, sigil: str = "#") -> str:
        alias = self._alias_by_generic_text.get(generic)
        if alias is None:
            alias = f"{sigil}{self._alias_prefix}{len(self.definitions)}"
            self._alias_by_generic_text[generic] = alias
            self.definitions[alias] = generic
        return alias

    # --- Operations in custom syntax --------------------------------------------------------

    def _operation(self, name: str, start: int, position: int, out: RewrittenText) -> int:
        """Rewrite the operation whose name ends at `position`; return its end."""
        cursor = Cursor(self.source, position)
        if name == "sdy.constant" and cursor.peek("("):
            # The form that upstream prints when the literal's type is not the result's.
            out.replace(start, position, f'"{name}"')
            return self._generic_operation(name, position, out)
        operation = read_operation(name, cursor, self.alias, self.syntax)
        if operation.region is None:
            out.replace(start, cursor.position, self._generic_text(operation))
            return cursor.position
        arguments, body_start, body_end = operation.region
        out.replace(start, arguments[0], f'"{name}"({operation.operand_list()}) ({{^bb0')
        self._block_arguments(*arguments, out)
        out.replace(body_start, body_start + 1, ":")
        self._rewrite(body_start + 1, body_end - 1, out)
        out.replace(body_end - 1, cursor.position, "})" + self._generic_tail(operation))
        return cursor.position

    def _block_arguments(self, start: int, end: int, out: RewrittenText) -> None:
        """Rewrite `(%a: T {attributes}, ...)` to a block's argument list, without attributes."""
        cursor = Cursor(self.source, start)
        cursor.token("(")
        if cursor.try_token(")"):
            out.replace(start, end, "")
            return
        copied = start
        while True:
            cursor.value()
            cursor.token(":")
            cursor.type()
            if cursor.peek("{"):
                attributes = cursor.position
                cursor.balanced()
                self._rewrite(copied, attributes, out)
                out.replace(attributes, cursor.position, "")
                copied = cursor.position
            if cursor.try_keyword("loc"):
                cursor.balanced()
            if not cursor.try_token(","):
                break
        cursor.token(")")
        self._rewrite(copied, end, out)

    def _generic_text(self, operation: OperationText) -> str:
        return f'"{operation.name}"({operation.operand_list()}){self._generic_tail(operation)}'

    def _generic_tail(self, operation: OperationText) -> str:
        attributes = [f"{name} = {text}" for name, text in operation.attributes.items()]
        if operation.attribute_dictionary is not None:
            start, end = operation.attribute_dictionary
            if inner := on_one_line(self._rewritten(start + 1, end - 1)):
                attributes.append(inner)
        attributes += self._group_sizes(
            operation.name, operation.operand_types, operation.result_types
        )
        dictionary = f" {{{', '.join(attributes)}}}" if attributes else ""
        operand_types = self._type_list(operation.operand_types)
        return f"{dictionary} : {operand_types} -> {self._type_list(operation.result_types)}"

    def _type_list(self, spans: list[Span]) -> str:
        return f"({', '.join(self._rewritten(*span) for span in spans)})"

    def _group_sizes(
        self, name: str, operand_types: list[Span], result_types: list[Span]
    ) -> list[str]:
        """Return the entries that IRDL needs for variadic groups (`irdl_groups`)."""
        declaration = self.syntax.operations[name]
        return [
            f"{entry} = {self._group_sizes_alias(name, types)}"
            for entry, types, values in (
                (irdl_groups.OPERAND_SIZES, operand_types, declaration.operands),
                (irdl_groups.RESULT_SIZES, result_types, declaration.results),
            )
            if any(value.has_groups for value in values)
        ]

    def _group_sizes_alias(self, name: str, types: list[Span]) -> str:
        texts = [self.source.text[start:end] for start, end in types]
        try:
            sizes = irdl_groups.group_sizes(texts, irdl_groups.groups_of(name))
        except ValueError as reason:
            raise self.source.error(str(reason), types[0][0]) from None
        return self._alias_of_text(f"array<i32: {', '.join(map(str, sizes))}>")

    # --- Operations in generic form ---------------------------------------------------------

    def _generic_operation(self, name: str, position: int, out: RewrittenText) -> int:
        """Move the properties of the operation whose name ends at `position` to its attributes.

        Return the offset up to which the text is rewritten.
        """
        cursor = Cursor(self.source, position)
        if not cursor.peek("("):
            return position
        cursor.balanced()
        entries = self._take_properties(position, cursor, out)
        rewritten = cursor.position
        if cursor.peek("("):
            end = end_of_brackets(self.source.text, cursor.position)
            if end < 0:
                raise cursor.error("the regions of the operation are not closed")
            self._rewrite(rewritten, end, out)
            rewritten = cursor.position = end
        dictionary_start = cursor.position if cursor.peek("{") else None
        if dictionary_start is not None:
            cursor.balanced()
            dictionary = self.source.text[dictionary_start : cursor.position]
        else:
            dictionary = "{}"
        if cursor.try_token(":") and irdl_groups.OPERAND_SIZES not in dictionary:
            operand_types, result_types = read_functional_type(cursor)
            entries += self._group_sizes(name, operand_types, result_types)
        if dictionary_start is None:
            if entries:
                out.insert(f" {{{', '.join(entries)}}}", rewritten)
            return rewritten
        if dictionary[1:-1].strip():
            entries.append("")
        out.copy(rewritten, dictionary_start)
        out.replace(dictionary_start, dictionary_start + 1, "{" + ", ".join(entries))
        return dictionary_start + 1

    def _take_properties(self, position: int, cursor: Cursor, out: RewrittenText) -> list[str]:
        """Omit `<{...}>` if it is next; return its entries in generic form."""
        start = cursor.position
        if not (cursor.try_token("<") and cursor.peek("{")):
            cursor.position = start
            out.copy(position, start)
            return []
        properties_start = cursor.position
        cursor.balanced()
        properties = on_one_line(self._rewritten(properties_start + 1, cursor.position - 1))
        cursor.token(">")
        out.copy(position, start)
        out.replace(start, cursor.position, "")
        return [properties] if properties else []
