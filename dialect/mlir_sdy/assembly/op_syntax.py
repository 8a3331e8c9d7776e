# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations in custom syntax: reading and writing by their ODS assembly formats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from mlir_sdy import model
from mlir_sdy.assembly import attribute_text
from mlir_sdy.assembly.source import Cursor, SourceText, end_of_braces
from mlir_sdy.assembly.syntax import Syntax
from mlir_sdy.attributes import mnemonic_of
from mlir_sdy.model.text import quoted, symbol
from mlir_sdy.ods import declarations as ods

AliasOf = Callable[[object], str]
"""Returns the alias of the attribute of a plain value."""
ValueOf = Callable[[str | None], object | None]
"""Returns the plain value of a printed attribute of the dialects; None for another one."""

Span = tuple[int, int]


# --- Reading --------------------------------------------------------------------------------


@dataclass
class OperationText:
    """An operation read from custom syntax; spans are offsets in the source."""

    name: str
    operands: list[str] = field(default_factory=list[str])
    attributes: dict[str, str] = field(default_factory=dict[str, str])
    """The generic text of each inherent attribute."""

    attribute_dictionary: Span | None = None
    operand_types: list[Span] = field(default_factory=list[Span])
    result_types: list[Span] = field(default_factory=list[Span])
    region: tuple[Span, int, int] | None = None
    """The block arguments with their parentheses, and the span of the region."""

    def operand_list(self) -> str:
        """The operands as the generic form lists them."""
        return ", ".join(self.operands)


def read_operation(name: str, cursor: Cursor, alias: AliasOf, syntax: Syntax) -> OperationText:
    """Read the operation whose name the cursor has just passed."""
    operation = OperationText(name)
    reader = OperationReader(operation, cursor, alias, syntax)
    reader.read(reader.declaration.directives)
    return operation


