# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measurement of the run time of each pass, with a report in the format of MLIR."""

from __future__ import annotations

import contextlib
import itertools
import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mlir_sdy.stages import VERIFYING
from pyshardy.pipeline.instrumentation import Instrumentation
from pyshardy.pipeline.plan import Step

if TYPE_CHECKING:
    from mlir_sdy.host import ir
    from pyshardy.irtools.analyses import AnalysisName

_RULE = "===" + "-" * 73 + "==="
_TITLE = "... Execution time report ..."


@dataclass
class _Row:
    """A row of the report.

    Attributes:
        name: the name of the pass, or of other work.
        nesting: the operations that the pass runs on.
        seconds: the time, with that of analyses.
        analyses: the time of the analyses that were computed, without that of others inside.
    """

    name: str
    nesting: tuple[str, ...] = ()
    seconds: float = 0.0
    analyses: dict[str, float] = field(default_factory=dict[str, float])


@dataclass
class NestedClock:
    """Measures intervals without the time of the intervals inside of them.

    Attributes:
        of_process: measure the time of the processor instead of that of the clock.
    """

    of_process: bool = False
    _started: list[float] = field(default_factory=list[float], init=False)

    def start(self) -> None:
        """Start an interval."""
        self._started.append(self._now())

    def stop(self) -> float:
        """Return the seconds of the interval that was started last and hasn't been stopped."""
        seconds = self._now() - self._started.pop()
        self._started = [started + seconds for started in self._started]
        return seconds

    def _now(self) -> float:
        return time.process_time() if self.of_process else time.perf_counter()


@dataclass
class Timing(Instrumentation):
    """Sums the time of each step over all runs of the same pipeline.

    The time of a pass includes the analyses that it is the first to ask for, and which later passes
    use as well; they have rows of their own below it, such as `(A) operation-names`. Verification
    is a row of its own if `on_stages` listens. `measure` times other work than passes; `report`
    formats the table.

    Attributes:
        started: when the total time began, by `time.perf_counter`.
    """

    started: float = field(default_factory=time.perf_counter)
    _verification: contextlib.ExitStack = field(default_factory=contextlib.ExitStack, init=False)
    _next_step: int = field(default=0, init=False)
    _analyses: dict[str, float] = field(default_factory=dict[str, float], init=False)
    _clock: NestedClock = field(default_factory=NestedClock, init=False)
    _steps: list[_Row] = field(default_factory=list[_Row], init=False)
    _before: dict[str, _Row] = field(default_factory=dict[str, _Row], init=False)
    _after: dict[str, _Row] = field(default_factory=dict[str, _Row], init=False)

    @contextlib.contextmanager
    def measure(self, name: str) -> Iterator[None]:
        """Add the time that the `with` block takes, without measured parts, to the row `name`."""
        rows = self._after if self._steps else self._before
        row = self._before.get(name) or rows.setdefault(name, _Row(name))
        self._clock.start()
        try:
            yield
        finally:
            row.seconds += self._clock.stop()

    def add_imports(self) -> None:
        """Add the time since the start, before anything was measured, to the row `Imports`."""
        row = self._before.setdefault("Imports", _Row("Imports"))
        row.seconds += time.perf_counter() - self.started

    def on_stages(self, stages: tuple[str, ...]) -> None:
        """Measure verification, as a listener of `mlir_sdy.stages`."""
        self._verification.close()
        if stages[-1:] == (VERIFYING,):
            self._verification.enter_context(self.measure("Verification"))

    def before_pipeline(self, module: ir.Module, steps: tuple[Step, ...]) -> None:
        """Make a row for each step, to which a second run of the pipeline adds."""
        del module
        self._next_step = 0
        if not self._steps:
            self._steps = [_Row(step.display_name, step.nesting) for step in steps]

    def before_pass(self, step: Step, module: ir.Module) -> None:
        """Start the clock."""
        del step, module
        self._clock.start()

    def after_pass(self, step: Step, module: ir.Module) -> None:
        """Stop the clock."""
        del step, module
        row = self._steps[self._next_step]
        row.seconds += self._clock.stop() + sum(self._analyses.values())
        for name, seconds in self._analyses.items():
            row.analyses[name] = row.analyses.get(name, 0.0) + seconds
        self._analyses.clear()
        self._next_step += 1

    def before_analysis(self, name: AnalysisName, module: ir.Operation) -> None:
        """Start the clock of an analysis."""
        del name, module
        self._clock.start()

    def after_analysis(self, name: AnalysisName, module: ir.Operation) -> None:
        """Stop the clock of an analysis."""
        del module
        self._analyses[name] = self._analyses.get(name, 0.0) + self._clock.stop()

    def after_failed_pass(self, step: Step, module: ir.Module) -> None:
        """Stop the clock."""
        self.after_pass(step, module)

    def report(self, *, as_list: bool = False, as_json: bool = False) -> str:
        """Return the table, ending in a line break.

        Args:
            as_list: sort the rows by their time, and add those of equal names.
            as_json: write a list of JSON, in which rows hold the rows that are indented below them.
        """
        total = time.perf_counter() - self.started
        rows = [*self._before.values(), *self._nested_steps(), *self._after.values()]
        measured = sum(row.seconds for row in rows if not row.name.startswith("  "))
        rows = _as_list(rows) if as_list else _with_analyses(rows)
        rows += [_Row("Rest", seconds=total - measured), _Row("Total", seconds=total)]
        if as_json:
            return json.dumps(_nested(rows, total), indent=1) + "\n"
        lines = [
            _RULE,
            _TITLE.center(len(_RULE)).rstrip(),
            _RULE,
            f"  Total Execution Time: {total:.4f} seconds",
            "",
            "  ----Wall Time----  ----Name----",
        ]
        lines += [
            f"  {row.seconds:8.4f} ({100 * row.seconds / total:5.1f}%)  {row.name}" for row in rows
        ]
        return "\n".join(lines) + "\n"

    def _nested_steps(self) -> Iterator[_Row]:
        """Return the rows of the steps; those on nested operations are indented."""
        for nesting, group in itertools.groupby(self._steps, key=lambda row: row.nesting):
            rows = list(group)
            if not nesting:
                yield from rows
                continue
            names = " ".join(f"'{name}'" for name in nesting)
            yield _Row(f"{names} Pipeline", seconds=sum(row.seconds for row in rows))
            for row in rows:
                yield _Row(f"  {row.name}", seconds=row.seconds, analyses=row.analyses)


