# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans of automatic sharding, compared with those of authors and with data parallelism.

    python bench/auto.py FILE.mlir ... [--hardware=h100] [--repeat=20] [--largest=BYTES]

Each program has the shardings of its author. It is partitioned

1. as its author annotated it;
2. by data parallelism alone: the first dimension of arguments whose first dimension the author
   shards along the first axis of the mesh is sharded along that axis, all else is replicated;
3. by automatic sharding without the annotations.

Prints, for each of the three, the estimated time, the bytes that a device sends, and the time of a
run by XLA on virtual CPU devices, the fastest of several; for the last one also the proven gap and
the seconds of the search. Programs of other numbers of devices than 8 aren't run. Needs the `jax`
extra.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import rich

import pyshardy as sdy
from mlir_sdy.host import ir
from mlir_sdy.model import TensorSharding
from mlir_sdy.symbols import meshes_of
from mlir_sdy.values import get_sharding
from pyshardy.cost.hardware import Hardware
from pyshardy.display import Table
from pyshardy.explain.estimate import estimate
from pyshardy.irtools.functions import entry_block, main_function
from pyshardy.irtools.named_values import name_of
from pyshardy.program import PartitionedProgram

DEVICES = 8
HEADINGS = ("program", "plan", "estimate", "bytes", "run", "gap", "search")


def arguments_of(module: ir.Module) -> list[ir.Value]:
    """Return the arguments of the entry of a program."""
    main = main_function(module)
    block = None if main is None else entry_block(main)
    return [] if block is None else list(block.arguments)


def data_parallel(module: ir.Module) -> dict[str, TensorSharding]:
    """Return the shardings of all arguments by data parallelism alone."""
    (name, mesh), *_ = meshes_of(module).items()
    axis = mesh.axis_names[0]
    found: dict[str, TensorSharding] = {}
    for number, argument in enumerate(arguments_of(module)):
        given = get_sharding(argument)
        rank = len(argument.type.shape)
        dims = ["{}"] * rank
        if given is not None and rank and any(ref.name == axis for ref in given.dim_axes[0]):
            dims[0] = f'{{"{axis}"}}'
        text = f"<@{name}, [{', '.join(dims)}]>"
        found[name_of(argument) or f"arg{number}"] = sdy.sharding(text)
    return found


def seconds_of(program: PartitionedProgram, repeat: int) -> float:
    """Return the time of the fastest of several runs; NaN for another number of devices."""
    if program.mesh.total_size != DEVICES:
        return math.nan
    draw = np.random.default_rng(0)
    inputs = [
        draw.standard_normal(port.spec.shape).astype(port.spec.dtype)
        if np.issubdtype(port.spec.dtype, np.floating)
        else np.zeros(port.spec.shape, port.spec.dtype)
        for port in program.inputs
    ]
    program.run(inputs, "xla")
    times: list[float] = []
    for _ in range(repeat):
        begun = time.perf_counter()
        program.run(inputs, "xla")
        times.append(time.perf_counter() - begun)
    return min(times)


def row(
    name: str, plan: str, program: PartitionedProgram, hardware: Hardware, repeat: int
) -> list[str]:
    """Return the estimate, the bytes and the run time of a program."""
    estimated = estimate(program, hardware)
    run = seconds_of(program, repeat)
    shown = "-" if math.isnan(run) else f"{run * 1e3:.2f} ms"
    return [name, plan, f"{estimated.seconds * 1e6:,.1f} us", f"{estimated.nbytes_sent:,}", shown]


def compare(path: Path, hardware: Hardware, repeat: int) -> list[tuple[str, ...]]:
    """Return the rows of one program."""
    name = path.stem
    given = sdy.parse(path)
    sdy.propagate(given)
    rows = [row(name, "author", sdy.partition(given, hardware=hardware), hardware, repeat)]
    source = sdy.parse(path)
    found = sdy.auto_shard(source, hardware=hardware, fixed=False)
    constraints = found.constraints
    for argument, own in data_parallel(source).items():
        constraints = constraints.fix(argument.replace("*", "?"), own)
    batch = constraints.solve()
    rows.append(row("", "data parallel", batch.program, hardware, repeat))
    own = row("", "automatic", found.program, hardware, repeat)
    rows.append([*own, f"{found.gap:.2%}", f"{found.seconds:.2f} s"])
    return [(*each, *[""] * (len(HEADINGS) - len(each))) for each in rows]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--hardware", default="h100")
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--largest", type=int, default=20_000, help="bytes of the largest file")
    options = parser.parse_args(arguments)
    hardware = sdy.load_hardware(options.hardware)
    rows: list[tuple[str, ...]] = []
    for path in options.files:
        if path.stat().st_size <= options.largest:
            try:
                rows += compare(path, hardware, options.repeat)
            except sdy.UsageError as reason:
                rows.append((path.stem, str(reason).splitlines()[0][:60], *[""] * 5))
    rich.print(Table("Plans of programs", HEADINGS, rows, num_rows=len(rows), num_numeric=5))


if __name__ == "__main__":
    main()
