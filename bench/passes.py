# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time of each pass of the propagation pipeline compared with C++ Shardy, and its growth.

    python bench/passes.py                  # training steps of 24 and 192 layers, unrolled
    python bench/passes.py --layers 24 96

Both sides run the pipeline pass by pass on separate modules, without verification. The time of a
pass is the best of several runs. Prints for the smaller program the time of both and their
ratio (below 1: ours is faster), and in the last column the time per operation in the larger
program over that in the smaller one: 1.0 is linear growth. Needs the `jax` extra for C++ Shardy.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
import time
from collections.abc import Sequence

from workload import program_text

from mlir_sdy.assembly import asm, parse
from mlir_sdy.dialect import Context
from mlir_sdy.host import ir
from pyshardy.pipeline import Instrumentation, run_pipeline
from pyshardy.pipeline.plan import Step, plan_pipeline

PIPELINE = "sdy-propagation-pipeline"

# The bindings of jaxlib and of the host can't be used in one process.
PEER = """
import json, sys, time
from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import sdy
from jaxlib.mlir.passmanager import PassManager

def seconds(step, module):
    try:
        pass_manager = PassManager.parse(step)
    except ValueError:
        return None  # a pass that this release doesn't have
    pass_manager.enable_verifier(False)
    start = time.perf_counter()
    pass_manager.run(module.operation)
    return time.perf_counter() - start

request = json.load(sys.stdin)
with jax_mlir.make_ir_context(), ir.Location.unknown():
    for _ in range(request["runs"]):
        module = ir.Module.parse(request["text"])
        print(json.dumps([seconds(step, module) for step in request["steps"]]), flush=True)
"""


class Clock(Instrumentation):
    """Measures the time of each pass."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self._start = 0.0

    def before_pass(self, step: Step, module: ir.Module) -> None:
        """Start the clock."""
        del step, module
        self._start = time.perf_counter()

    def after_pass(self, step: Step, module: ir.Module) -> None:
        """Stop the clock."""
        del step, module
        self.seconds.append(time.perf_counter() - self._start)


def own_seconds(text: str, context: Context, runs: int) -> list[float]:
    """Return the best time of each pass."""
    times: list[list[float]] = []
    for _ in range(runs):
        module = parse(text, context)
        gc.collect()
        clock = Clock()
        run_pipeline(
            module,
            PIPELINE,
            instrumentation=[clock],
            verify_each=False,
            restore_on_failure=False,
        )
        times.append(clock.seconds)
    return [min(each) for each in zip(*times, strict=True)]


def peer_seconds(text: str, steps: Sequence[Step], runs: int) -> list[float | None]:
    """Return the best time of each pass; None for passes that C++ Shardy doesn't have."""
    request = {"text": text, "steps": [str(step.pipeline) for step in steps], "runs": runs}
    command = [sys.executable, "-c", PEER]
    result = subprocess.run(
        command, input=json.dumps(request), capture_output=True, text=True, check=True
    )
    times = map(json.loads, result.stdout.splitlines())
    return [None if None in each else min(each) for each in zip(*times, strict=True)]


def num_operations(text: str, context: Context) -> int:
    count = 0

    def visit(_: ir.Operation) -> ir.WalkResult:
        nonlocal count
        count += 1
        return ir.WalkResult.ADVANCE

    parse(text, context).operation.walk(visit)
    return count


def print_row(name: str, own: float, peer: float | None, growth: float) -> None:
    theirs, ratio = ("-", "-") if peer is None else (f"{1e3 * peer:.1f} ms", f"{own / peer:.2f}")
    print(f"{name:48} {1e3 * own:8.1f} ms {theirs:>11} {ratio:>7} {growth:7.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--layers", type=int, nargs=2, default=[24, 192], help="of the programs")
    parser.add_argument("--runs", type=int, default=5, help="the best of so many runs counts")
    options = parser.parse_args()
    context = Context()
    steps = plan_pipeline(PIPELINE)
    small, large = (asm(parse(program_text(None, each), context)) for each in options.layers)
    counts = [num_operations(text, context) for text in (small, large)]
    own, grown = (own_seconds(text, context, options.runs) for text in (small, large))
    peer = peer_seconds(small, steps, options.runs)
    print(f"{counts[0]:,} operations; growth: of the time per operation up to {counts[1]:,}")
    print(f"{'':48} {'pyshardy':>11} {'C++ Shardy':>11} {'ratio':>7} {'growth':>7}")

    def growth(before: float, after: float) -> float:
        return (after / counts[1]) / (before / counts[0])

    for step, ours, theirs, later in zip(steps, own, peer, grown, strict=True):
        print_row(step.argument, ours, theirs, growth(ours, later))
    known = sum(each for each in peer if each is not None)
    print_row("all", sum(own), known, growth(sum(own), sum(grown)))


if __name__ == "__main__":
    main()
