# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time of the partitioner beside that of XLA's, and how it grows.

    python bench/partition.py                    # training steps of 24 and 96 layers
    python bench/partition.py --layers 24 384    # 384 layers are 100,000 operations
    python bench/partition.py --passes           # with the time of each pass
    python bench/partition.py program.mlir

Ours is `sdy-partition-pipeline` on the propagated program, without verification inside. Beside it
stands what XLA's own log says that its pass `spmd-partitioning` took when it compiled the same
annotated program, and what C++ Shardy takes for its `sdy-export-pipeline` by itself: the first
ratio is that of ours to both. XLA runs the latter inside of `shardy-xla`, which also converts to
and from HLO. "In XLA" is what its log says of that, less what importing and propagating take by
themselves, and the second ratio is with this instead. Of each time the best of several runs is
taken, all in turn. Needs the `jax` extra.

A last line is the same program on a mesh of 4,096 devices.
"""

from __future__ import annotations

import argparse
import gc
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from workload import program_text

from mlir_sdy.assembly import asm, parse
from mlir_sdy.dialect import Context
from mlir_sdy.host import ir
from pyshardy.pipeline import run_pipeline
from pyshardy.pipeline.plan import plan_pipeline

COMPILE = """
import sys
import jax, numpy as np
from jax._src.lib import _jax
devices = jax.devices()
options = _jax.CompileOptions()
for part in (options, options.executable_build_options):
    part.num_replicas, part.num_partitions = 1, len(devices)
    assignment = np.arange(len(devices)).reshape(1, len(devices))
    part.device_assignment = _jax.DeviceAssignment.create(assignment)
options.executable_build_options.use_spmd_partitioning = True
options.executable_build_options.use_shardy_partitioner = True
text = open(sys.argv[1]).read()
devices[0].client.compile_and_load(text, _jax.DeviceList(tuple(devices)), options)
"""
EXPORT = """
import sys, time
from jax._src.interpreters.mlir import make_ir_context
from jaxlib.mlir import ir
from jaxlib.mlir.passmanager import PassManager
text = open(sys.argv[1]).read()
with make_ir_context():
    module = ir.Module.parse(text)
    for pipeline in ("sdy-import-pipeline", "sdy-user-priority-propagate", "sdy-export-pipeline"):
        passes = PassManager.parse(f"builtin.module({pipeline})")
        passes.enable_verifier(False)
        start = time.perf_counter()
        passes.run(module.operation)
        print(time.perf_counter() - start)
"""
PASS_TIME = re.compile(r"HLO pass: ([\w-]+) time: .* \((\d+) us\)")


def their_seconds(text: str, num_devices: int) -> dict[str, float]:
    """How long the passes of XLA took that have to do with sharding, and the export of Shardy."""
    flags = f"--xla_force_host_platform_device_count={num_devices}"
    logging = {"TF_CPP_MIN_LOG_LEVEL": "0", "TF_CPP_VMODULE": "hlo_pass_pipeline=1"}
    environment = {**os.environ, **logging, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags}
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(text)
        file.flush()
        compiling, exporting = (
            subprocess.run(
                [sys.executable, "-c", script, file.name],
                env=environment,
                capture_output=True,
                text=True,
                check=True,
            )
            for script in (COMPILE, EXPORT)
        )
    seconds = {name: int(spent) / 1e6 for name, spent in PASS_TIME.findall(compiling.stderr)}
    *before, export = map(float, exporting.stdout.split())
    return {**seconds, "before": sum(before), "export": export}


def propagated(text: str) -> str:
    """The program with its shardings."""
    module = parse(text, Context())
    run_pipeline(module, "sdy-propagation-pipeline", verify_each=False)
    return asm(module)


def our_seconds(text: str) -> tuple[int, dict[str, float]]:
    """The number of operations of a propagated program, and the seconds of each pass."""
    module = parse(text, Context())
    count = num_operations(module)
    gc.collect()
    gc.disable()
    seconds: dict[str, float] = {}
    for step in plan_pipeline("sdy-partition-pipeline"):
        start = time.perf_counter()
        run_pipeline(module, step.pipeline, verify_each=False, restore_on_failure=False)
        name = step.argument
        seconds[name] = seconds.get(name, 0) + time.perf_counter() - start
    gc.enable()
    return count, seconds


def num_operations(module: ir.Module) -> int:
    """All operations of a module, those in regions included."""
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
    print(
        f"{'':12} {'operations':>10} {'ours':>10} {'each':>9} {'XLA':>10} {'export':>10}"
        f" {'ratio':>6} {'in XLA':>10} {'ratio':>6}"
    )
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
    theirs: list[dict[str, float]] = []
    for _ in range(runs):
        measured.append(our_seconds(with_shardings))
        if beside_xla:
            theirs.append(their_seconds(text, 8))
    count, best = min(measured, key=lambda one: sum(one[1].values()))
    ours = sum(best.values())
    line = f"{name:12} {count:10,} {ours * 1e3:7.0f} ms {ours / count * 1e6:6.1f} us"
    if beside_xla:
        names = "spmd-partitioning", "export", "before", "shardy-xla"
        partitioning, export, before, shardy = (min(one[name] for one in theirs) for name in names)
        line += f" {partitioning * 1e3:7.0f} ms {export * 1e3:7.0f} ms"
        line += f" {ours / (partitioning + export):6.2f} {(shardy - before) * 1e3:7.0f} ms"
        line += f" {ours / (partitioning + shardy - before):6.2f}"
    print(line, flush=True)
    if passes:
        for argument, seconds in sorted(best.items(), key=lambda entry: -entry[1]):
            print(f"    {seconds * 1e3:8.1f} ms {seconds / count * 1e6:6.1f} us  {argument}")


main()
