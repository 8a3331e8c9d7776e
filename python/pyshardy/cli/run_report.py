# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The output of `sdy-run`: tables of a program, of the comparison, and of execution times."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TypeVar

from rich.text import Text

from mlir_sdy.diagnostics import emit, warning
from mlir_sdy.host import ir
from pyshardy.backends.arrays.comparison import (
    Difference,
    Verdict,
    compare,
    overall,
    tolerance_within,
    with_last_places_moved,
)
from pyshardy.backends.custom_calls import CALLBACKS
from pyshardy.cli.output import activity
from pyshardy.cli.tables import Content, Printer, table_of
from pyshardy.local_program.custom_calls import calls_to
from pyshardy.local_program.tensor_spec import Array
from pyshardy.program import Collective, PartitionedProgram, Port

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Measurement:
    """The execution time of a stage.

    Attributes:
        what: the stage.
        seconds: the time of one execution, or of the fastest of several.
        runs: the number of executions.
    """

    what: str
    seconds: float
    runs: int = 1


@dataclass(slots=True)
class Profile:
    """Measures the time of stages.

    Args:
        runs: the number of repetitions; None to run once and measure nothing.

    Attributes:
        measurements: the measured stages, in order.
    """

    runs: int | None
    measurements: list[Measurement] = field(default_factory=list[Measurement])

    @contextmanager
    def stage(self, what: str) -> Iterator[None]:
        """Measure the time of the `with` block."""
        start = time.perf_counter()
        yield
        self.measurements.append(Measurement(what, time.perf_counter() - start))

    def run(self, what: str, run: Callable[[], _Result]) -> _Result:
        """Run a function, repeatedly if requested.

        The first run of a program compiles. Its additional time over the fastest run is counted
        as compilation.
        """
        first, result = _timed(run)
        if self.runs is None:
            return result
        best = min(_timed(run)[0] for _ in range(self.runs))
        self.measurements.append(Measurement(f"compile {what}", max(0.0, first - best)))
        self.measurements.append(Measurement(f"run {what}", best, self.runs))
        return result


def _timed(run: Callable[[], _Result]) -> tuple[float, _Result]:
    start = time.perf_counter()
    result = run()
    return time.perf_counter() - start, result


class RunReport:
    """Prints to standard output.

    Args:
        program: the partitioned program.
        title: the name of the program.
        quiet: whether to print nothing.

    Attributes:
        program: the same.
    """

    def __init__(self, program: PartitionedProgram, title: str, *, quiet: bool = False):
        self.program = program
        self._printer = Printer(quiet=quiet)
        mesh = program.mesh
        self._line(f"{title}: {mesh.total_size} devices, mesh {mesh}")

    def print_program(self, *, is_annotated: bool) -> None:
        """Print the part that is known before the program runs: arguments and collectives.

        Args:
            is_annotated: whether the program has shardings; those that don't divide are dropped.
        """
        program = self.program
        self._printer.table("Inputs", _table_of_ports("input", program.inputs))
        self._print_collectives()
        if not is_annotated and not any(
            port.sharding is not None and not port.sharding.is_fully_replicated
            for port in (*program.inputs, *program.outputs)
        ):
            emit(
                warning(
                    "no argument or result is sharded, so all devices hold all data; annotate one "
                    "with '{sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, {}]>}'"
                )
            )

    def _print_collectives(self) -> None:
        """Print the collectives, equal ones in one line."""
        counts = Counter(map(_kind, self.program.collectives))
        if not counts:
            self._line("\nNo collectives")
            return
        rows: list[tuple[str, ...]] = []
        known = 0
        for (name, axes, group, times, nbytes, sent), count in counts.items():
            if times is None:
                cells = (str(count), "?", f"{nbytes:,}", f"? x {count * sent:,}")
            else:
                total = count * times * sent
                known += total
                cells = (str(count), str(times), f"{nbytes:,}", f"{total:,}")
            rows.append((name, axes, group, *cells))
        headings = ("collective", "axes", "group", "count", "times", "operand bytes", "bytes sent")
        more = " + ?" if any(each.repetitions is None for each in self.program.collectives) else ""
        total = ("total", "", "", str(sum(counts.values())), "", "", f"{known:,}{more}")
        table = table_of(headings, rows, num_numeric=5, total=total)
        self._printer.table("Collectives of pyshardy's partitioner (bytes on each device)", table)

    def print_outputs(self, differences: Sequence[Difference] | None = None) -> None:
        """Print the types and shardings of the results, and their differences if given.

        The differences are in a table of their own if the output is narrow.
        """
        print_outputs(self._printer, self.program.outputs, differences)

    def print_profile(self, measurements: Sequence[Measurement]) -> None:
        """Print the times of the stages, and the bytes that each device holds and sends."""
        rows = [(each.what, f"{each.seconds:.4f}", str(each.runs)) for each in measurements]
        table = table_of(("stage", "seconds", "runs"), rows, num_numeric=2)
        self._printer.table("Time (compilation is separate; of several runs, the fastest)", table)
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

    def _line(self, text: str, style: str = "") -> None:
        self._printer.line(text, style)


