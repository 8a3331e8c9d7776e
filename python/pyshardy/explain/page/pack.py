# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The data of the report in a small form: tables by columns, compressed.

`assets/data.js` reads it:

| form                                 | stands for                                             |
|--------------------------------------|--------------------------------------------------------|
| `{"count": 2, "columns": {...}}`     | two objects with the fields that name the columns      |
| a column `[...]`                     | the field of each object                               |
| a column `{"of": [...], "at": [...]}`| the field of each object, as an index of `of`          |

A column has the second form if its entries repeat.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from itertools import chain
from operator import attrgetter
from typing import Any, cast

from mlir_sdy.diagnostics import SourceLocation
from pyshardy.explain.plain import plain

_FEWEST_ROWS = 20
"""Shorter tables stay lists of objects, which are easier to read."""


def packed(value: object) -> str:
    """Return data as compressed JSON in base64."""
    text = json.dumps(_columns_in(value), separators=(",", ":"), allow_nan=False)
    compressed = gzip.compress(text.encode(), compresslevel=6, mtime=0)
    return base64.b64encode(compressed).decode()


def _columns_in(value: object) -> Any:
    """Return a value as JSON data, in which tables are columns."""
    if isinstance(value, list | tuple):
        return _rows(cast("Sequence[object]", value))
    if is_dataclass(value) and not isinstance(value, SourceLocation):
        return {field.name: _columns_in(getattr(value, field.name)) for field in fields(value)}
    return plain(value)


def _rows(rows: Sequence[object]) -> Any:
    """Return a sequence as columns if it is a table, else as a list."""
    is_table = len(rows) >= _FEWEST_ROWS and len({type(row) for row in rows}) == 1
    if not is_table or not is_dataclass(rows[0]):
        return list(map(_columns_in, rows))
    names = (field.name for field in fields(rows[0]))
    columns = {name: _column(list(map(attrgetter(name), rows))) for name in names}
    return {"count": len(rows), "columns": columns}


def _column(entries: Sequence[object]) -> Any:
    kinds = set(map(type, entries))
    if kinds <= _NUMBERS:
        return entries
    try:
        distinct = {entry: number for number, entry in enumerate(dict.fromkeys(entries))}
    except TypeError:  # an entry is a list, which isn't hashable
        return list(map(_columns_in, entries))
    if 2 * len(distinct) <= len(entries):
        return {"of": list(map(_columns_in, distinct)), "at": [distinct[each] for each in entries]}
    if kinds == {tuple}:
        inner = set(map(type, chain.from_iterable(cast("Sequence[tuple[object, ...]]", entries))))
        is_plain = inner <= _NUMBERS
    else:
        is_plain = kinds <= _PLAIN
    return entries if is_plain else list(map(_columns_in, entries))


_NUMBERS = {int, float, bool, type(None)}
_PLAIN = _NUMBERS | {str}