def _with_analyses(rows: Iterable[_Row]) -> list[_Row]:
    """Return the rows of passes, each followed by the rows of its analyses."""
    found: list[_Row] = []
    for row in rows:
        indentation = "  " + " " * (len(row.name) - len(row.name.lstrip()))
        found.append(row)
        found += [
            _Row(f"{indentation}(A) {name}", seconds=own) for name, own in row.analyses.items()
        ]
    return found


def _nested(rows: Iterable[_Row], total: float) -> list[dict[str, Any]]:
    """Return the rows as values of JSON, as MLIR writes them."""
    found: list[dict[str, Any]] = []
    levels = [found]
    for row in rows:
        name = row.name.lstrip()
        level = (len(row.name) - len(name)) // 2
        wall = {
            "duration": round(row.seconds, 4),
            "percentage": round(100 * row.seconds / total, 1),
        }
        entry: dict[str, Any] = {"wall": wall, "name": name, "passes": []}
        levels[level].append(entry)
        levels[level + 1 :] = [entry["passes"]]
    return found


def _as_list(rows: Iterable[_Row]) -> list[_Row]:
    """Return a row for each name, the longest time first.

    Totals of nested passes are left out, and the time of a pass is without that of its analyses.
    """
    seconds: dict[str, float] = {}
    for row in rows:
        if not row.name.endswith(" Pipeline"):
            name = row.name.strip()
            own = row.seconds - sum(row.analyses.values())
            seconds[name] = seconds.get(name, 0.0) + own
            for analysis, taken in row.analyses.items():
                key = f"(A) {analysis}"
                seconds[key] = seconds.get(key, 0.0) + taken
    longest_first = sorted(seconds.items(), key=lambda each: -each[1])
    return [_Row(name, seconds=each) for name, each in longest_first]