class OperationReader:
    """Reads an operation by the directives of its assembly format."""

    def __init__(self, operation: OperationText, cursor: Cursor, alias: AliasOf, syntax: Syntax):
        self.operation = operation
        self.cursor = cursor
        self.alias = alias
        self.syntax = syntax
        self.declaration = syntax.operations[operation.name]

    def read(self, directives: tuple[ods.Directive, ...]) -> None:
        """Read the elements of the directives."""
        cursor = self.cursor
        for previous, directive in zip((None, *directives), directives, strict=False):
            match directive:
                case ods.Literal(text) if text[0].isalpha():
                    cursor.keyword(text)
                case ods.Literal(text):
                    cursor.token(text)
                case ods.AttributeVariable(name):
                    if isinstance(previous, ods.OperandVariable) and cursor.peek("#"):
                        raise cursor.error(
                            "invalid SSA value result number: '#' after an operand denotes one; "
                            "write the attribute in its short form, without '#sdy' and its name"
                        )
                    self.store(name, self._attribute(name))
                case ods.OperandVariable(name) if not self.declaration.operand(name).variadic:
                    self.operation.operands.append(cursor.value())
                case ods.OperandVariable() | ods.AllOperands():
                    self._operands()
                case ods.OptionalGroup(inner, _):
                    if self._is_next(inner):
                        self.read(inner)
                case ods.AttrDict():
                    self._attribute_dictionary()
                case ods.Type():
                    self._type()
                case ods.FunctionalType():
                    self._functional_type()
                case ods.Custom(name, arguments):
                    read = _READ_CUSTOM.get(name) or self.syntax.custom[name][0]
                    read(self, _name_of(arguments[0]))
                case _:
                    pass  # white space, which is ignored on input

    def store(self, name: str, text: str) -> None:
        """Set the generic text of an inherent attribute."""
        self.operation.attributes[name] = text

    def _is_next(self, directives: tuple[ods.Directive, ...]) -> bool:
        """Whether an optional group is next, by its first element, or the literals before it."""
        cursor = self.cursor
        start = cursor.position
        found = False
        for directive in directives:
            match directive:
                case ods.Whitespace():
                    continue
                case ods.Literal(text):
                    is_word = text[0].isalpha()
                    found = cursor.try_keyword(text) if is_word else cursor.try_token(text)
                    if found:
                        continue
                case ods.OperandVariable():
                    found = cursor.peek("%")
                case _:
                    found = found or (cursor.try_word() or cursor.try_string()) is not None
            break
        cursor.position = start
        return found

    def _attribute(self, name: str) -> str:
        """Read an attribute by its ODS kind; return its generic text."""
        cursor, kind = self.cursor, self.declaration.attribute(name).kind
        if kind.startswith("sdy."):
            return self._sdy_attribute(attribute_text.read_stripped(kind.removeprefix("sdy.")))
        if kind.startswith("enum "):
            return f"{int(self._enum_case(name, getattr(model, kind.removeprefix('enum '))))} : i32"
        if kind == "i64":
            return f"{cursor.integer('a number', 'attribute value')} : i64"
        if kind == "symbol":
            return quoted(cursor.symbol("valid '@'-identifier for symbol name:"))
        if kind == "reference":
            return symbol(cursor.symbol("a name"))
        if kind == "string":
            return quoted(cursor.string("a name", "attribute value"))
        raise AssertionError(f"no syntax for attributes of kind {kind}")

    def _sdy_attribute(self, read: Callable[[Cursor], Any]) -> str:
        cursor = self.cursor
        cursor.skip_blank()
        start = cursor.position
        value = read(cursor)
        # Upstream's attribute parser takes a type after a full form as the attribute's own.
        if cursor.text.startswith("#sdy", start) and cursor.peek(":"):
            raise cursor.unexpected("'{' or the short form of the attribute before a type")
        return self.alias(value)

    def _enum_case(self, name: str, cases: type[IntEnum]) -> int:
        cursor = self.cursor
        cursor.skip_blank()
        start = cursor.position
        word = cursor.try_string() or cursor.try_word()
        for case in cases:
            if str(case) == word:
                return case
        cursor.position = start
        raise cursor.unexpected(
            "string or keyword containing one of the following enum values for attribute "
            f"'{name}' [{', '.join(map(str, cases))}]"
        )

    def _operands(self) -> None:
        cursor = self.cursor
        if not cursor.peek("%"):
            return
        self.operation.operands.append(cursor.value())
        while cursor.try_token(","):
            self.operation.operands.append(cursor.value())

    def _attribute_dictionary(self) -> None:
        if self.cursor.peek("{"):
            start = self.cursor.position
            self.cursor.balanced()
            self.operation.attribute_dictionary = (start, self.cursor.position)

    def _type(self) -> None:
        """Read the types of operands or results; a result has the type of the only operand."""
        operation = self.operation
        spans = [_type_span(self.cursor)]
        while len(spans) < len(operation.operands) and self.cursor.try_token(","):
            spans.append(_type_span(self.cursor))
        operation.operand_types = spans
        if self.declaration.results:
            operation.result_types = spans

    def _functional_type(self) -> None:
        self.cursor.skip_blank()
        start = self.cursor.position
        operation = self.operation
        operation.operand_types, operation.result_types = read_functional_type(self.cursor)
        listed, typed = len(operation.operands), len(operation.operand_types)
        if listed != typed:
            message = f"do not match: got {listed} operands and {typed} types"
            raise self.cursor.source.error(f"number of operands and types {message}", start)

    def _sharding_per_value(self, name: str) -> None:
        read = attribute_text.read_stripped_sharding_per_value
        self.store(name, self._sdy_attribute(read))

    def _region(self, _: str) -> None:
        cursor = self.cursor
        cursor.skip_blank()
        if not cursor.peek("("):
            raise cursor.unexpected("the arguments of the body in parentheses")
        start = cursor.position
        cursor.balanced()
        arguments = (start, cursor.position)
        if not cursor.peek("{"):
            raise cursor.unexpected("'{'")
        body_start = cursor.position
        body_end = end_of_braces(cursor.text, body_start, len(cursor.text))
        if body_end < 0:
            raise cursor.source.error("the region is not closed", body_start)
        inner = Cursor(cursor.source, body_start + 1)
        inner.skip_blank()
        if inner.position == body_end - 1:
            name = self.operation.name
            dialect = name.partition(".")[0]
            raise cursor.source.error(
                f"'{name}' op expects a non-empty block: its body must end with '{dialect}.return'",
                body_start,
            )
        cursor.position = body_end
        self.operation.region = (arguments, body_start, body_end)

    def _constant_value(self, _: str) -> None:
        """Read an elements attribute with its type, which is the type of the result."""
        cursor = self.cursor
        cursor.skip_blank()
        start = cursor.position
        literal = cursor
        while literal.peek("#"):
            literal = literal.alias()
        span = _typed_literal(literal)
        self.operation.attributes["value"] = cursor.text[start : cursor.position]
        self.operation.result_types = [span]


