# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans of automatic sharding, compared with those of authors and with data parallelism.

    python bench/auto.py FILE.mlir ... [--hardware=cpu] [--repeat=20] [-o PAGE.md]

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
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyshardy as sdy
from mlir_sdy.host import ir
from mlir_sdy.model import TensorSharding
from mlir_sdy.symbols import meshes_of
from mlir_sdy.values import get_sharding
from pyshardy.backends.arrays.random_inputs import random_inputs
from pyshardy.backends.xla.program import local_xla_program
from pyshardy.cost.hardware import Hardware
from pyshardy.explain.estimate import estimate
from pyshardy.irtools.functions import entry_block, main_function
from pyshardy.irtools.named_values import name_of
from pyshardy.local_program.process_groups import Layout
from pyshardy.program import PartitionedProgram

DEVICES = 8
RUNS_IN_TURN = 5
HEADINGS = (
    *(f"{what} {plan}" for what in ("time", "bytes", "run") for plan in "ads"),
    "gap",
    "search",
)


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


def seconds_of(programs: Sequence[PartitionedProgram], repeat: int) -> list[float]:
    """Return the time of the fastest run of each program; NaN for another number of devices.

    The programs take turns, so that the load of the machine is the same for all.
    """
    if any(program.mesh.total_size != DEVICES for program in programs):
        return [math.nan] * len(programs)
    layout = Layout(1, DEVICES)
    compiled = [
        (
            local_xla_program(program.module, layout),
            program.scatter(random_inputs([port.spec for port in program.inputs], seed=0)),
        )
        for program in programs
    ]
    rounds = [
        [program.seconds(inputs, RUNS_IN_TURN) for program, inputs in compiled]
        for _ in range(max(1, repeat // RUNS_IN_TURN))
    ]
    return [min(times) for times in zip(*rounds, strict=True)]


@dataclass(frozen=True, slots=True)
class Measured:
    """A partitioned program.

    Attributes:
        estimated: its estimated seconds.
        nbytes: the bytes that a device sends.
        run: the seconds of a run; NaN if it wasn't run.
    """

    estimated: float
    nbytes: int
    run: float


@dataclass(frozen=True, slots=True)
class Row:
    """The plans of a program.

    Attributes:
        name: the name of its file.
        plans: the author's plan, data parallelism, and automatic sharding.
        gap: the proven gap of the last one.
        seconds: the seconds of its search.
    """

    name: str
    plans: tuple[Measured, Measured, Measured]
    gap: float
    seconds: float

    def cells(self) -> tuple[str, ...]:
        """Return the cells of its line."""
        return (
            self.name,
            *(f"{each.estimated * 1e6:,.0f}" for each in self.plans),
            *(f"{each.nbytes:,}" for each in self.plans),
            *("-" if math.isnan(each.run) else f"{each.run * 1e3:.2f}" for each in self.plans),
            f"{self.gap:.2%}",
            f"{self.seconds:.2f}",
        )


def measured(program: PartitionedProgram, hardware: Hardware, run: float) -> Measured:
    """Return the estimate, the bytes and the run time of a program."""
    estimated = estimate(program, hardware)
    return Measured(estimated.seconds, estimated.nbytes_sent, run)


def compare(path: Path, hardware: Hardware, repeat: int) -> Row:
    """Return the plans of one program."""
    given = sdy.parse(path)
    sdy.propagate(given)
    author = sdy.partition(given, hardware=hardware)
    source = sdy.parse(path)
    found = sdy.auto_shard(source, hardware=hardware, fixed=False)
    constraints = found.constraints
    for argument, own in data_parallel(source).items():
        constraints = constraints.fix(argument.replace("*", "?"), own)
    programs = author, constraints.solve().program, found.program
    first, second, third = (
        measured(program, hardware, run)
        for program, run in zip(programs, seconds_of(programs, repeat), strict=True)
    )
    return Row(path.stem, (first, second, third), found.gap, found.seconds)


def page(rows: Sequence[Row], hardware: Hardware) -> str:
    """Return the page of the documentation."""
    return f"""<!-- Written by bench/auto.py -->
# Automatic sharding in numbers

Programs with shardings of their authors, compared with data parallelism and with automatic sharding
of the program without shardings. Each is partitioned for 8 devices. Columns *a* are for the
author's shardings, *d* for data parallelism, *s* for automatic sharding:

- *time*: microseconds, estimated for {hardware.name} ([hardware](../guide/cost.md#hardware));
- *bytes*: the bytes that a device sends;
- *run*: milliseconds of a run by XLA on virtual devices that share the processors of one machine,
  the fastest of several in turns: small programs take the time of their launch, which differs by
  a fifth between equal programs;
- *gap* and *search*: the proven distance from the optimum, and the seconds of the search.

{_markdown(rows)}

`python bench/auto.py FILE.mlir ... -o PAGE` measures such a table.
"""


def _markdown(rows: Sequence[Row]) -> str:
    lines = [("program", *HEADINGS), ("---", *["---:"] * len(HEADINGS))]
    lines += [(f"`{cells[0]}`", *cells[1:]) for cells in (row.cells() for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--hardware", default="cpu")
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--largest", type=int, default=100_000, help="bytes of the largest file")
    parser.add_argument("-o", "--output", type=Path, help="the page of the documentation to write")
    options = parser.parse_args(arguments)
    hardware = sdy.load_hardware(options.hardware)
    rows: list[Row] = []
    for path in options.files:
        if path.stat().st_size > options.largest:
            continue
        try:
            rows.append(compare(path, hardware, options.repeat))
        except sdy.UsageError as reason:
            print(f"{path.stem}: {reason}".partition("\n")[0])
            continue
        print(*rows[-1].cells(), sep="  ", flush=True)
    if options.output is not None:
        options.output.write_text(page(rows, hardware), encoding="utf-8")


if __name__ == "__main__":
    main()
