# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Explanations whose texts are kept in the cache of programs."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import astuple, fields
from typing import Any

from mlir_sdy.diagnostics import collect
from mlir_sdy.host import ir
from pyshardy.caching.programs import stored_data
from pyshardy.caching.store import Store
from pyshardy.display import Table
from pyshardy.explain.page.render import render_page
from pyshardy.explain.program import ExplainedProgram
from pyshardy.explain.program_explanation import ProgramExplanation, write_page

_FIELDS = frozenset(field.name for field in fields(ProgramExplanation))


class KeptExplanation(ProgramExplanation):
    """An explanation with stored texts: the summary, the tables and the page.

    The program is propagated and partitioned when more is asked for, such as the reason of a value.

    Args:
        store: the stored texts.
        annotated: the program before propagation.
        request: all that the explanation depends on beside the program.
        explain: explains a program, which it changes.

    Raises:
        PipelineError: there is no stored summary, and the program can't be explained.
    """

    def __init__(
        self,
        store: Store,
        annotated: Callable[[], ir.Module],
        request: str,
        explain: Callable[[ir.Module], ExplainedProgram],
    ):
        vars(self).update(
            _store=store,
            _annotated=annotated,
            _request=request,
            _explain=explain,
            _values={},
            _is_restored=False,
        )
        self.summary()
        vars(self)["_is_restored"] = not _FIELDS & vars(self).keys()

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the explanation, which is computed now."""
        if name not in _FIELDS:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        known = vars(self)
        # The summary has repeated the warnings.
        with collect() if known["_is_restored"] else nullcontext():
            explained = known["_explain"](known["_annotated"]())
        known.update((field, getattr(explained, field)) for field in _FIELDS)
        return known[name]

    def summary(self) -> str:
        """Return the mesh, the collectives and the cost in one line."""
        return self._kept("summary", super().summary)

    def tables(self) -> list[Table]:
        """Return tables of the arguments, the results, the collectives and the cost."""
        compute = super().tables
        tables = self._kept("tables", lambda: [astuple(_of_texts(each)) for each in compute()])
        return [
            Table(title, tuple(headings), [tuple(row) for row in rows], *numbers)
            for title, headings, rows, *numbers in tables
        ]

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write the HTML report of the program to a file; see `ProgramExplanation.to_html`."""
        write_page(path, self._kept("page", lambda: render_page(self, self.title)))

    def __repr__(self) -> str:
        return f"{ProgramExplanation.__name__}({self.summary()})"

    def _kept(self, name: str, compute: Callable[[], Any]) -> Any:
        known = vars(self)
        values: dict[str, Any] = known["_values"]
        if name not in values:
            request = f"{known['_request']} {name}"
            data = stored_data(
                known["_store"], known["_annotated"](), request, lambda: {"value": compute()}
            )
            assert data is not None, "each text is stored"
            values[name] = data["value"]
        return values[name]


def _of_texts(table: Table) -> Table:
    """Return a table whose cells are the texts that are shown."""
    rows = [tuple(map(str, row)) for row in table.rows]
    return Table(table.title, table.headings, rows, table.num_rows, table.num_numeric)
