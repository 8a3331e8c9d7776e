# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time of basic propagation beside that of C++ Shardy on the same program, in one run.

    python bench/propagation.py             # a 24-layer training step, unrolled
    python bench/propagation.py train.mlir

Both read the program once; what is timed is the pass on a fresh module: rules, propagation and
writing the attributes. Prints the best of several runs and their ratio (below 1: ours is faster).
Needs the `jax` extra for C++ Shardy.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

from workload import program_text

from mlir_sdy.assembly import asm, parse
from mlir_sdy.dialect import Context
from pyshardy.propagation.engine import Engine
from pyshardy.propagation.passes import basic_propagate
from pyshardy.propagation.program import Program
from pyshardy.propagation.relations import RelationReader
from pyshardy.rules import ShardingRuleLookup

# The bindings in jaxlib and the host's can't live in one process.
PEER = """
import sys, time
from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import sdy
from jaxlib.mlir.passmanager import PassManager
text, best = sys.stdin.read(), float("inf")
with jax_mlir.make_ir_context(), ir.Location.unknown():
    for _ in range(int(sys.argv[1])):
        module = ir.Module.parse(text)
        pass_manager = PassManager.parse("builtin.module(sdy-basic-propagate)")
        start = time.perf_counter()
        pass_manager.run(module.operation)
        best = min(best, time.perf_counter() - start)
print(best)
"""


def peer_seconds(text: str, runs: int) -> float:
    command = [sys.executable, "-c", PEER, str(runs)]
    result = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return float(result.stdout)


def own_seconds(text: str, context: Context, runs: int) -> float:
    best = float("inf")
    for _ in range(runs):
        module = parse(text, context)
        start = time.perf_counter()
        basic_propagate(module)
        best = min(best, time.perf_counter() - start)
    return best


def print_phases(text: str, context: Context) -> None:
    module = parse(text, context)
    times = [time.perf_counter()]
    lookup = ShardingRuleLookup()
    program = Program(module, lookup)
    times.append(time.perf_counter())
    reader = RelationReader(program, lookup)
    relations = reader.read()
    times.append(time.perf_counter())
    Engine(program, relations, reader.function_results())
    times.append(time.perf_counter())
    names = ("reading the IR", "rules", "use lists")
    for name, start, end in zip(names, times, times[1:], strict=False):
        print(f"  of which {name:15} {1e3 * (end - start):7.1f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("program", nargs="?", type=Path, help="an MLIR file; made if not given")
    parser.add_argument("--runs", type=int, default=5, help="the best of so many runs counts")
    options = parser.parse_args()
    context = Context()
    text = asm(parse(program_text(options.program), context))
    own = own_seconds(text, context, options.runs)
    peer = peer_seconds(text, options.runs)
    print(f"{len(text.splitlines())} lines")
    print(f"pyshardy             {1e3 * own:7.1f} ms")
    print_phases(text, context)
    print(f"C++ Shardy           {1e3 * peer:7.1f} ms")
    print(f"ratio                {own / peer:7.2f}")


if __name__ == "__main__":
    main()
