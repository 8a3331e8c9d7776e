# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The output of `sdy-explain`: explanations as text, and tables of a program."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mlir_sdy.model import TensorSharding
from pyshardy.cli.tables import Printer, place_text, table_of
from pyshardy.cost.hardware import Hardware
from pyshardy.display import Table, counted
from pyshardy.explain.against_xla import AgainstXla
from pyshardy.explain.collectives import CollectiveExplanation
from pyshardy.explain.cost_difference import CostDifference
from pyshardy.explain.estimate import Estimate, estimate
from pyshardy.explain.largest import largest_values
from pyshardy.explain.program import ExplainedProgram, ValueExplanation
from pyshardy.program import Port

_NUM_VALUES = 8
_NUMBER = re.compile(r"\d+")


class ExplainReport:
    """Prints to standard output.

    Args:
        explained: the explained program.
        title: the name of the program.
    """

    def __init__(self, explained: ExplainedProgram, title: str):
        self._explained = explained
        self._printer = Printer()
        every = explained.record.engine.program.meshes
        named = [f"@{name} {mesh}" for name, mesh in every.items() if mesh.axes]
        mesh = explained.program.mesh
        meshes = f"mesh {mesh}" if len(named) < 2 else f"meshes {', '.join(named)}"
        self._line(f"{title}: {mesh.total_size} devices, {meshes}")

    def print_values(
        self, word: str, explanations: Sequence[ValueExplanation], axes: Sequence[str]
    ) -> None:
        """Print explanations of the values that a word identifies; if axes are given, of these.

        Values of equal layers, whose answers differ in numbers only, have one answer.
        """
        groups: dict[str, list[ValueExplanation]] = {}
        for explanation in explanations:
            groups.setdefault(_NUMBER.sub("*", str(explanation)), []).append(explanation)
        for explanation, *alike in groups.values():
            if not axes:
                said = str(explanation)
                is_named = said.startswith((f"{word} (", f"{word}:"))
                self._line(f"\n{said}" if is_named else f"\n{word} is {said}")
            if alike and not axes:
                self._line(f"  ({counted(len(alike), 'more value')} alike, up to numbers)")
            for axis in axes:
                reason = explanation.axes.get(axis)
                missing = f"{word}: its mesh has no axis '{axis}' of several devices"
                if not explanation.axes:
                    missing = f"{word} is a scalar"
                self._line(f"\n{missing}" if reason is None else f"\n{reason}")

    def print_tables(self, tables: Sequence[Table]) -> None:
        """Print tables."""
        for each in tables:
            self._line("")
            self._printer.value(each)

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
        rows: list[tuple[str, ...]] = []
        for each in collectives:
            one = each.collective
            times = "?" if one.repetitions is None else f"{one.repetitions:,}"
            axes = "" if one.axes is None else ", ".join(one.axes)
            nbytes = f"{each.nbytes_total:,}"
            rows.append((one.kind, axes, place_text(one.location), each.reason, times, nbytes))
        total = f"{sum(each.nbytes_total for each in collectives):,}"
        headings = ("collective", "axes", "location", "reason", "times", "bytes sent")
        ends = (f"total of {len(collectives):,}", "", "", "", "", total)
        table = table_of(headings, rows, num_numeric=2, total=ends)
        title = "Collectives of pyshardy's partitioner (bytes sent by each device)"
        self._printer.table(title, table)

    def print_reasons(self) -> None:
        """Print the reasons of all collectives, sorted by bytes sent."""
        for each in self._by_bytes():
            self._line(f"\n{each}")

    def print_against_xla(self, comparison: AgainstXla) -> None:
        """Print the collectives of both partitioners, and where the largest of XLA's come from."""
        for table in comparison.tables():
            self._line("")
            self._printer.value(table)
        largest = sorted(comparison.xlas, key=lambda each: -each.sent_bytes * each.times)
        if not any(each.source for each in largest[:_NUM_VALUES]):
            return
        self._line("\nThe largest of XLA's")
        for each in largest[:_NUM_VALUES]:
            nbytes = round(each.sent_bytes * each.times)
            self._line(f"  {each.kind}, {nbytes:,} bytes: {each.source}")

    def print_cost(self, cost: Estimate) -> None:
        """Print the estimated cost of a run."""
        table = table_of(("cost", "on each device"), cost.rows(), num_numeric=1)
        self._printer.table(f"Estimate for {cost.hardware}", table)

    def print_difference(self, difference: CostDifference, names: tuple[str, str]) -> None:
        """Print the differences between two plans."""
        plans = difference.first, difference.second
        self._costs(f"Estimates for {difference.first.hardware}", plans, names)
        self._changes(difference, names)

    def print_hardware_difference(self, difference: CostDifference, hardware: Hardware) -> None:
        """Print the costs of the plans for two kinds of hardware, and what differs.

        Args:
            difference: the difference of the plans, each on its hardware.
            hardware: that of the second plan.
        """
        plans = difference.first, estimate(self._explained.program, hardware), difference.second
        ours, theirs = self._explained.report_hardware.name, hardware.name
        if ours == theirs:
            theirs = "the other"
        self._printer.line(f"\n{ours}: {difference.first.hardware}")
        self._printer.line(f"{theirs}: {difference.second.hardware}")
        names = (f"on {ours}", f"the same on {theirs}", f"the plan for {theirs}")
        self._costs("Estimates", plans, names)
        self._changes(difference, (f"for {ours}", f"for {theirs}"))
        if not difference.collectives:
            self._printer.line("\nBoth plans have the same collectives.")

    def _costs(self, title: str, plans: Sequence[Estimate], names: Sequence[str]) -> None:
        """Print a table with a column for the costs of each plan."""
        axes = {axes for plan in plans for axes in plan.bytes_by_axes}
        columns = [plan.rows(axes) for plan in plans]
        costs = [(row[0][0], *(cell for _, cell in row)) for row in zip(*columns, strict=True)]
        table = table_of(("cost", *names), costs, num_numeric=len(plans))
        self._printer.table(title, table)

    def _changes(self, difference: CostDifference, names: tuple[str, str]) -> None:
        """Print the collectives and the shardings that differ between two plans."""
        if difference.collectives:
            rows: list[tuple[str, ...]] = []
            for each in difference.collectives:
                ends = zip(each.counts, each.nbytes_sent, strict=True)
                cells = (f"{nbytes:,} ({count})" for count, nbytes in ends)
                rows.append((each.kind, each.axes, *cells))
            table = table_of(("collective", "axes", *names), rows, num_numeric=2)
            self._printer.table("Different collectives: bytes sent (count)", table)
        if difference.ports:
            ports = [
                (port.name, self._sharding(port.first), self._sharding(port.second))
                for port in difference.ports
            ]
            table = table_of(("argument or result", *names), ports)
            self._printer.table("Different shardings", table)

    def _by_bytes(self) -> list[CollectiveExplanation]:
        return sorted(self._explained.collectives, key=lambda each: -each.nbytes_total)

    def _sharding(self, sharding: TensorSharding | None) -> str:
        """Return a sharding in the form of the texts."""
        text = "replicated" if sharding is None else str(sharding)
        return self._explained.in_form(text)

    def _ports(self, title: str, ports: Sequence[Port]) -> None:
        rows = [
            (
                port.name,
                port.spec,
                self._sharding(port.sharding),
                port.local_spec,
                f"{port.local_spec.nbytes:,}",
            )
            for port in ports
        ]
        headings = ("name", "global", "sharding", "on each device", "bytes")
        if ports:
            self._printer.table(title, table_of(headings, rows, num_numeric=1))

    def _large_values(self) -> None:
        values = largest_values(self._explained, _NUM_VALUES)
        rows = [
            (
                value.tensor.description,
                place_text(value.tensor.location),
                value.spec,
                self._sharding(value.sharding),
                value.local_spec,
                f"{value.local_spec.nbytes:,}",
            )
            for value in values
        ]
        headings = ("value", "location", "global", "sharding", "on each device", "bytes")
        if values:
            self._printer.table("Largest intermediates", table_of(headings, rows, num_numeric=1))

    def _line(self, text: str) -> None:
        self._printer.line(text)
