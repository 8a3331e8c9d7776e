# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time of the partitioner compared with XLA's, and its growth.

    python bench/partition.py                    # training steps of 24 and 96 layers
    python bench/partition.py --layers 24 384    # 384 layers are 100,000 operations
    python bench/partition.py --passes           # with the time of each pass
    python bench/partition.py program.mlir

Ours is `sdy-partition-pipeline` on the propagated program, without verification inside. It is
compared with the time of XLA's compiler for the same annotated program after propagation: the
export of Shardy, which is the end of `shardy-xla`, and `spmd-partitioning` (see `xla_compile`).
Times are the best of several interleaved runs. Needs the `jax` extra.

The last line is the same program on a mesh of 4,096 devices.
"""

from __future__ import annotations

import argparse
import gc
import re
import time
from pathlib import Path

from workload import program_text
from xla_compile import PartitioningTime, partitioning_time

from mlir_sdy.assembly import asm, parse
from mlir_sdy.dialect import Context
from mlir_sdy.host import ir
from pyshardy.pipeline import run_pipeline
from pyshardy.pipeline.instrumentation import Instrumentation
from pyshardy.pipeline.plan import Step


def propagated(text: str) -> str:
    """Return the propagated program."""
    module = parse(text, Context())
    run_pipeline(module, "sdy-propagation-pipeline", verify_each=False)
    return asm(module)


class PassTimes(Instrumentation):
    """The seconds that each pass takes, by its name."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._started = 0.0

    def before_pass(self, step: Step, module: ir.Module) -> None:
        """Start the clock."""
        del step, module
        self._started = time.perf_counter()

    def after_pass(self, step: Step, module: ir.Module) -> None:
        """Stop the clock."""
        del module
        spent = time.perf_counter() - self._started
        self.seconds[step.argument] = self.seconds.get(step.argument, 0) + spent


def our_seconds(text: str) -> tuple[int, dict[str, float]]:
    """Return the number of operations of a propagated program, and the seconds of each pass."""
    module = parse(text, Context())
    count = num_operations(module)
    gc.collect()
    times = PassTimes()
    run_pipeline(
        module,
        "sdy-partition-pipeline",
        instrumentation=[times],
        verify_each=False,
        restore_on_failure=False,
    )
    return count, times.seconds


def num_operations(module: ir.Module) -> int:
    """Return the number of operations of a module, including those in regions."""
    count = 0

    def visit(_: ir.Operation) -> ir.WalkResult:
        nonlocal count
        count += 1
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return count


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("program", nargs="?", type=Path)
    parser.add_argument("--layers", type=int, nargs="+", default=[24, 96])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--passes", action="store_true", help="show the time of each pass")
    arguments = parser.parse_args()
    texts = {f"{layers} layers": program_text(None, layers) for layers in sorted(arguments.layers)}
    if arguments.program is not None:
        texts = {arguments.program.stem: program_text(arguments.program)}
    titles = f"{'operations':>10} {'ours':>10} {'each':>9} {'export':>10} {'XLA':>10} {'ratio':>6}"
    print(f"{'':12} {titles}")
    for name, text in texts.items():
        show(name, text, arguments.runs, passes=arguments.passes, beside_xla=True)
    first = next(iter(texts.values()))
    many = re.sub(r'<\["data"=4, "model"=2\]>', '<["data"=4, "model"=2, "more"=512]>', first)
    many = re.sub(r"mhlo.num_partitions = 8", "mhlo.num_partitions = 4096", many)
    if many != first:
        show("4,096 devices", many, arguments.runs, passes=False, beside_xla=False)


def show(name: str, text: str, runs: int, *, passes: bool, beside_xla: bool) -> None:
    """Print a line for a program."""
    with_shardings = propagated(text)
    measured: list[tuple[int, dict[str, float]]] = []
    theirs: list[PartitioningTime] = []
    for _ in range(runs):
        measured.append(our_seconds(with_shardings))
        if beside_xla:
            theirs.append(partitioning_time(text, 8))
    count, best = min(measured, key=lambda one: sum(one[1].values()))
    ours = sum(best.values())
    line = f"{name:12} {count:10,} {ours * 1e3:7.0f} ms {ours / count * 1e6:6.1f} us"
    if beside_xla:
        export = min(one.export for one in theirs)
        partitioning = min(one.partitioning for one in theirs)
        line += f" {export * 1e3:7.0f} ms {partitioning * 1e3:7.0f} ms"
        line += f" {ours / (export + partitioning):6.2f}"
    print(line, flush=True)
    if passes:
        for argument, seconds in sorted(best.items(), key=lambda entry: -entry[1]):
            print(f"    {seconds * 1e3:8.1f} ms {seconds / count * 1e6:6.1f} us  {argument}")


if __name__ == "__main__":
    main()
