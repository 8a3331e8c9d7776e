# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The output of `sdy-explain`: explanations as text, and tables of a program."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pyshardy.explain.against_xla import AgainstXla
from pyshardy.explain.collectives import CollectiveExplanation
from pyshardy.explain.cost_difference import Difference
from pyshardy.explain.estimate import Estimate
from pyshardy.explain.largest import largest_values
from pyshardy.explain.program import ExplainedProgram, ValueExplanation
from pyshardy.program import Port

_NUM_VALUES = 8

_WIDTH_OF_FILES = 200
"""The columns to use where the output isn't a terminal, so that it can be searched by line."""


class Report:
    """Prints to standard output.

    Args:
        explained: the explained program.
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
        """Print explanations of the values that a word identifies."""
        for explanation in explanations:
            self._line(f"\n{word} is {explanation}")

    def print_program(self) -> None:
        """Print the shardings of arguments and results, and a line for each collective."""
        program = self._explained.program
        self._ports("Inputs", program.inputs)
        self._ports("Outputs", program.outputs)
        self._large_values()
        collectives = self._by_bytes()
        if not collectives:
            self._line("\nNo collectives")
            return
        table = _table()
        for heading in ("collective", "axes", "location", "reason"):
            table.add_column(heading, overflow="fold")
        for heading in ("times", "bytes sent"):
            table.add_column(heading, justify="right")
        for each in collectives:
            one = each.collective
            times = "?" if one.repetitions is None else f"{one.repetitions:,}"
            axes = "" if one.axes is None else ", ".join(one.axes)
            cells = (one.kind, axes, str(one.location or ""), each.reason, times)
            table.add_row(*map(Text, cells), f"{each.nbytes_total:,}")
        self._titled("Collectives of pyshardy's partitioner (bytes sent by each device)", table)

    def print_reasons(self) -> None:
        """Print the reasons of all collectives, sorted by bytes sent."""
        for each in self._by_bytes():
            self._line(f"\n{each}")

    def print_against_xla(self, comparison: AgainstXla) -> None:
        """Print the collectives of both partitioners, and where the largest of XLA's come from."""
        for table in comparison.tables():
            self._line("")
            self._console.print(table)
        largest = sorted(comparison.xlas, key=lambda each: -each.sent_bytes * each.times)
        if not any(each.source for each in largest[:_NUM_VALUES]):
            return
        self._line("\nThe largest of XLA's")
        for each in largest[:_NUM_VALUES]:
            nbytes = round(each.sent_bytes * each.times)
            self._line(f"  {each.kind}, {nbytes:,} bytes: {each.source}")

    def print_cost(self, cost: Estimate) -> None:
        """Print the estimated cost of a run."""
        table = _table()
        for heading in ("", "on each device"):
            table.add_column(heading, justify="right" if heading else "left")
        for row in cost.rows():
            table.add_row(*row)
        self._titled(f"Estimate for {cost.hardware}", table)

    def print_difference(self, difference: Difference, names: tuple[str, str]) -> None:
        """Print the differences between two plans."""
        table = _table()
        table.add_column("")
        for name in names:
            table.add_column(name, justify="right", overflow="fold")
        plans = difference.first, difference.second
        axes = {axes for plan in plans for axes in plan.bytes_by_axes}
        for (what, first), (_, second) in zip(*(plan.rows(axes) for plan in plans), strict=True):
            table.add_row(what, first, second)
        self._titled(f"Estimates for {difference.first.hardware}", table)
        if difference.collectives:
            table = _table()
            for heading in ("collective", "axes"):
                table.add_column(heading)
            for name in names:
                table.add_column(f"bytes sent (count), {name}", justify="right", overflow="fold")
            for each in difference.collectives:
                ends = zip(each.counts, each.nbytes_sent, strict=True)
                cells = (f"{nbytes:,} ({count})" for count, nbytes in ends)
                table.add_row(each.kind, Text(each.axes), *cells)
            self._titled("Different collectives", table)
        if difference.ports:
            table = _table()
            table.add_column("argument or result")
            for name in names:
                table.add_column(name, overflow="fold")
            for port in difference.ports:
                cells = (port.name, port.first or "replicated", port.second or "replicated")
                table.add_row(*(Text(str(cell)) for cell in cells))
            self._titled("Different shardings", table)

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

    def _large_values(self) -> None:
        table = _table()
        for heading in ("value", "location", "global", "sharding", "on each device"):
            table.add_column(heading, overflow="fold")
        table.add_column("bytes", justify="right")
        values = largest_values(self._explained, _NUM_VALUES)
        for value in values:
            cells = (
                value.tensor.description,
                value.tensor.location or "",
                value.spec,
                value.sharding or "replicated",
                value.local_spec,
            )
            table.add_row(*(Text(str(cell)) for cell in cells), f"{value.local_spec.nbytes:,}")
        if values:
            self._titled("Largest intermediates", table)

    def _titled(self, title: str, table: Table) -> None:
        self._line(f"\n{title}")
        self._console.print(table)

    def _line(self, text: str) -> None:
        self._console.print(Text(text), soft_wrap=True)


def _table() -> Table:
    return Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
