# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From custom sdy syntax to the generic form that MLIR parses.

A dialect registered at run time has no syntax of its own in MLIR. This module rewrites what is
sdy's in a text and copies everything else:

1. An attribute `#sdy.sharding<@m, [{"x"}]>` becomes an alias `#sdy_0`, defined once per distinct
   attribute in front of the text. So each is read once, and the columns behind it stay.
2. An operation in custom syntax becomes its generic form, as its ODS assembly format says.
3. An operation in generic form keeps it, but its `<{properties}>` join its attributes, since
   dialects registered at run time have no properties.

Lines are kept, and columns wherever possible (see `RewrittenText`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mlir_sdy.assembly import attribute_text
from mlir_sdy.assembly.op_syntax import OperationText, read_operation
from mlir_sdy.assembly.pieces import RewrittenText
from mlir_sdy.assembly.source import STRING, Cursor, Source, end_of_brackets
from mlir_sdy.attributes import AttributeCache
from mlir_sdy.ods.tables import OPERATIONS

_OPERATION_NAMES = "|".join(name.removeprefix("sdy.") for name in OPERATIONS)
_INTEREST = re.compile(
    rf"{STRING}"  # a string, or the name of an operation in generic form
    r"|//[^\n]*"
    r"|#sdy[.<]"
    rf"|(?<![\w.$@%#!^-])sdy\.(?:{_OPERATION_NAMES})(?![\w$.])"
)
# Attributes of the usual depth are matched whole, so that known texts are only looked up.
_ATTRIBUTE = re.compile(r"#sdy(?:\.\w+)?<(?:[^<>\"\n]|->|\"[^\"\\\n]*\"|<(?:[^<>\"\n]|->|\"[^\"\\\n]*\")*>)*>")
_ATTRIBUTE_KEY_END = re.compile(r"\s*=")
_ALIAS_DEFINITION = re.compile(r"^[ \t]*#(?P<name>[A-Za-z_][\w$.-]*)\s*=\s*", re.MULTILINE)


@dataclass
class Reader:
    """Rewrites one source; use `rewrite` once, then the aliases and the text."""

    source: Source
    attributes: AttributeCache
    aliases: dict[str, str] = field(default_factory=dict)
    """The alias of each attribute text that occurs in the source."""

    definitions: dict[str, str] = field(default_factory=dict)
    """The generic text that each alias stands for."""

    def __post_init__(self) -> None:
        self._alias_prefix = "#sdy_"
        while self._alias_prefix in self.source.text:
            self._alias_prefix += "_"
        self._alias_by_generic_text: dict[str, str] = {}

    def rewrite(self) -> RewrittenText:
        """The whole source in generic form, without the definitions of the aliases."""
        out = RewrittenText(self.source)
        self._rewrite(0, len(self.source.text), out)
        return out

    def _rewrite(self, position: int, end: int, out: RewrittenText) -> None:
        text = self.source.text
        copied = position
        search = _INTEREST.search
        while match := search(text, position, end):
            start, position = match.span()
            first = text[start]
            if first == "#":
                after, alias = self._attribute(start)
                out.copy(copied, start)
                out.replace(start, after, alias)
            elif first == "s":
                if _ATTRIBUTE_KEY_END.match(text, position):
                    continue
                out.copy(copied, start)
                after = self._operation(match[0], start, position, out)
            elif first == '"' and text.startswith('"sdy.', start) and match[0][1:-1] in OPERATIONS:
                out.copy(copied, position)
                after = self._generic_operation(position, out)
            else:
                continue
            copied = position = after
        out.copy(copied, end)

    def _rewritten(self, start: int, end: int) -> str:
        """The text of a part in generic form."""
        if start == end:
            return ""
        out = RewrittenText(self.source)
        self._rewrite(start, end, out)
        return out.text()

    # --- Attributes -------------------------------------------------------------------------

    def _attribute(self, start: int) -> tuple[int, str]:
        """The end of the attribute that starts at `start`, and its alias."""
        match = _ATTRIBUTE.match(self.source.text, start)
        if match and (alias := self.aliases.get(match[0])):
            return match.end(), alias
        cursor = Cursor(self.source, start)
        _, value = attribute_text.read_full_attribute(cursor)
        alias = self.alias(value)
        self.aliases[self.source.text[start : cursor.position]] = alias
        return cursor.position, alias

    def alias(self, value: object) -> str:
        """The alias of the attribute that stands for `value`."""
        generic = str(self.attributes[value])
        alias = self._alias_by_generic_text.get(generic)
        if alias is None:
            alias = f"{self._alias_prefix}{len(self.definitions)}"
            self._alias_by_generic_text[generic] = alias
            self.definitions[alias] = generic
        return alias

    def definition_of(self, name: str) -> Cursor | None:
        """A cursor on what the source defines the alias `#name` to be."""
        for match in _ALIAS_DEFINITION.finditer(self.source.text):
            if match["name"] == name:
                return Cursor(self.source, match.end())
        return None

    # --- Operations in custom syntax --------------------------------------------------------

    def _operation(self, name: str, start: int, position: int, out: RewrittenText) -> int:
        """Rewrite the operation `name`, whose name ends at `position`; where it ends."""
        cursor = Cursor(self.source, position)
        if name == "sdy.constant" and cursor.peek("("):
            # The form that upstream prints when the literal's type is not the result's.
            out.replace(start, position, f'"{name}"')
            return self._generic_operation(position, out)
        operation = read_operation(name, cursor, self)
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
                out.copy(copied, attributes)
                out.replace(attributes, cursor.position, "")
                copied = cursor.position
            if cursor.try_keyword("loc"):
                cursor.balanced()
            if not cursor.try_token(","):
                break
        cursor.token(")")
        out.copy(copied, end)

    def _generic_text(self, operation: OperationText) -> str:
        return f'"{operation.name}"({operation.operand_list()}){self._generic_tail(operation)}'

    def _generic_tail(self, operation: OperationText) -> str:
        attributes = [f"{name} = {text}" for name, text in operation.attributes.items()]
        if operation.attribute_dictionary is not None:
            start, end = operation.attribute_dictionary
            if inner := self._rewritten(start + 1, end - 1).strip():
                attributes.append(inner)
        dictionary = f" {{{', '.join(attributes)}}}" if attributes else ""
        types = self._type_text(operation)
        return f"{dictionary} : {types}"

    def _type_text(self, operation: OperationText) -> str:
        if operation.functional_type is not None:
            return self._rewritten(*operation.functional_type)
        operand_types = ", ".join(self._rewritten(*span) for span in operation.operand_types)
        result_types = ", ".join(self._rewritten(*span) for span in operation.result_types)
        return f"({operand_types}) -> ({result_types})"

    # --- Operations in generic form ---------------------------------------------------------

    def _generic_operation(self, position: int, out: RewrittenText) -> int:
        """Move the properties of the operation whose name ends at `position` to its attributes.

        Gives the offset up to which the text is rewritten.
        """
        cursor = Cursor(self.source, position)
        if not cursor.peek("("):
            return position
        cursor.balanced()
        if not cursor.try_token("<"):
            return position
        if not cursor.peek("{"):
            return position
        properties_start = cursor.position
        cursor.balanced()
        properties = self._rewritten(properties_start + 1, cursor.position - 1).strip()
        cursor.token(">")
        out.copy(position, properties_start - 1)
        out.replace(properties_start - 1, cursor.position, "")
        rewritten = cursor.position
        if cursor.peek("("):
            end = end_of_brackets(self.source.text, cursor.position)
            if end < 0:
                raise cursor.error("the regions of the operation are not closed")
            self._rewrite(rewritten, end, out)
            rewritten = cursor.position = end
        if cursor.peek("{"):
            out.copy(rewritten, cursor.position)
            separator = "" if Cursor(self.source, cursor.position + 1).peek("}") else ", "
            out.replace(cursor.position, cursor.position + 1, "{" + properties + separator)
            return cursor.position + 1
        if properties:
            out.insert(f" {{{properties}}}", rewritten)
        return rewritten