def _typed_literal(cursor: Cursor) -> Span:
    """Read `dense<...> : T`; return the span of its type."""
    if cursor.try_identifier() is None:
        raise cursor.unexpected("attribute value: a constant such as 'dense<0.0> : tensor<2xf32>'")
    if cursor.text.startswith("<", cursor.position):
        cursor.balanced()
    cursor.token(":")
    return _type_span(cursor)


def _type_span(cursor: Cursor) -> Span:
    cursor.skip_blank()
    start = cursor.position
    cursor.type()
    return start, cursor.position


def _read_type_list(cursor: Cursor) -> list[Span]:
    cursor.token("(")
    if cursor.try_token(")"):
        return []
    types = [_type_span(cursor)]
    while cursor.try_token(","):
        types.append(_type_span(cursor))
    cursor.token(")")
    return types


def read_functional_type(cursor: Cursor) -> tuple[list[Span], list[Span]]:
    """Read `(T1, T2) -> T3` or `(T1) -> (T2, T3)`; return the spans of the types of both sides."""
    operand_types = _read_type_list(cursor)
    cursor.token("->")
    if cursor.peek("("):
        return operand_types, _read_type_list(cursor)
    return operand_types, [_type_span(cursor)]


def _name_of(variable: ods.Directive) -> str:
    assert isinstance(variable, ods.AttributeVariable | ods.RegionVariable)
    return variable.name


_READ_CUSTOM: dict[str, Callable[[OperationReader, str], None]] = {
    "StrippedTensorShardingPerValueAttr": OperationReader._sharding_per_value,
    "SingleBlockRegionNoBlockId": OperationReader._region,
    "ConstantValue": OperationReader._constant_value,
}


# --- Writing --------------------------------------------------------------------------------


@dataclass
class PrintedOperation:
    """The parts of an operation that MLIR printed in generic form."""

    name: str
    operands: str
    attributes: dict[str, str | None]
    """The generic text of each inherent attribute."""

    other_attributes: str
    """The other attributes, in custom syntax and without braces."""

    types: str
    """The type of the operation, `(...) -> ...`."""

    region_head: str | None = None
    """The block arguments and the opening brace of the region, in custom syntax."""


def write_operation(
    operation: PrintedOperation, value_of: ValueOf, syntax: Syntax
) -> list[str] | None:
    """Return the operation in custom syntax, split at the body of its region.

    None if the custom syntax can't express it: an attribute is missing or of another kind.
    """
    out = OperationWriter(operation, value_of, syntax)
    return out.parts if out.write(out.declaration.directives) else None


