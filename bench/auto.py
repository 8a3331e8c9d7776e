# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans of automatic sharding, compared with those of authors and with data parallelism.

    python bench/auto.py FILE.mlir ... [--hardware=cpu] [--repeat=20] [-o PAGE.md]
    python bench/auto.py FILE.mlir ... --objective=bytes [--hardware=cpu] [-o PAGE.md]

Each program has the shardings of its author. It is partitioned

1. as its author annotated it;
2. by data parallelism alone: the first dimension of arguments whose first dimension the author
   shards along the first axis of the mesh is sharded along that axis, all else is replicated;
3. by automatic sharding without the annotations.

Prints, for each of the three, the estimated time, the bytes that a device sends, and the time of a
run by XLA on virtual CPU devices, the fastest of several; for the last one also the proven gap and
the seconds of the search. Programs of other numbers of devices than 8 aren't run. Needs the `jax`
extra.

With `--objective=bytes`, automatic sharding minimizes the bytes that a device sends, once with any
memory and once each within the memory of the two other plans. The bytes of all plans are counted in
the partitioned programs. The exit code is 1 if automatic sharding sends more than a plan whose
memory it may use.

`-o` replaces one section of the page, and keeps the other.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyshardy as sdy
from mlir_sdy.host import ir
from mlir_sdy.model import TensorSharding
from mlir_sdy.symbols import meshes_of
from mlir_sdy.values import get_sharding
from pyshardy.backends.arrays.comparison import random_inputs
from pyshardy.backends.xla.program import local_xla_program
from pyshardy.cost.hardware import Hardware
from pyshardy.explain.estimate import estimate
from pyshardy.irtools.functions import entry_block, main_function
from pyshardy.irtools.modules import copy_of
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
BYTES_HEADINGS = (
    "bytes a",
    "bytes d",
    "bytes s",
    "memory a",
    "bytes s in a",
    "memory d",
    "bytes s in d",
)
MARK = "**"
"""The mark of a number of bytes that is larger than that of another plan."""


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


def with_data_parallelism(found: sdy.ShardingPlan, module: ir.Module) -> sdy.ShardingPlan:
    """Return the best plan of a program whose arguments are sharded by data parallelism."""
    constraints = found.constraints
    for argument, own in data_parallel(module).items():
        constraints = constraints.fix(argument.replace("*", "?"), own)
    return constraints.solve()


def compare(path: Path, hardware: Hardware, repeat: int) -> Row:
    """Return the plans of one program."""
    given = sdy.parse(path)
    sdy.propagate(given)
    author = sdy.partition(given, hardware=hardware)
    source = sdy.parse(path)
    found = sdy.auto_shard(source, hardware=hardware, fixed=False)
    programs = author, with_data_parallelism(found, source).program, found.program
    first, second, third = (
        measured(program, hardware, run)
        for program, run in zip(programs, seconds_of(programs, repeat), strict=True)
    )
    return Row(path.stem, (first, second, third), found.gap, found.seconds)


@dataclass(frozen=True, slots=True)
class BytesRow:
    """The bytes that a device sends by the plans of a program, counted after partitioning.

    Attributes:
        name: the name of its file.
        others: those of the author's plan and of data parallelism.
        memory: the peak memory of these two: the larger of the predicted and the counted one.
        ours: those of automatic sharding with any memory.
        within: those of automatic sharding within the memory of each of the two; None where the
            search finds no plan that fits.
    """

    name: str
    others: tuple[int, int]
    memory: tuple[float, float]
    ours: int
    within: tuple[int | None, int | None]

    @property
    def is_worse(self) -> bool:
        """Whether automatic sharding sends more than a plan whose memory it may use."""
        return MARK in "".join(self.cells())

    def cells(self) -> tuple[str, ...]:
        """Return the cells of its line; numbers that are larger than another plan's are marked."""
        limited = (
            (f"{memory:,.0f}", _marked(nbytes, most))
            for memory, nbytes, most in zip(self.memory, self.within, self.others, strict=True)
        )
        return (
            self.name,
            *(f"{nbytes:,}" for nbytes in self.others),
            _marked(self.ours, min(self.others)),
            *(cell for pair in limited for cell in pair),
        )


def _marked(nbytes: int | None, most: int) -> str:
    """Return a number of bytes, marked if it is above another one or there is none."""
    text = "none" if nbytes is None else f"{nbytes:,}"
    return f"{MARK}{text}{MARK}" if nbytes is None or nbytes > most else text


