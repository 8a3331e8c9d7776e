# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The time and the memory of automatic sharding for deep decoders and for large meshes.

    python bench/auto_scale.py [CASE ...] [--hardware=h100] [--what-if]

The program is the training step of `examples/llama_8b.py`, with all layers unrolled, AdamW,
rematerialization, and without annotations. Prints for each case the seconds of the search (those of
the processor and those of the clock), the proven gap, and the largest memory of the process,
tracing and JAX included. With `--what-if`, also the seconds in which questions about the plan are
answered: each fixes or forbids the sharding of a weight, and solves the problem again. Each case
has a process of its own. Needs the extras `jax` and `auto`.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))

import jax
import llama_8b

import pyshardy as sdy
from pyshardy.auto.strategies.costs import HardwareCosts, PricedBytes


@dataclass(frozen=True)
class Case:
    """A search.

    Attributes:
        layers: the number of layers.
        mesh: the axes of the mesh with their sizes.
        memory: the memory of a device.
        byte_price: the seconds that a sent byte costs on top of its time.
    """

    layers: int
    mesh: dict[str, int]
    memory: str | None = None
    byte_price: float = 0.0


CASES = {
    "32-layers": Case(32, {"data": 4, "model": 8}),
    "96-layers": Case(96, {"data": 4, "model": 8}),
    "three-axes": Case(32, {"replica": 2, "data": 4, "model": 4}),
    "llama-8b": Case(32, {"data": 32, "model": 8}, "80GB", llama_8b.BYTE_PRICE),
}


Question = Callable[[sdy.ShardingPlan], float]
"""Solves a problem again with a restriction, and returns the cost beyond that of the plan."""

UP, QUERY = "params['layers'][0]['up']", "params['layers'][0]['wq']"
QUESTIONS: Mapping[str, Question] = {
    f"fix {UP}": lambda plan: plan.fix(UP, ("data", None)).solve().cost - plan.cost,
    f"forbid {UP}": lambda plan: plan.forbid(UP, plan.shardings[UP]).solve().cost - plan.cost,
    f"explain {QUERY}": lambda plan: plan.explain(QUERY).difference,
    "explain params['head']": lambda plan: plan.explain("params['head']").difference,
    "fix params['embedding']": lambda plan: (
        plan.fix("params['embedding']", (None, "model")).solve().cost - plan.cost
    ),
}
"""Questions about a plan. Folded layers have equal shardings, so each is about all layers."""


def ask(plan: sdy.ShardingPlan) -> None:
    """Ask the questions about a plan, and print the seconds of each answer."""
    for text, question in QUESTIONS.items():
        clock, processor = time.perf_counter(), time.process_time()
        more = question(plan)
        clock, processor = time.perf_counter() - clock, time.process_time() - processor
        print(f"  {text:<34}{processor:>6.2f}{clock:>9.2f}{more * 1e3:>+12.3f} ms", flush=True)


def measure(name: str, hardware: str, *, what_if: bool) -> None:
    """Search the plan of a case, and print its row."""
    case = CASES[name]
    types = (jax.sharding.AxisType.Auto,) * len(case.mesh)
    mesh = jax.sharding.AbstractMesh((*case.mesh.values(),), (*case.mesh,), axis_types=types)
    module = llama_8b.trace(case.layers, annotated=False, mesh=mesh)
    costs = PricedBytes(HardwareCosts(sdy.load_hardware(hardware)), case.byte_price)
    clock, processor = time.perf_counter(), time.process_time()
    plan = sdy.auto_shard(module, hardware=hardware, memory=case.memory, costs=costs)
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    shape = "x".join(str(size) for size in case.mesh.values())
    print(
        f"{name:<12}{case.layers:>8}{shape:>8}{processor:>11.1f}{clock:>9.1f}"
        f"{plan.gap:>8.2%}{largest:>9.2f}",
        flush=True,
    )
    if what_if:
        ask(plan)


def main() -> None:
    """Measure the given cases, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--hardware", default="h100", help="preset or TOML file (default: h100)")
    parser.add_argument("--what-if", action="store_true", help="also time questions about plans")
    options = parser.parse_args()
    for name in options.cases:
        if name not in CASES:
            parser.error(f"unknown case '{name}': expected {', '.join(CASES)}")
    if len(options.cases) == 1:
        measure(options.cases[0], options.hardware, what_if=options.what_if)
        return
    print("case          layers    mesh  processor    clock     gap       GB", flush=True)
    for name in options.cases or CASES:
        command = [sys.executable, __file__, name, f"--hardware={options.hardware}"]
        command += ["--what-if"] * options.what_if
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
