# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Helpers for the MLIR text of the values of this package."""

from __future__ import annotations

import re
from collections.abc import Iterable

_PLAIN = re.compile(r"[ !#-\[\]-~]*\Z")  # printable ASCII except the quote and the backslash
_BARE_SYMBOL = re.compile(r"[A-Za-z_][A-Za-z0-9_$.]*\Z")


def quoted(text: str) -> str:
    r"""Return `text` as an MLIR string literal: UTF-8 bytes outside printable ASCII become `\XX`.

    `quoted('a"b')` is `"a\22b"`, and a backslash is doubled.
    """
    if _PLAIN.match(text):
        return f'"{text}"'
    escaped: list[str] = []
    for byte in text.encode("utf-8", "surrogateescape"):
        if byte == ord("\\"):
            escaped.append("\\\\")
        elif byte == ord('"') or not ord(" ") <= byte <= ord("~"):
            escaped.append(f"\\{byte:02X}")
        else:
            escaped.append(chr(byte))
    return f'"{"".join(escaped)}"'


def symbol(name: str) -> str:
    """Return a reference to a symbol: `@name`, or `@"any name"` if it is not an identifier."""
    return f"@{name}" if _BARE_SYMBOL.match(name) else f"@{quoted(name)}"


def comma_separated(items: Iterable[object]) -> str:
    """The texts of `items`, with `, ` between them."""
    return ", ".join(map(str, items))


def braced(items: Iterable[object]) -> str:
    """The texts of `items` as a list in `{}`."""
    return f"{{{comma_separated(items)}}}"


def bracketed(items: Iterable[object]) -> str:
    """The texts of `items` as a list in `[]`."""
    return f"[{comma_separated(items)}]"


class TextRepr:
    """Base of the values that show their text in a REPL: `Mesh(<["x"=4]>)`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"
