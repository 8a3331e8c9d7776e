# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Execution times of the stages of a run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

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
