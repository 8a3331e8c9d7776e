# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The custom syntax of dialects that are registered at run time."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mlir_sdy.assembly import attribute_text
from mlir_sdy.assembly.source import STRING, Cursor
from mlir_sdy.attributes import AttributeCache, mnemonic_of, value_of
from mlir_sdy.host import ir
from mlir_sdy.ods.declarations import OperationDecl
from mlir_sdy.ods.tables import OPERATIONS

_DEEPEST = 7
# Attributes of the usual depth are matched completely, so that known texts are only looked up.
_PLAIN = r'->|[^<>"\n]|"[^"\\\n]*"'


def _nested() -> str:
    inner = r'[^<>"]*'
    for _ in range(_DEEPEST - 1):
        inner = rf'[^<>"]*(?:(?:{STRING}|<{inner}>)[^<>"]*)*'
    return inner


@dataclass(frozen=True)
class Syntax:
    """The custom syntax of dialects.

    Attributes:
        dialects: their names.
        sigils: the characters that attributes, and types if there are any, begin with.
        operations: the operations by their names.
        read_full: reads an attribute or type with the name of its dialect.
        full_text: the text of a plain value with the name of its dialect.
        value_of: the plain value of an attribute or type.
        cache: attributes and types by their plain values.
        custom: a reader and a writer for each custom directive of assembly formats, by its name.
        prepared: changes what the host printed before it is rewritten.
    """

    dialects: tuple[str, ...]
    sigils: str
    operations: Mapping[str, OperationDecl]
    read_full: Callable[[Cursor], Any]
    full_text: Callable[[Any], str]
    value_of: Callable[[Any], Any]
    cache: Callable[[ir.Context], AttributeCache]
    custom: Mapping[str, tuple[Callable[..., None], Callable[..., bool]]]
    prepared: Callable[[str], str] = str

    @property
    def _any_dialect(self) -> str:
        return f"(?:{'|'.join(self.dialects)})"

    @cached_property
    def of_interest(self) -> re.Pattern[str]:
        """Finds what the reader rewrites, and strings and comments."""
        return re.compile(
            rf"{STRING}"  # a string, or the name of an operation in generic form
            r"|//[^\n]*"
            rf"|[{self.sigils}]{self._any_dialect}[.<]"
            rf"|(?:{'|'.join(map(re.escape, self.operations))})(?![\w$.])"
        )

    @cached_property
    def attribute(self) -> re.Pattern[str]:
        """Matches an attribute or type of the usual depth in a source."""
        name = rf"[{self.sigils}]{self._any_dialect}(?:\.\w+)?"
        return re.compile(rf"{name}<(?:{_PLAIN}|<(?:{_PLAIN})*>)*>")

    @property
    def _printed(self) -> str:
        return rf"[{self.sigils}]{self._any_dialect}\.\w+<{_nested()}>"

    @cached_property
    def printed_attribute(self) -> re.Pattern[str]:
        """Matches an attribute or type that the host printed."""
        return re.compile(self._printed)

    @cached_property
    def of_interest_in_print(self) -> re.Pattern[str]:
        """Finds what the writer rewrites, and strings."""
        operation = rf'"{self._any_dialect}\.[a-z_]+"(?=\()'
        return re.compile(rf"{operation}|{STRING}|{self._printed}")

    def parsed(self, token: str, context: ir.Context) -> Any:
        """Return the plain value of an attribute or type that the host printed."""
        kind = ir.Attribute if token[0] == "#" else ir.Type
        return self.value_of(kind.parse(token, context).maybe_downcast())


def _full_text(value: Any) -> str:
    return attribute_text.full_text(mnemonic_of(value), value)


SDY = Syntax(
    dialects=("sdy",),
    sigils="#",
    operations=OPERATIONS,
    read_full=lambda cursor: attribute_text.read_full_attribute(cursor)[1],
    full_text=_full_text,
    value_of=value_of,
    cache=AttributeCache,
    custom={},
)
"""The syntax of sdy alone."""