class OperationWriter:
    """Writes an operation by the directives of its assembly format."""

    def __init__(self, operation: PrintedOperation, value_of: ValueOf, syntax: Syntax):
        self.operation = operation
        self.value_of = value_of
        self.syntax = syntax
        self.declaration = syntax.operations[operation.name]
        self.parts = [operation.name]
        self._glue = False  # whether the next element follows without a space

    def _emit(self, text: str, *, spaced: bool = True) -> None:
        self.parts[-1] += text if self._glue or not spaced else " " + text
        self._glue = False

    def write(self, directives: tuple[ods.Directive, ...]) -> bool:
        """Write the elements of the directives; return whether all of them could be written."""
        for directive in directives:
            match directive:
                case ods.Whitespace(text):
                    self._glue = not text
                    done = True
                case ods.Literal(text):
                    self._emit(text, spaced=text not in (")", ">", ","))
                    self._glue = text in ("(", "<")
                    done = True
                case ods.AttributeVariable(name):
                    done = self.emit_if(self._attribute(name))
                case ods.OperandVariable() | ods.AllOperands():
                    done = self.emit_if(self.operation.operands)
                case ods.OptionalGroup(inner, anchor):
                    done = not self._is_present(anchor) or self.write(inner)
                case ods.AttrDict():
                    others = self.operation.other_attributes
                    done = not others or self.emit_if(f"{{{others}}}")
                case ods.Type():
                    done = self.emit_if(self._type())
                case ods.FunctionalType():
                    done = self.emit_if(self.operation.types)
                case ods.Custom(name, arguments):
                    write = _WRITE_CUSTOM.get(name) or self.syntax.custom[name][1]
                    done = write(self, _name_of(arguments[0]))
                case _:
                    raise AssertionError(f"{directive} does not occur outside of other directives")
            if not done:
                return False
        return True

    def emit_if(self, text: str | None) -> bool:
        """Write `text` unless it is None, which means that the syntax can't express it."""
        if text:
            self._emit(text)
        else:
            self._glue = False
        return text is not None

    def _is_present(self, anchor: str) -> bool:
        if any(operand.name == anchor for operand in self.declaration.operands):
            return bool(self.operation.operands)
        default = self.declaration.attribute(anchor).default
        keyword = self._attribute(anchor)
        return keyword is not None and (default is None or keyword != default.lower())

    def _attribute(self, name: str) -> str | None:
        text = self.operation.attributes.get(name)
        if text is None:
            return None
        kind = self.declaration.attribute(name).kind
        if kind.startswith("sdy."):
            value = self._value(text, kind.removeprefix("sdy."))
            return None if value is None else str(value)
        if kind.startswith("enum "):
            return _enum_keyword(text, getattr(model, kind.removeprefix("enum ")))
        if kind == "i64":
            number, _, number_type = text.partition(" : ")
            return number if number_type == "i64" else None
        if kind == "symbol":
            return symbol(_string(text))
        return text

    def _type(self) -> str | None:
        operand_types, _, result_types = self.operation.types.partition(" -> ")
        if not self.declaration.results:
            return operand_types[1:-1]
        if result_types == operand_types:
            return result_types[1:-1]
        return result_types if f"({result_types})" == operand_types else None

    def _value(self, text: str | None, mnemonic: str) -> object | None:
        value = self.value_of(text)
        return value if value is not None and mnemonic_of(value) == mnemonic else None

    def _sharding_per_value(self, name: str) -> bool:
        text = self.operation.attributes.get(name)
        value = self._value(text, "sharding_per_value")
        return self.emit_if(None if value is None else str(value)[1:-1])

    def _region(self, _: str) -> bool:
        if self.operation.region_head is None:
            return False
        self._emit(self.operation.region_head)
        self.parts.append("}")
        return True

    def _constant_value(self, _: str) -> bool:
        """Write the literal, whose type must be the result's; others require generic form."""
        value = self.operation.attributes.get("value")
        result_type = self.operation.types.partition(" -> ")[2]
        if value is None:
            return False
        if value.endswith(f" : {result_type}"):
            self._emit(value)
            return True
        self._glue = True
        self._emit(f"() <{{value = {value}}}> : {self.operation.types}")
        return True


def _string(literal: str) -> str:
    return Cursor(SourceText(literal, "")).string("a string")


def _enum_keyword(text: str, cases: type[IntEnum]) -> str | None:
    number, _, number_type = text.partition(" : ")
    for case in cases:
        if str(int(case)) == number and number_type == "i32":
            return str(case)
    return None


_WRITE_CUSTOM: dict[str, Callable[[OperationWriter, str], bool]] = {
    "StrippedTensorShardingPerValueAttr": OperationWriter._sharding_per_value,
    "SingleBlockRegionNoBlockId": OperationWriter._region,
    "ConstantValue": OperationWriter._constant_value,
}