def compare_bytes(path: Path, hardware: Hardware) -> BytesRow:
    """Return the bytes of the plans of one program."""
    propagated = sdy.parse(path)
    sdy.propagate(propagated)
    author = estimate(sdy.partition(copy_of(propagated), hardware=hardware), hardware)
    source = sdy.parse(path)

    def least_bytes(memory: float | None = None) -> sdy.ShardingPlan:
        return sdy.auto_shard(
            source, hardware=hardware, fixed=False, objective="bytes", memory=memory
        )

    def within(memory: float) -> int | None:
        try:
            return least_bytes(memory).estimate.nbytes_sent
        except sdy.UsageError:
            return None

    found = least_bytes()
    parallel = with_data_parallelism(found, source)
    # Predicted peaks may be above counted ones: the search must be able to choose the other plan.
    kept = sdy.auto_shard(propagated, hardware=hardware, objective="bytes")
    memory = (
        max(author.peak_bytes, kept.memory),
        max(parallel.estimate.peak_bytes, parallel.memory),
    )
    return BytesRow(
        path.stem,
        (author.nbytes_sent, parallel.estimate.nbytes_sent),
        memory,
        found.estimate.nbytes_sent,
        (within(memory[0]), within(memory[1])),
    )


INTRODUCTION = """<!-- Written by bench/auto.py -->
# Automatic sharding in numbers

Programs with shardings of their authors, compared with data parallelism and with automatic sharding
of the program without shardings. Each is partitioned for 8 devices. Columns *a* are for the
author's shardings, *d* for data parallelism, *s* for automatic sharding.
"""


def time_section(rows: Sequence[Row], hardware: Hardware) -> str:
    """Return the section of plans with the least time."""
    return f"""## Least time

- *time*: microseconds, estimated for {hardware.name} ([hardware](../guide/cost.md#hardware));
- *bytes*: the bytes that a device sends;
- *run*: milliseconds of a run by XLA on virtual devices that share the processors of one machine,
  the fastest of several in turns: small programs take the time of their launch, which differs by
  a fifth between equal programs;
- *gap* and *search*: the proven distance from the optimum, and the seconds of the search.

{_markdown(HEADINGS, [row.cells() for row in rows])}

`python bench/auto.py FILE.mlir ... -o PAGE` measures such a table.
"""


def bytes_section(rows: Sequence[BytesRow]) -> str:
    """Return the section of plans with the fewest bytes."""
    return f"""## Fewest bytes

The same programs with `objective="bytes"`. All bytes are those that a device sends, counted in the
partitioned program. With any memory (*s*), replication sends nothing, so that the plans within the
memory of another plan say more: *s in a* within the peak *memory a* of the program with the
author's shardings of all values, and *s in d* within that of data parallelism. Each peak is the
larger of the predicted one, by which the search decides what fits, and of that of the partitioned
program. Numbers in bold are larger than those of the other plan; *none* stands for no plan that was
found in the time limit of a minute.

{_markdown(BYTES_HEADINGS, [row.cells() for row in rows])}

`python bench/auto.py FILE.mlir ... --objective=bytes -o PAGE` makes such a table, and fails if a
number is in bold.
"""


def with_section(page: str, section: str) -> str:
    """Return a page with a section in place of the one with its title, or at the end."""
    sections = re.split(r"^(?=## )", page, flags=re.MULTILINE)[1:] if page else []
    title = section.partition("\n")[0]
    kept = [own.strip() + "\n" for own in sections]
    titles = [own.partition("\n")[0] for own in kept]
    at = titles.index(title) if title in titles else len(kept)
    kept[at : at + 1] = [section]
    return "\n".join([INTRODUCTION, *kept])


def _markdown(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [("program", *headings), ("---", *["---:"] * len(headings))]
    lines += [(f"`{name}`", *cells) for name, *cells in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--objective", choices=("time", "bytes"), default="time")
    parser.add_argument("--hardware", default="cpu")
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--largest", type=int, default=100_000, help="bytes of the largest file")
    parser.add_argument("-o", "--output", type=Path, help="the page of the documentation to change")
    options = parser.parse_args(arguments)
    hardware = sdy.load_hardware(options.hardware)
    rows: list[Row] = []
    bytes_rows: list[BytesRow] = []
    for path in options.files:
        if path.stat().st_size > options.largest:
            continue
        try:
            if options.objective == "bytes":
                bytes_rows.append(compare_bytes(path, hardware))
                cells = bytes_rows[-1].cells()
            else:
                rows.append(compare(path, hardware, options.repeat))
                cells = rows[-1].cells()
        except sdy.UsageError as reason:
            print(f"{path.stem}: {reason}".partition("\n")[0])
            continue
        print(*cells, sep="  ", flush=True)
    if options.output is not None:
        page = options.output.read_text(encoding="utf-8") if options.output.exists() else ""
        is_time = options.objective == "time"
        section = time_section(rows, hardware) if is_time else bytes_section(bytes_rows)
        options.output.write_text(with_section(page, section), encoding="utf-8")
    return int(any(row.is_worse for row in bytes_rows))


if __name__ == "__main__":
    sys.exit(main())
