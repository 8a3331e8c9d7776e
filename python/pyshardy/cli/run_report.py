# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The output of `sdy-run`: tables of a partitioned program and of the comparison."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pyshardy.backends.arrays.comparison import Difference, Verdict, overall
from pyshardy.cli.run_profile import Measurement
from pyshardy.program import Collective, PartitionedProgram, Port

_WIDTH_OF_FILES = 200
"""The columns to use where the output isn't a terminal, so that it can be searched by line."""


class Report:
    """Prints to standard output.

    Args:
        program: the partitioned program.
        title: the name of the program.

    Attributes:
        program: the same.
    """

    def __init__(self, program: PartitionedProgram, title: str):
        self.program = program
        self._console = Console(highlight=False, soft_wrap=False)
        if not self._console.is_terminal:
            self._console.width = _WIDTH_OF_FILES
        mesh = program.mesh
        self._line(f"{title}: {mesh.total_size} devices, mesh {mesh}")

    def print_inputs(self) -> None:
        """Print the types and shardings of the arguments."""
        self._print("Inputs", self._ports("input", self.program.inputs))

    def print_collectives(self) -> None:
        """Print the collectives, equal ones in one line."""
        counts = Counter(map(_kind, self.program.collectives))
        if not counts:
            self._line("\nNo collectives")
            return
        table = _table()
        for heading in ("collective", "axes"):
            table.add_column(heading, overflow="fold")
        for heading in ("group", "count", "times", "operand bytes", "bytes sent"):
            table.add_column(heading, justify="right")
        for (name, axes, group, times, nbytes, sent), count in counts.items():
            if times is None:
                cells = (str(count), "?", f"{nbytes:,}", f"? x {count * sent:,}")
            else:
                total = count * times * sent
                cells = (str(count), str(times), f"{nbytes:,}", f"{total:,}")
            table.add_row(*map(Text, (name, axes, group, *cells)))
        self._print("Collectives (bytes on each device)", table)

    def print_outputs(self, differences: Sequence[Difference] | None = None) -> None:
        """Print the types and shardings of the results, and their differences if given."""
        self._print("Outputs", self._ports("output", self.program.outputs, differences))
        if differences is None:
            return
        for line in _uncompared(self.program.outputs, differences):
            self._line(f"\n{line}", "yellow")
        text, style = _conclusion(differences)
        self._line(f"\n{text}", style)

    def print_profile(self, measurements: Sequence[Measurement]) -> None:
        """Print the time of each stage, and the bytes that each device holds and sends."""
        table = _table()
        table.add_column("stage")
        for heading in ("seconds", "runs"):
            table.add_column(heading, justify="right")
        for each in measurements:
            table.add_row(each.what, f"{each.seconds:.4f}", str(each.runs))
        self._print("Time (compilation is separate; of several runs, the fastest)", table)
        program = self.program
        sent = [
            None if each.repetitions is None else each.repetitions * each.nbytes_sent
            for each in program.collectives
        ]
        held = [
            sum(port.local_spec.nbytes for port in ports)
            for ports in (program.inputs, program.outputs)
        ]
        known = sum(each for each in sent if each is not None)
        more = ", excluding loops with an unknown number of iterations" if None in sent else ""
        self._line(
            f"\nBytes on each device: {held[0]:,} of inputs, {held[1]:,} of outputs; "
            f"{known:,} sent in each run{more}"
        )

    def _ports(
        self, what: str, ports: Sequence[Port], differences: Sequence[Difference] | None = None
    ) -> Table:
        table = _table()
        for heading in (what, "global", "sharding", "on each device"):
            table.add_column(heading, overflow="fold")
        if differences is not None:
            for heading in ("largest difference", "relative", "rounding", "allowed"):
                table.add_column(heading, justify="right")
            table.add_column("")
        for index, port in enumerate(ports):
            sharding = "replicated" if port.sharding is None else str(port.sharding)
            cells = [port.name, str(port.spec), sharding, str(port.local_spec)]
            verdict: list[Text] = []
            if differences is not None:
                found = differences[index]
                noise = "-" if found.noise is None else f"{found.noise:.2g}"
                cells += [f"{found.absolute:.3g}", f"{found.relative:.3g}", noise]
                cells.append(f"{found.tolerance:g}")
                verdict = [Text(found.verdict.value, _STYLES[found.verdict])]
            table.add_row(*map(Text, cells), *verdict)
        return table

    def _print(self, title: str, table: Table) -> None:
        self._line(f"\n{title}", "bold")
        self._console.print(table)

    def _line(self, text: str, style: str = "") -> None:
        self._console.print(Text(text, style), soft_wrap=True)


_STYLES = {Verdict.OK: "green", Verdict.FAILED: "red", Verdict.INCONCLUSIVE: "yellow"}


def _uncompared(ports: Sequence[Port], differences: Sequence[Difference]) -> Iterator[str]:
    """Yield a line for each result with values that are not finite numbers on both sides."""
    for port, found in zip(ports, differences, strict=True):
        counts = ((found.num_nan, "NaN"), (found.num_infinite, "infinite"))
        kinds = " and ".join(
            f"{count:,} of {found.size:,} values {kind}" for count, kind in counts if count
        )
        if kinds:
            rest = f"{found.num_compared:,} compared" if found.num_compared else "nothing compared"
            yield f"{port.name}: {kinds}: {rest}"


def _conclusion(differences: Sequence[Difference]) -> tuple[str, str]:
    """Return the last line of a comparison, and its style."""
    verdict = overall(differences)
    style = f"bold {_STYLES[verdict]}"
    if verdict is Verdict.OK:
        return "OK: the results match those of the unpartitioned program", style
    if verdict is Verdict.FAILED:
        wrong = sum(each.verdict is Verdict.FAILED for each in differences)
        return f"FAILED: {wrong} of {len(differences)} results differ", style
    if not any(each.num_compared for each in differences):
        return "inconclusive: no value could be compared; use other inputs by --inputs", style
    noise = max(each.noise or 0.0 for each in differences if each.verdict is verdict)
    return (
        f"inconclusive: rounding alone gives {noise:.2g} here; use other inputs by --inputs",
        style,
    )


def _table() -> Table:
    return Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)


def _kind(collective: Collective) -> tuple[str, str, str, int | None, int, int]:
    """Return the properties in which the collectives of a line of the table agree."""
    return (
        " ".join(filter(None, (collective.kind, collective.reduction))),
        "-" if collective.axes is None else ", ".join(collective.axes),
        str(collective.group_size),
        collective.repetitions,
        collective.nbytes,
        collective.nbytes_sent,
    )
