# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The custom syntax of the mpmd dialect: attributes, types, and parts of operations."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from mlir_sdy import attributes as of_sdy
from mlir_sdy.assembly.op_syntax import OperationReader, OperationWriter
from mlir_sdy.assembly.source import Cursor, end_of_braces, end_of_brackets
from mlir_sdy.assembly.syntax import SDY, Syntax
from mlir_sdy.host import ir
from mlir_sdy.mpmd import attribute_text
from mlir_sdy.mpmd.attributes import MeshTensorType, MpmdAttribute, MpmdAttributeCache, value_of
from mlir_sdy.mpmd.values import MeshReduction, UserOrigin, UserOrigins
from mlir_sdy.ods.mpmd_tables import OPERATIONS

_FOR = '"mpmd.for"('
_ARGUMENT = re.compile(r"%arg(\d+)\b")
_INDEX = "%index"


def _read_full(cursor: Cursor) -> Any:
    is_sdy = cursor.text.startswith("#sdy", cursor.position)
    return SDY.read_full(cursor) if is_sdy else attribute_text.read_full(cursor)


def _full_text(value: Any) -> str:
    is_sdy = of_sdy.mnemonic_of(value)
    return SDY.full_text(value) if is_sdy else attribute_text.full_text(value)


def _value_of(attribute: Any) -> Any:
    is_own = isinstance(attribute, MpmdAttribute | MeshTensorType)
    return value_of(attribute) if is_own else SDY.value_of(attribute)


def _reader(read: Callable[[Cursor], Any]) -> Callable[[OperationReader, str], None]:
    def read_attribute(reader: OperationReader, name: str) -> None:
        reader.store(name, reader.alias(read(reader.cursor)))

    return read_attribute


def _write_origin(writer: OperationWriter, name: str) -> bool:
    value = writer.value_of(writer.operation.attributes.get(name))
    return writer.emit_if(value.short if isinstance(value, UserOrigin) else None)


def _write_reduction(writer: OperationWriter, name: str) -> bool:
    value = writer.value_of(writer.operation.attributes.get(name))
    return writer.emit_if(str(value) if isinstance(value, MeshReduction) else None)


def _write_origins(writer: OperationWriter, name: str) -> bool:
    text = writer.operation.attributes.get(name) or ""
    if not text.startswith("["):
        return False
    listed = re.findall(r'#mpmd\.user_origin<"(?:[^"\\]|\\.)*", \d+ : i64>', text)
    values = [writer.value_of(each) for each in listed]
    if text != f"[{', '.join(listed)}]":
        return False
    origins = tuple(each for each in values if isinstance(each, UserOrigin))
    return writer.emit_if(str(UserOrigins(origins)))


def _with_names_of_indices(text: str) -> str:
    """Name the indices of loops, and number other arguments as if these did not exist."""
    position = text.find(_FOR)
    while position >= 0:
        start = text.find("({", position) + 1
        end = end_of_braces(text, start, len(text))
        first = text.find("^bb0(", start)
        arguments = text[first : end_of_brackets(text, first + 4)]
        index = int(_ARGUMENT.findall(arguments)[-1])

        def renamed(match: re.Match[str], index: int = index) -> str:
            number = int(match[1])
            if number < index:
                return match[0]
            return _INDEX if number == index else f"%arg{number - 1}"

        body = _ARGUMENT.sub(renamed, text[start:end])
        text = text[:start] + body + text[end:]
        position = text.find(_FOR, start)
    return text


def _cache(context: ir.Context) -> of_sdy.AttributeCache:
    return MpmdAttributeCache(context)


SYNTAX = Syntax(
    dialects=("sdy", "mpmd"),
    sigils="#!",
    operations={**SDY.operations, **OPERATIONS},
    read_full=_read_full,
    full_text=_full_text,
    value_of=_value_of,
    cache=_cache,
    custom={
        "UserOrigin": (_reader(attribute_text.read_short_origin), _write_origin),
        "UserOrigins": (_reader(attribute_text.read_user_origins), _write_origins),
        "Reduction": (_reader(attribute_text.read_reduction), _write_reduction),
    },
    prepared=_with_names_of_indices,
)
"""The syntax of sdy and mpmd."""
