# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The parts of the time of the pipelines, for a training step of equal layers.

    python bench/parts.py
    python bench/parts.py --layers 4 12 384

1. *Once for each form*: what doesn't grow with the number of layers. A straight line through the
   times of two small programs, which have all the forms, gives it. With the largest program instead
   it would come out too low, even below zero, since its operations no longer fit into the caches:
   each takes up to a fifth longer.
2. *Reading once*: the name, operands, types and sharding of each operation (`floor.py`).
3. *Writing once*: each sharding in propagation, and in partitioning each operation of the local
   program, made from a name, types, operands and attributes that are at hand. That is what a
   replay of a whole layer would have to do.
4. *Again for each operation*: the rest, which a replay of equal layers could save at most.

Times are of the processor, without verification, and the least of several runs. The programs take
turns, so that a slow phase of the machine is one of all of them.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from workload import program_text

from mlir_sdy.assembly import asm, parse
from mlir_sdy.dialect import Context
from mlir_sdy.host import identity, ir
from mlir_sdy.traversal import named_operations_in
from pyshardy.pipeline import run_pipeline

PIPELINES = ("propagation", "partitioning")
_NAMES = ("sdy-propagation-pipeline", "sdy-partition-pipeline")
LAYERS = (4, 12, 96)
SHARDING = "sdy.sharding"


@dataclass(frozen=True)
class Costs:
    """Seconds of a program.

    Attributes:
        num_operations: the number of its operations.
        pipelines: those of each pipeline.
        by_form: those that don't grow with the number of operations.
        reading: those of reading it once before each pipeline.
        writing: those of writing the results of each pipeline once.
    """

    num_operations: int
    pipelines: tuple[float, float]
    by_form: tuple[float, float]
    reading: tuple[float, float]
    writing: tuple[float, float]


def _seconds(action: Callable[[], object], runs: int = 1) -> float:
    least = float("inf")
    for _ in range(runs):
        gc.collect()
        start = time.process_time()
        action()
        least = min(least, time.process_time() - start)
    return least


def _read(module: ir.Module) -> None:
    for operation, _ in named_operations_in(module):
        for value in operation.operands:
            identity(value)
        for result in operation.results:
            identity(result.type)
        operation.attributes.get(SHARDING)


def _writing_of_shardings(module: ir.Module) -> float:
    operations = [operation for operation, _ in named_operations_in(module)]
    shardings = [(each, each.attributes.get(SHARDING)) for each in operations]
    present = [(each, sharding) for each, sharding in shardings if sharding is not None]

    def write() -> None:
        for operation, sharding in present:
            operation.attributes[SHARDING] = sharding

    return _seconds(write, 3)


def _making_of_operations(module: ir.Module) -> float:
    """Return the time in which the operations without regions are made again.

    All uses of a value refer to the original, so the copies are erased at the end.
    """
    main = module.body.operations[len(module.body.operations) - 1].operation
    plan = [
        (
            view.operation.name,
            [result.type for result in view.operation.results],
            list(view.operation.operands),
            dict(view.operation.attributes.items()),
        )
        for view in main.regions[0].blocks[0].operations
        if not len(view.operation.regions) and view.operation.name != "func.return"
    ]
    with module.context, main.location:
        holder = ir.Module.create()
        place = ir.InsertionPoint(holder.body)

        def make() -> None:
            for name, types, operands, attributes in plan:
                ir.Operation.create(
                    name, results=types, operands=operands, attributes=attributes, ip=place
                )

        spent = _seconds(make)
    for view in reversed(list(holder.body.operations)):
        view.operation.erase()
    return spent


@dataclass
class _Program:
    """A training step of a few layers, and the least seconds of each pipeline so far."""

    text: str
    context: Context
    num_operations: int
    least: tuple[float, float] = (float("inf"), float("inf"))

    @classmethod
    def of(cls, layers: int) -> _Program:
        context = Context()
        module = parse(program_text(None, layers), context)
        return cls(asm(module), context, len(named_operations_in(module)))

    def measure(self) -> None:
        """Run both pipelines."""
        module = parse(self.text, self.context)
        times = [_seconds(lambda each=each: _run(module, each)) for each in _NAMES]
        first, second = (min(pair) for pair in zip(self.least, times, strict=True))
        self.least = first, second


def seconds_by_form(num_operations: tuple[int, int], seconds: tuple[float, float]) -> float:
    """Return the part of the seconds of two programs that doesn't depend on their size."""
    (few, many), (low, high) = num_operations, seconds
    return low - (high - low) * few / (many - few)


def costs(layers: Sequence[int], runs: int) -> Costs:
    """Measure the largest of three training steps; the smaller ones tell what is done by form.

    Args:
        layers: the numbers of layers of each of them.
        runs: the number of runs of each, after one that fills the caches of the process.
    """
    programs = [_Program.of(each) for each in layers]
    for program in programs:
        program.measure()
        program.least = float("inf"), float("inf")
    for run in range(runs):
        for program in programs[:: 1 if run % 2 else -1]:
            program.measure()
    small, larger, largest = programs
    module = parse(largest.text, largest.context)
    at_first = _seconds(lambda: _read(module), 3)
    _run(module, _NAMES[0])
    reading = at_first, _seconds(lambda: _read(module), 3)
    shardings = _writing_of_shardings(module)
    _run(module, _NAMES[1])
    writing = shardings, _making_of_operations(module)
    counts = small.num_operations, larger.num_operations
    first, second = (
        seconds_by_form(counts, pair) for pair in zip(small.least, larger.least, strict=True)
    )
    return Costs(largest.num_operations, largest.least, (first, second), reading, writing)


def _run(module: ir.Module, pipeline: str) -> None:
    run_pipeline(module, pipeline, verify_each=False, restore_on_failure=False)


def rows(runs: int, layers: Sequence[int] = LAYERS) -> list[list[object]]:
    """Return rows: microseconds for each operation of the largest program, and their share."""
    found = costs(layers, max(3, runs))
    columns: list[list[str]] = []
    for time_, once, reading, writing in zip(
        found.pipelines, found.by_form, found.reading, found.writing, strict=True
    ):
        parts = [once, reading, writing, time_ - once - reading - writing, time_]
        columns.append(
            [f"{1e6 * part / found.num_operations:.1f} us, {part / time_:.0%}" for part in parts]
        )
    titles = (
        "once for each form",
        "reading once",
        "writing once",
        "again for each operation",
        f"{found.num_operations:,} operations",
    )
    return [[title, *cells] for title, *cells in zip(titles, *columns, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--layers", type=int, nargs=3, default=LAYERS, help="of three programs")
    parser.add_argument("--runs", type=int, default=7, help="more runs give steadier results")
    options = parser.parse_args()
    for title, *cells in rows(options.runs, options.layers):
        print(f"{title:28} " + "".join(f"{cell:>22}" for cell in cells))


if __name__ == "__main__":
    main()
