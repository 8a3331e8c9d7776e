# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time of the passes that change nothing in a program of 5,000 operations.

    python bench/idle_passes.py

The program is a chain of products whose shardings are compatible, without calls, constants or
regions. A pass is measured inside of its pipeline, without the analyses that it is the first to ask
for: later passes use them, too (`pyshardy.irtools.analyses`). These have rows of their own. The
time is the least of several runs.
"""

from __future__ import annotations

import gc
from collections.abc import Mapping
from types import MappingProxyType

from workload import chain

from mlir_sdy.assembly import asm, parse
from mlir_sdy.dialect import Context
from mlir_sdy.host import ir
from pyshardy.irtools.analyses import AnalysisName
from pyshardy.pipeline import Instrumentation, run_pipeline
from pyshardy.pipeline.plan import Step
from pyshardy.pipeline.timing import NestedClock

PIPELINES = ("sdy-propagation-pipeline", "sdy-partition-pipeline")
NUM_OPERATIONS = 5_000
MOST_SHOWN = 8

READERS: Mapping[str, str] = MappingProxyType(
    {
        "canonicalize": "C++ visits all operations",
        "sdy-convert-global-to-local": "changes all types",
        "sdy-insert-explicit-reshards": "compares the shardings of the tensors of all operations",
    }
)
"""The passes that look at all operations, and why."""


class IdleTimes(Instrumentation):
    """The seconds of each use of a pass, and whether the program is the same after it.

    Attributes:
        seconds: the time of each use, without analyses.
        names: the pass of each use.
        is_idle: whether the program was the same after it.
        analyses: the analyses that were computed, with their time.
    """

    def __init__(self, *, compares: bool):
        self.seconds: list[float] = []
        self.analyses: list[tuple[AnalysisName, float]] = []
        self._clock = NestedClock(of_process=True)
        self.names: list[str] = []
        self.is_idle: list[bool] = []
        self._compares = compares
        self._before = ""

    def before_pass(self, step: Step, module: ir.Module) -> None:
        """Note the pass, and start the clock."""
        self.names.append(step.argument)
        self._before = asm(module) if self._compares else ""
        self._clock.start()

    def before_analysis(self, name: AnalysisName, module: ir.Operation) -> None:
        """Start the clock of an analysis."""
        del name, module
        self._clock.start()

    def after_analysis(self, name: AnalysisName, module: ir.Operation) -> None:
        """Stop the clock of an analysis, whose time isn't one of the pass."""
        del module
        self.analyses.append((name, self._clock.stop()))

    def after_pass(self, step: Step, module: ir.Module) -> None:
        """Stop the clock."""
        del step
        self.seconds.append(self._clock.stop())
        self.is_idle.append(self._compares and self._before == asm(module))


def _run(text: str, context: Context, *, compares: bool) -> IdleTimes:
    module, times = parse(text, context), IdleTimes(compares=compares)
    gc.collect()
    for pipeline in PIPELINES:
        run_pipeline(
            module,
            pipeline,
            instrumentation=[times],
            verify_each=False,
            verify_analyses=False,
            restore_on_failure=False,
        )
    return times


def idle_milliseconds(runs: int) -> tuple[dict[str, float], dict[str, float]]:
    """Return the longest times of the passes that change nothing, and those of analyses.

    Args:
        runs: the number of runs, of which the least time counts.
    """
    text, context = chain(NUM_OPERATIONS, "{}, {}"), Context()
    compared = _run(text, context, compares=True)
    timed = [_run(text, context, compares=False) for _ in range(runs)]
    longest: dict[str, float] = {}
    uses = zip(*(each.seconds for each in timed), strict=True)
    for name, is_idle, seconds in zip(compared.names, compared.is_idle, uses, strict=True):
        if is_idle:
            longest[name] = max(longest.get(name, 0.0), 1e3 * min(seconds))
    of_analyses: dict[str, float] = {}
    for measured in zip(*(each.analyses for each in timed), strict=True):
        name = f"(A) {measured[0][0]}"
        least = 1e3 * min(seconds for _, seconds in measured)
        of_analyses[name] = max(of_analyses.get(name, 0.0), least)
    return longest, of_analyses


def _sorted(times: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(times.items(), key=lambda entry: -entry[1])


def rows(runs: int) -> list[list[object]]:
    """Return rows: the slowest of the passes, all others together, and the analyses."""
    of_passes, of_analyses = map(_sorted, idle_milliseconds(max(runs, 3)))
    shown, others = of_passes[:MOST_SHOWN], of_passes[MOST_SHOWN:]
    found: list[list[object]] = [
        [f"`{name}`", f"{spent:.2f}", READERS.get(name, "")] for name, spent in shown
    ]
    if others:
        found.append([f"{len(others)} others", f"{others[0][1]:.2f} at most", ""])
    found += [[f"`{name}`", f"{spent:.2f}", "once, for all passes"] for name, spent in of_analyses]
    return found


def main() -> None:
    print(f"{NUM_OPERATIONS:,} operations")
    for times in idle_milliseconds(7):
        for name, spent in _sorted(times):
            print(f"  {name:50} {spent:8.3f} ms  {READERS.get(name, '')}")


if __name__ == "__main__":
    main()
