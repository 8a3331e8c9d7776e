# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time and memory of the propagation pipeline compared with C++ Shardy, in one run.

    python bench/propagation.py                     # training steps of 24 and 96 layers, unrolled
    python bench/propagation.py --layers 24 96 384  # 384 layers are 100,000 operations
    python bench/propagation.py program.mlir

Both sides parse the program before the measurement, and run `sdy-propagation-pipeline` on a fresh
module, in turn. Each is timed in its default mode: C++ Shardy's pass manager verifies after every
pass, our runner once after a named pipeline, and it copies the module before in case a pass fails.
The second line is without verification on both sides, and without the copy.

Prints the best of several runs, ratios (below 1: ours is faster), the time per operation, which
shows the growth, and the peak memory of the process without that of the module. Needs the `jax`
extra for C++ Shardy.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from workload import program_text

from mlir_sdy.assembly import asm, parse
from mlir_sdy.dialect import Context
from mlir_sdy.host import ir
from pyshardy.pipeline import run_pipeline

PIPELINE = "sdy-propagation-pipeline"

# The bindings of jaxlib and of the host can't be used in one process.
PEER = """
import json, sys, time
from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import sdy
from jaxlib.mlir.passmanager import PassManager
text = open(sys.argv[1]).read()
with jax_mlir.make_ir_context(), ir.Location.unknown():
    for line in sys.stdin:
        module = ir.Module.parse(text)
        pass_manager = PassManager.parse(f"builtin.module({sys.argv[2]})")
        pass_manager.enable_verifier(json.loads(line))
        start = time.perf_counter()
        pass_manager.run(module.operation)
        print(time.perf_counter() - start, flush=True)
"""


class Peer:
    """C++ Shardy in a separate process, with a program to run on."""

    def __init__(self, program: Path):
        self._process = subprocess.Popen(
            [sys.executable, "-c", PEER, program, PIPELINE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def seconds(self, *, verify: bool) -> float:
        """Return the time of the pipeline on a fresh module."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(verify) + "\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def own_seconds(text: str, context: Context, *, verify: bool) -> float:
    module = parse(text, context)
    gc.collect()
    start = time.perf_counter()
    run_pipeline(module, PIPELINE, verify_each=verify, restore_on_failure=verify)
    return time.perf_counter() - start


def peak_kilobytes(program: Path) -> int:
    """Return the peak memory of the pipeline without that of the module, in a fresh process."""
    command = [sys.executable, __file__, program, "--memory-only"]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def _print_peak(program: Path) -> None:
    # Libraries that the first run loads do not count.
    run_pipeline(parse("func.func @main() {\n  return\n}", Context()), PIPELINE)
    module = parse(program.read_text(), Context())
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # Release the memory of parsing.
    Path("/proc/self/clear_refs").write_text("5")  # Reset the peak.
    before = _status("VmRSS")
    run_pipeline(module, PIPELINE, verify_each=False, restore_on_failure=False)
    print(_status("VmHWM") - before)


def _status(entry: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{entry}:"))


def num_operations(text: str, context: Context) -> int:
    count = 0

    def visit(_: ir.Operation) -> ir.WalkResult:
        nonlocal count
        count += 1
        return ir.WalkResult.ADVANCE

    parse(text, context).operation.walk(visit)
    return count


@dataclass(frozen=True)
class Times:
    """The seconds of both sides."""

    own: float
    peer: float

    def line(self, what: str, count: int) -> str:
        """Return the line to print for a program with a number of operations."""
        return (
            f"  {what:24} pyshardy {1e3 * self.own:8.1f} ms ({1e6 * self.own / count:5.1f} us/op)"
            f"   C++ Shardy {1e3 * self.peer:8.1f} ms ({1e6 * self.peer / count:5.1f} us/op)"
            f"   ratio {self.own / self.peer:5.2f}"
        )


def measure(text: str, folder: Path, runs: int) -> None:
    context = Context()
    text = asm(parse(text, context))
    count = num_operations(text, context)
    program = folder / "program.mlir"
    program.write_text(text)
    peer = Peer(program)
    print(f"{count:,} operations")
    for what, verify in (("as users run it", True), ("without verification", False)):
        times = [
            (own_seconds(text, context, verify=verify), peer.seconds(verify=verify))
            for _ in range(runs)
        ]
        best = Times(min(own for own, _ in times), min(other for _, other in times))
        print(best.line(what, count), flush=True)
    peer.close()
    print(
        f"  peak memory beyond the module: {1024 * peak_kilobytes(program) / count:,.0f} bytes/op"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("program", nargs="?", type=Path, help="an MLIR file; made if not given")
    parser.add_argument("--layers", type=int, nargs="+", default=[24, 96], help="of what is made")
    parser.add_argument("--runs", type=int, default=5, help="the best of so many runs counts")
    parser.add_argument("--memory-only", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.memory_only:
        _print_peak(options.program)
        return

    with tempfile.TemporaryDirectory() as folder:
        if options.program is not None:
            measure(options.program.read_text(), Path(folder), options.runs)
            return
        for layers in options.layers:
            print(f"{layers} layers: ", end="")
            measure(program_text(None, layers), Path(folder), options.runs)


if __name__ == "__main__":
    main()