def print_outputs(
    printer: Printer, outputs: Sequence[Port], differences: Sequence[Difference] | None = None
) -> None:
    """Print the types and shardings of results, and their differences; see `RunReport`."""
    ports = _table_of_ports("output", outputs)
    if differences is None:
        printer.table("Outputs", ports)
        return
    compared = list(map(_compared, differences))
    both = [[*port, *cells] for port, cells in zip(ports.rows, compared, strict=True)]
    whole = table_of((*ports.headings, *_COMPARED), both, num_numeric=4)
    if printer.fits(whole):
        printer.table("Outputs", whole)
    else:
        rows = [[port[0], *cells] for port, cells in zip(ports.rows, compared, strict=True)]
        printer.table("Outputs", ports)
        printer.table("Comparison", table_of(("output", *_COMPARED), rows, num_numeric=4))
    for line in _uncompared(outputs, differences):
        printer.line(f"\n{line}", "yellow")
    text, style = _conclusion(differences)
    printer.line(f"\n{text}", style)


def differences_of(
    run: Callable[[Sequence[Array]], Sequence[Array]],
    inputs: Sequence[Array],
    outputs: Sequence[Array],
    expected: Sequence[Array],
    original: ir.Module,
    ports: Sequence[Port],
    tolerance: float | None,
) -> list[Difference]:
    """Return the differences of results from expected ones, with the noise of rounding.

    Args:
        run: runs the unpartitioned program.
        inputs: its inputs.
        outputs: the results of the partitioned program.
        expected: those of the unpartitioned one.
        original: the unpartitioned program.
        ports: its results.
        tolerance: the largest difference; None for that of the least precise element type.
    """
    allowed = tolerance_within(original) if tolerance is None else tolerance
    specs = [port.spec for port in ports]
    differences = [
        replace(each, is_limit=tolerance is not None)
        for each in map(compare, outputs, expected, specs, [allowed] * len(specs))
    ]
    if calls_to(CALLBACKS, original):  # a second run would repeat their effects
        return differences
    with activity("measuring the noise of rounding"):
        moved = run(with_last_places_moved(inputs))
    noise = [each.relative for each in map(compare, moved, expected, specs)]
    return list(map(Difference.with_noise, differences, noise))


def _table_of_ports(what: str, ports: Sequence[Port]) -> Content:
    rows = [
        (port.name, port.spec, port.sharding or "replicated", port.local_spec) for port in ports
    ]
    return table_of((what, "global", "sharding", "on each device"), rows)


_COMPARED = ("largest difference", "relative", "rounding", "allowed", "")
_STYLES = {Verdict.OK: "green", Verdict.FAILED: "red", Verdict.INCONCLUSIVE: "yellow"}


def _compared(found: Difference) -> tuple[str | Text, ...]:
    """Return the cells of a result under the headings `_COMPARED`."""
    return (
        f"{found.absolute:.3g}",
        f"{found.relative:.3g}",
        "-" if found.noise is None else f"{found.noise:.2g}",
        _allowed(found),
        Text(found.verdict.value, _STYLES[found.verdict]),
    )


def _allowed(found: Difference) -> str:
    if found.is_small or found.allowed == found.tolerance:
        return f"{found.tolerance:g}"
    return f"{found.allowed:.2g} (rounding)"


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
        text = f"FAILED: {wrong} of {len(differences)} results differ"
        noise = [each.noise or 0.0 for each in differences if each.is_explained]
        if noise:
            text += f"; rounding alone gives {max(noise):.2g}, more than --tolerance allows"
        return text, style
    if not any(each.num_compared for each in differences):
        return "inconclusive: no value could be compared; use other inputs by --inputs", style
    noise = max(each.noise or 0.0 for each in differences if each.verdict is verdict)
    return (
        f"inconclusive: rounding alone gives {noise:.2g} here; use other inputs by --inputs",
        style,
    )


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
