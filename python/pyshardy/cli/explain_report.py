# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `sdy-explain` prints: explanations as text, and tables of a program."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pyshardy.explain.collectives import CollectiveExplanation
from pyshardy.explain.program import ExplainedProgram, ValueExplanation
from pyshardy.program import Port

_WIDTH_OF_FILES = 200
"""The columns to use where the output isn't a terminal, so that it can be searched by line."""


class Report:
    """Prints to standard output.

    Args:
        explained: what to report on.
        title: the name of the program.
    """

    def __init__(self, explained: ExplainedProgram, title: str):
        self._explained = explained
        self._console = Console(highlight=False, soft_wrap=False)
        if not self._console.is_terminal:
            self._console.width = _WIDTH_OF_FILES
        mesh = explained.program.mesh
        self._line(f"{title}: {mesh.total_size} devices, mesh {mesh}")

    def print_values(self, word: str, explanations: Sequence[ValueExplanation]) -> None:
        """Print why the values that a word stands for are sharded as they are."""
        for explanation in explanations:
            self._line(f"\n{word} is {explanation}")

    def print_program(self) -> None:
        """Print how arguments and results are laid out, and a line for each collective."""
        program = self._explained.program
        self._ports("Inputs", program.inputs)
        self._ports("Outputs", program.outputs)
        collectives = self._by_bytes()
        if not collectives:
            self._line("\nNo collectives")
            return
        table = _table()
        for heading in ("collective", "axes", "at", "why"):
            table.add_column(heading, overflow="fold")
        for heading in ("times", "bytes sent"):
            table.add_column(heading, justify="right")
        for each in collectives:
            one = each.collective
            times = "?" if one.repetitions is None else f"{one.repetitions:,}"
            axes = "" if one.axes is None else ", ".join(one.axes)
            cells = (one.kind, axes, str(one.location or ""), each.reason, times)
            table.add_row(*map(Text, cells), f"{each.nbytes_total:,}")
        self._titled("Collectives (bytes that each device sends)", table)

    def print_reasons(self) -> None:
        """Print why there is each collective, those that send the most first."""
        for each in self._by_bytes():
            self._line(f"\n{each}")

    def _by_bytes(self) -> list[CollectiveExplanation]:
        return sorted(self._explained.collectives, key=lambda each: -each.nbytes_total)

    def _ports(self, title: str, ports: Sequence[Port]) -> None:
        table = _table()
        for heading in ("name", "global", "sharding", "on each device"):
            table.add_column(heading, overflow="fold")
        table.add_column("bytes", justify="right")
        for port in ports:
            cells = (port.name, port.spec, port.sharding or "replicated", port.local_spec)
            table.add_row(*(Text(str(cell)) for cell in cells), f"{port.local_spec.nbytes:,}")
        if ports:
            self._titled(title, table)

    def _titled(self, title: str, table: Table) -> None:
        self._line(f"\n{title}")
        self._console.print(table)

    def _line(self, text: str) -> None:
        self._console.print(Text(text), soft_wrap=True)


def _table() -> Table:
    return Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
