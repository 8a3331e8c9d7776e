# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rendering of the report as a single file.

The data is compressed JSON, in which tables are columns. `assets/data.js` reads it:

| form                                 | stands for                                             |
|--------------------------------------|--------------------------------------------------------|
| `{"count": 2, "columns": {...}}`     | two objects with the fields that name the columns      |
| a column `[...]`                     | the field of each object                               |
| a column `{"of": [...], "at": [...]}`| the field of each object, as an index of `of`          |

A column has the second form if its entries repeat.
"""

from __future__ import annotations

import base64
import functools
import gzip
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from importlib import resources
from itertools import chain
from operator import attrgetter
from typing import Any, cast

import jinja2

from mlir_sdy.diagnostics import SourceLocation
from pyshardy.display import Table
from pyshardy.explain.against_xla import AgainstXla
from pyshardy.explain.page.data import PageData
from pyshardy.explain.page.gather import page_data
from pyshardy.explain.page.other_plan import OtherPlan
from pyshardy.explain.plain import plain
from pyshardy.explain.program import ExplainedProgram
from pyshardy.pipeline.collection import collection_paused

_FEWEST_ROWS = 20
"""Shorter tables stay lists of objects, which are easier to read."""


def packed(value: object) -> str:
    """Return data as compressed JSON in base64."""
    text = json.dumps(_columns_in(value), separators=(",", ":"), allow_nan=False)
    compressed = gzip.compress(text.encode(), compresslevel=3, mtime=0)
    return base64.b64encode(compressed).decode()


def _columns_in(value: object) -> Any:
    """Return a value as JSON data, in which tables are columns."""
    if type(value) in _PLAIN:
        return value
    if names := _names_of(type(value)):
        return {name: _columns_in(getattr(value, name)) for name in names}
    if isinstance(value, list | tuple):
        return _rows(cast("Sequence[object]", value))
    return plain(value)


@functools.cache
def _names_of(kind: type[object]) -> tuple[str, ...]:
    """Return the names of the fields of a data class or a named tuple; none of other types."""
    if is_dataclass(kind) and kind is not SourceLocation:
        return tuple(field.name for field in fields(kind))
    return cast("tuple[str, ...]", getattr(kind, "_fields", ()))


def _rows(rows: Sequence[object]) -> Any:
    """Return a sequence as columns if it is a table, else as a list."""
    kinds = set(map(type, rows))
    names = _names_of(kinds.pop()) if len(rows) >= _FEWEST_ROWS and len(kinds) == 1 else ()
    if not names:
        return list(map(_columns_in, rows))
    columns = ((name, list(map(attrgetter(name), rows))) for name in names)
    return {"count": len(rows), "columns": {name: _column(each) for name, each in columns}}


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


_ASSETS = resources.files("pyshardy.explain.page") / "assets"
_STYLES = ("page", "lists", "graph", "media")
_SCRIPTS = (
    "data",
    "state",
    "elements",
    "layout",
    "graph",
    "view",
    "minimap",
    "reasons",
    "details",
    "tables",
    "collectives",
    "costs",
    "compare",
    "texts",
    "timeline",
    "export",
    "replay",
    "search",
    "main",
)


@dataclass(frozen=True, slots=True)
class PackedSections:
    """The data of a report, each part compressed by itself; see `PageData` and `pack`.

    Attributes:
        program: the propagated program.
        plan: the partitioned program.
        costs: its estimated costs.
        reasons: why values aren't sharded further.
    """

    program: str
    plan: str
    costs: str
    reasons: str

    @staticmethod
    def of(data: PageData) -> PackedSections:
        """Return packed data."""
        return PackedSections(
            packed(data.program), packed(data.plan), packed(data.costs), packed(data.reasons)
        )


def render_page(
    explained: ExplainedProgram,
    title: str,
    other: ExplainedProgram | None = None,
    xla: AgainstXla | None = None,
) -> str:
    """Return the report of a program as HTML.

    Args:
        explained: the program.
        title: the name of the program.
        other: another plan to compare with.
        xla: the collectives beside XLA's.

    Raises:
        UsageError: the other plan is for another program.
    """
    with collection_paused():
        data = page_data(explained, title, other, xla)
        sizes = [] if explained.sizes is None else explained.sizes.tables()
        return render_sections(title, PackedSections.of(data), data.plan.other, sizes)


def render_sections(
    title: str,
    sections: PackedSections,
    other: OtherPlan | None = None,
    sizes: Sequence[Table] = (),
) -> str:
    """Return the report with the given data as HTML.

    Args:
        title: the name of the program.
        sections: the data.
        other: the plan that it is compared with.
        sizes: the tables of a program with dynamic sizes.
    """
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(_asset("page.html.jinja")).render(
        title=title,
        style="\n".join(_asset(f"{name}.css") for name in _STYLES),
        dagre=_asset("dagre.min.js"),
        scripts="\n".join(_asset(f"{name}.js") for name in _SCRIPTS),
        sections=asdict(sections),
        sizes=sizes,
        has_other=other is not None,
        side_by_side=other is not None and other.is_aligned,
        other_title="" if other is None else other.title,
    )


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")
