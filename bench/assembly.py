# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cost of custom syntax in parsing and printing, relative to C++ Shardy in jaxlib.

    python bench/assembly.py                # a 24-layer training step, unrolled
    python bench/assembly.py train.mlir

Parsing rewrites the text, runs MLIR's parser, and verifies; printing runs MLIR's printer and
rewrites its output. The time of our parts is compared with the complete time of C++ Shardy in
jaxlib to parse, or print, the same text in the same run. The program is measured as printed by JAX,
and after propagation by C++ Shardy, when every operation has a sharding. Prints medians and ratios;
the target is a ratio of at most 2. Needs the `jax` extra.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from workload import program_text

from mlir_sdy.assembly import asm, parse
from mlir_sdy.assembly.reader import Reader
from mlir_sdy.assembly.source import SourceText
from mlir_sdy.assembly.writer import Writer
from mlir_sdy.attributes import AttributeCache
from mlir_sdy.dialect import Context
from mlir_sdy.verify import verify_shardings

# The bindings of jaxlib and of the host can't be used in one process.
PEER = """
import json, statistics, sys, time
from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import sdy
from jaxlib.mlir.passmanager import PassManager
def median(runs, run):
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)
text, runs = sys.stdin.read(), int(sys.argv[1])
with jax_mlir.make_ir_context(), ir.Location.unknown():
    module = ir.Module.parse(text)
    if sys.argv[2]:
        PassManager.parse(sys.argv[2]).run(module.operation)
        text = str(module)
    print(json.dumps({
        "text": text,
        "parse": median(runs, lambda: ir.Module.parse(text)),
        "print": median(runs, lambda: str(module)),
    }))
"""
PROPAGATE = "builtin.module(sdy-propagation-pipeline)"


def peer(text: str, runs: int, pipeline: str) -> dict[str, float | str]:
    """Return the text after `pipeline`, and the times of C++ Shardy to parse and print it."""
    command = [sys.executable, "-c", PEER, str(runs), pipeline]
    result = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return json.loads(result.stdout.splitlines()[-1])


def median_seconds(runs: int, run: Callable[[], object]) -> float:
    times: list[float] = []
    for _ in range(runs):
        gc.collect()
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def own(text: str, runs: int) -> dict[str, float]:
    """Return the times of our parts of parsing and of printing, and the complete times."""
    context = Context()
    module = parse(text, context)
    printed = module.operation.get_asm()
    return {
        "reader": median_seconds(
            runs, lambda: Reader(SourceText(text, "-"), AttributeCache(context)).rewrite().text()
        ),
        "verifier": median_seconds(runs, lambda: verify_shardings(module)),
        "writer": median_seconds(runs, lambda: Writer(context).rewrite(printed)),
        "parse": median_seconds(runs, lambda: parse(text, context)),
        "asm": median_seconds(runs, lambda: asm(module)),
    }


def report(title: str, text: str, runs: int, pipeline: str = "") -> None:
    theirs = peer(text, runs, pipeline)
    text = str(theirs["text"])
    ours = own(text, runs)
    parse_time, print_time = float(theirs["parse"]), float(theirs["print"])
    reading = ours["reader"] + ours["verifier"]
    print(f"{title}: {text.count(chr(10))} lines, {len(text) / 1e6:.2f} MB, medians of {runs}")
    for name, seconds, reference in (
        ("reader", ours["reader"], None),
        ("verifier", ours["verifier"], None),
        ("our share of parse", reading, parse_time),
        ("our share of asm", ours["writer"], print_time),
        ("parse, as a whole", ours["parse"], parse_time),
        ("asm, as a whole", ours["asm"], print_time),
    ):
        ratio = "" if reference is None else f"{seconds / reference:8.2f} x of jaxlib's"
        suffix = "" if reference is None else f" {1e3 * reference:6.1f} ms"
        print(f"  {name:20} {1e3 * seconds:8.1f} ms {ratio}{suffix}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("program", nargs="?", type=Path, help="an MLIR file; made if not given")
    parser.add_argument("--runs", type=int, default=7)
    arguments = parser.parse_args()
    text = program_text(arguments.program)
    report("as JAX prints it", text, arguments.runs)
    report("after propagation", text, arguments.runs, PROPAGATE)


if __name__ == "__main__":
    main()
