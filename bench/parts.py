# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The parts of the time of the pipelines, for a training step of equal layers.

    python bench/parts.py
    python bench/parts.py --layers 24 384

1. *Once for each form*: what doesn't grow with the number of layers.
2. *Reading once*: the name, operands, types and sharding of each operation (`floor.py`).
3. *Writing once*: each sharding in propagation, and in partitioning each operation of the local
   program, made from a name, types, operands and attributes that are at hand. That is what a
   replay of a whole layer would have to do.
4. *Again for each operation*: the rest, which a replay of equal layers could save at most.

Times are of the processor, without verification, and the least of several runs.
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
LAYERS = (24, 96)
SHARDING = "sdy.sharding"


@dataclass(frozen=True)
class Costs:
    """Seconds of a program.

    Attributes:
        num_operations: the number of its operations.
        pipelines: those of each pipeline.
        reading: those of reading it once before each pipeline.
        writing: those of writing the results of each pipeline once.
    """

    num_operations: int
    pipelines: tuple[float, float]
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


def costs(layers: int, runs: int) -> Costs:
    """Measure a training step of some layers."""
    context = Context()
    text = asm(parse(program_text(None, layers), context))
    taken: list[tuple[float, float]] = []
    reading, writing = (0.0, 0.0), (0.0, 0.0)
    num_operations = 0
    for run in range(runs + 1):
        module = parse(text, context)
        num_operations = len(named_operations_in(module))
        at_first = _seconds(lambda module=module: _read(module), 3) if not run else 0
        propagation = _seconds(lambda module=module: _run(module, "sdy-propagation-pipeline"))
        if not run:
            reading = at_first, _seconds(lambda module=module: _read(module), 3)
            shardings = _writing_of_shardings(module)
        partitioning = _seconds(lambda module=module: _run(module, "sdy-partition-pipeline"))
        if not run:
            writing = shardings, _making_of_operations(module)
        else:
            taken.append((propagation, partitioning))
    first, second = (min(each) for each in zip(*taken, strict=True))
    return Costs(num_operations, (first, second), reading, writing)


def _run(module: ir.Module, pipeline: str) -> None:
    run_pipeline(module, pipeline, verify_each=False, restore_on_failure=False)


def rows(runs: int, layers: Sequence[int] = LAYERS) -> list[list[object]]:
    """Return rows: microseconds for each operation of the larger program, and their share."""
    small, large = (costs(each, max(2, runs // 2)) for each in layers)
    columns: list[list[str]] = []
    for small_time, time_, reading, writing in zip(
        small.pipelines, large.pipelines, large.reading, large.writing, strict=True
    ):
        slope = (time_ - small_time) / (large.num_operations - small.num_operations)
        by_form = max(0.0, time_ - slope * large.num_operations)
        parts = [by_form, reading, writing, time_ - by_form - reading - writing, time_]
        columns.append(
            [f"{1e6 * part / large.num_operations:.1f} us, {part / time_:.0%}" for part in parts]
        )
    titles = (
        "once for each form",
        "reading once",
        "writing once",
        "again for each operation",
        f"{large.num_operations:,} operations",
    )
    return [[title, *cells] for title, *cells in zip(titles, *columns, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--layers", type=int, nargs=2, default=LAYERS, help="of two programs")
    parser.add_argument("--runs", type=int, default=7, help="more runs give steadier results")
    options = parser.parse_args()
    for title, *cells in rows(options.runs, options.layers):
        print(f"{title:28} " + "".join(f"{cell:>22}" for cell in cells))


if __name__ == "__main__":
    main()
