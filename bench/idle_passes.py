# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time of the passes that change nothing in a program of 5,000 operations.

    python bench/idle_passes.py

The program is a chain of products whose shardings are compatible, without calls, constants or
regions. A pass is measured inside of its pipeline, after the names of the operations have been
read, which passes keep while they insert nothing else (`pyshardy.irtools.operation_names`). The
time is the least of several runs.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Mapping
from types import MappingProxyType

from workload import chain

from mlir_sdy.assembly import asm, parse
from mlir_sdy.dialect import Context
from mlir_sdy.host import ir
from pyshardy.irtools.operation_names import operation_names
from pyshardy.pipeline import Instrumentation, run_pipeline
from pyshardy.pipeline.plan import Step

PIPELINES = ("sdy-propagation-pipeline", "sdy-partition-pipeline")
NUM_OPERATIONS = 5_000
MOST_SHOWN = 8

READERS: Mapping[str, str] = MappingProxyType(
    {
        "canonicalize": "C++ visits all operations",
        "sdy-convert-global-to-local": "changes all types",
        "sdy-insert-explicit-reshards": "compares the shardings of the tensors of all operations",
        "sdy-lift-inlined-meshes": "reads all shardings, as the first of a pipeline",
    }
)
"""The passes that look at all operations, and why."""


class IdleTimes(Instrumentation):
    """The seconds of each use of a pass, and whether the program is the same after it."""

    def __init__(self, *, compares: bool):
        self.seconds: list[float] = []
        self.names: list[str] = []
        self.is_idle: list[bool] = []
        self._compares = compares
        self._before = ""
        self._started = 0.0

    def before_pass(self, step: Step, module: ir.Module) -> None:
        """Read the names of operations, and start the clock."""
        self.names.append(step.argument)
        self._before = asm(module) if self._compares else ""
        operation_names(module.operation)
        self._started = time.process_time()

    def after_pass(self, step: Step, module: ir.Module) -> None:
        """Stop the clock."""
        del step
        self.seconds.append(time.process_time() - self._started)
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


def idle_milliseconds(runs: int) -> dict[str, float]:
    """Return the longest time of each pass that changes nothing, of several uses of it."""
    text, context = chain(NUM_OPERATIONS, "{}, {}"), Context()
    compared = _run(text, context, compares=True)
    times = zip(*(_run(text, context, compares=False).seconds for _ in range(runs)), strict=True)
    longest: dict[str, float] = {}
    for name, is_idle, seconds in zip(compared.names, compared.is_idle, times, strict=True):
        if is_idle:
            longest[name] = max(longest.get(name, 0.0), 1e3 * min(seconds))
    return longest


def rows(runs: int) -> list[list[object]]:
    """Return rows: the slowest of the passes, and all others together."""
    times = sorted(idle_milliseconds(max(runs, 3)).items(), key=lambda entry: -entry[1])
    shown, others = times[:MOST_SHOWN], times[MOST_SHOWN:]
    found: list[list[object]] = [
        [f"`{name}`", f"{spent:.2f}", READERS.get(name, "")] for name, spent in shown
    ]
    if others:
        found.append([f"{len(others)} others", f"{others[0][1]:.2f} at most", ""])
    return found


def main() -> None:
    print(f"{NUM_OPERATIONS:,} operations")
    for name, spent in sorted(idle_milliseconds(7).items(), key=lambda entry: -entry[1]):
        print(f"  {name:50} {spent:8.3f} ms  {READERS.get(name, '')}")


if __name__ == "__main__":
    main()
