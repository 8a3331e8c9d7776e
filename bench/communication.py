# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bytes that devices send in our partitioned programs, and in those of XLA's SPMD partitioner.

    python bench/communication.py                    # the corpus
    python bench/communication.py transformer_scan   # programs of the corpus, or files

Both sides get the same annotated program. XLA propagates by its Shardy and partitions; ours is
propagated and partitioned here, and then compiled by XLA as it is, so that both are counted by one
parser in optimised HLO, where both have lost what is dead or there twice. See `hlo.py` for how
bytes are counted. Loops count as often as they run.

Prints both counts, their ratio (below 1: ours sends less), and the kinds of collectives; at the
end the geometric mean, in which a program counts as 1 if neither side communicates. Needs the
`jax` extra.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from hlo import HloCollective, collectives_of

from mlir_sdy.assembly import asm, parse
from mlir_sdy.diagnostics import SdyError
from mlir_sdy.dialect import Context
from pyshardy.api import propagate
from pyshardy.backends.groups import Layout
from pyshardy.backends.xla.program import XlaProgram, local_xla_program
from pyshardy.program import partition

CORPUS = Path(__file__).parents[1] / "test" / "corpus" / "mlir"


@dataclass(frozen=True)
class Row:
    """A program, and what both sides send."""

    name: str
    ours: list[HloCollective]
    theirs: list[HloCollective]

    @property
    def ratio(self) -> float:
        """Bytes of ours to bytes of theirs; one if neither sends any."""
        ours, theirs = total(self.ours), total(self.theirs)
        if ours == theirs:
            return 1.0
        return ours / theirs if theirs else math.inf


def total(collectives: list[HloCollective]) -> float:
    """The bytes that a device sends."""
    return sum(collective.sent_bytes * collective.times for collective in collectives)


def kinds(collectives: list[HloCollective]) -> str:
    """How many of each kind there are: `2 all-gather, 1 all-reduce`."""
    counts = Counter(collective.kind for collective in collectives)
    return ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))


def compare(path: Path) -> Row:
    """Both sides' collectives of one program."""
    module = parse(path.read_text(), Context())
    annotated = asm(module)
    propagate(module)
    program = partition(module)
    count = program.mesh.total_size
    layout = Layout(1, count)
    ours = local_xla_program(program.module, layout)
    theirs = XlaProgram(annotated, (), (), layout, partitioned_by_xla=True)
    return Row(path.stem, collectives_of(ours.hlo, count), collectives_of(theirs.hlo, count))


def show(collectives: list[HloCollective], side: str) -> None:
    """A line for each collective, the largest first."""
    for c in sorted(collectives, key=lambda c: -c.sent_bytes * c.times):
        bytes_and_times = f"{c.sent_bytes:>10,.0f} x {c.times:<4}"
        print(f"    {side:6} {bytes_and_times} {c.kind} of {c.group_size}  {c.source}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("programs", nargs="*", help="names in the corpus, or files")
    parser.add_argument("--collectives", action="store_true", help="show each of them")
    arguments = parser.parse_args()
    named = [
        Path(name) if name.endswith(".mlir") else CORPUS / f"{name}.mlir"
        for name in arguments.programs
    ]
    rows: list[Row] = []
    print(f"{'program':34} {'ours':>12} {'XLA':>12} {'ratio':>7}  ours | XLA")
    for path in named or sorted(CORPUS.glob("*.mlir")):
        try:
            row = compare(path)
        except SdyError as failure:
            print(f"{path.stem:34} {str(failure).splitlines()[0]}")
            continue
        rows.append(row)
        ours, theirs = total(row.ours), total(row.theirs)
        what = f"{kinds(row.ours)} | {kinds(row.theirs)}"
        print(f"{row.name:34} {ours:12,.0f} {theirs:12,.0f} {row.ratio:7.2f}  {what}", flush=True)
        if arguments.collectives:
            show(row.ours, "ours")
            show(row.theirs, "XLA")
    finite = [row.ratio for row in rows if 0 < row.ratio < math.inf]
    if finite:
        mean = math.exp(sum(map(math.log, finite)) / len(finite))
        print(f"geometric mean of {len(finite)} programs: {mean:.2f}; largest: {max(finite):.2f}")
    print(f"ours sends nothing, XLA does: {sum(row.ratio == 0 for row in rows)}; ", end="")
    print(f"XLA sends nothing, ours does: {sum(row.ratio == math.inf for row in rows)}")


main()
