# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bytes sent in programs partitioned by pyshardy, and by XLA's SPMD partitioner.

    python bench/communication.py                    # the corpus
    python bench/communication.py transformer_scan   # programs of the corpus, files, or folders
    python bench/communication.py --against=shardy   # C++ Shardy's partitioner (jaxlib 0.12)

Both sides get the same annotated program. XLA propagates by its Shardy and partitions; ours is
propagated and partitioned here, and then compiled by XLA without partitioning. Both are counted in
optimised HLO, after dead code and common subexpression elimination. See
`pyshardy.backends.xla.hlo` for the count of bytes. Operations in loops count once for each
iteration.

C++ Shardy propagates and partitions by itself, in a process with jaxlib 0.12 (see
`tools/oracle_environment.py`). There, the collectives of both local programs are counted in
StableHLO, by `PartitionedProgram.collectives`.

Prints both counts, their ratio (below 1: ours sends less), and the kinds of collectives; at the
end the geometric mean, in which a program counts as 1 if neither side communicates. Needs the
`jax` extra.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mlir_sdy.assembly import asm, parse
from mlir_sdy.diagnostics import SdyError
from mlir_sdy.dialect import Context
from pyshardy.api import propagate
from pyshardy.backends.xla.hlo import HloCollective, collectives_of
from pyshardy.backends.xla.program import XlaProgram, local_xla_program
from pyshardy.local_program.communication import Collective
from pyshardy.local_program.process_groups import Layout
from pyshardy.program import partition

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "test" / "support")]

from shardy import Shardy, ShardyAborted, ShardyRefused  # noqa: E402
from shardy_partition import partitioned_by_shardy  # noqa: E402

from oracle_environment import MISSING, oracle_python  # noqa: E402 (found by the lines above)

CORPUS = ROOT / "test" / "corpus" / "mlir"


@dataclass(frozen=True)
class LocalCollective:
    """A collective of a local program; see `HloCollective`."""

    kind: str
    group_size: int
    sent_bytes: float
    times: int
    source: str

    @classmethod
    def of(cls, collective: Collective) -> LocalCollective:
        """Return the entry for one of `PartitionedProgram.collectives`."""
        return cls(
            collective.kind.replace("_", "-"),
            collective.group_size,
            collective.nbytes_sent,
            collective.repetitions or 1,
            str(collective.location or ""),
        )


Sent = HloCollective | LocalCollective


@dataclass(frozen=True)
class Row:
    """A program, and the collectives of both sides."""

    name: str
    ours: Sequence[Sent]
    theirs: Sequence[Sent]

    @property
    def ratio(self) -> float:
        """Bytes of ours to bytes of theirs; one if neither sends any."""
        ours, theirs = total(self.ours), total(self.theirs)
        if ours == theirs:
            return 1.0
        return ours / theirs if theirs else math.inf


def total(collectives: Sequence[Sent]) -> float:
    """The bytes that a device sends."""
    return sum(collective.sent_bytes * collective.times for collective in collectives)


def kinds(collectives: Sequence[Sent]) -> str:
    """Return the number of each kind: `2 all-gather, 1 all-reduce`."""
    counts = Counter(collective.kind for collective in collectives)
    return ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))


def compare(path: Path) -> Row:
    """Return both sides' collectives of one program."""
    module = parse(path.read_text(), Context())
    annotated = asm(module)
    propagate(module)
    program = partition(module)
    count = program.mesh.total_size
    layout = Layout(1, count)
    ours = local_xla_program(program.module, layout)
    theirs = XlaProgram(annotated, (), (), layout, partitioned_by_xla=True)
    return Row(path.stem, collectives_of(ours.hlo, count), collectives_of(theirs.hlo, count))


def compare_with_shardy(path: Path, shardy: Shardy) -> Row:
    """Return both sides' collectives of a program, with C++ Shardy as the peer."""
    context = Context()
    module = parse(path.read_text(), context)
    theirs = partitioned_by_shardy(shardy, asm(module), context)
    propagate(module)
    return Row(
        path.stem,
        list(map(LocalCollective.of, partition(module).collectives)),
        list(map(LocalCollective.of, theirs.collectives)),
    )


def show(collectives: Sequence[Sent], side: str) -> None:
    """Print a line for each collective, the largest first."""
    for c in sorted(collectives, key=lambda c: -c.sent_bytes * c.times):
        bytes_and_times = f"{c.sent_bytes:>10,.0f} x {c.times:<4}"
        print(f"    {side:6} {bytes_and_times} {c.kind} of {c.group_size}  {c.source}")


def programs_named(name: str) -> list[Path]:
    """Return the programs of a folder or a file, or a program of the corpus."""
    if Path(name).is_dir():
        return sorted(Path(name).glob("*.mlir"))
    return [Path(name) if name.endswith(".mlir") else CORPUS / f"{name}.mlir"]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("programs", nargs="*", help="names in the corpus, files, or folders")
    parser.add_argument("--collectives", action="store_true", help="show each of them")
    parser.add_argument("--against", choices=["xla", "shardy"], default="xla")
    arguments = parser.parse_args()
    if arguments.against == "shardy":
        python = oracle_python()
        if python is None:
            parser.error(MISSING)
        shardy = Shardy((0, 12), python)
    else:
        shardy = None
    peer = "XLA" if shardy is None else "Shardy"
    named = [path for name in arguments.programs for path in programs_named(name)]
    if arguments.programs and not named:
        parser.error(f"no *.mlir in {', '.join(arguments.programs)}")
    rows: list[Row] = []
    print(f"{'program':34} {'ours':>12} {peer:>12} {'ratio':>7}  ours | {peer}")
    for path in named or sorted(CORPUS.glob("*.mlir")):
        try:
            row = compare(path) if shardy is None else compare_with_shardy(path, shardy)
        except (SdyError, ShardyAborted, ShardyRefused) as failure:
            print(f"{path.stem:34} {str(failure).splitlines()[0]}")
            continue
        rows.append(row)
        ours, theirs = total(row.ours), total(row.theirs)
        what = f"{kinds(row.ours)} | {kinds(row.theirs)}"
        print(f"{row.name:34} {ours:12,.0f} {theirs:12,.0f} {row.ratio:7.2f}  {what}", flush=True)
        if arguments.collectives:
            show(row.ours, "ours")
            show(row.theirs, peer)
    finite = [row.ratio for row in rows if 0 < row.ratio < math.inf]
    if finite:
        mean = math.exp(sum(map(math.log, finite)) / len(finite))
        print(f"geometric mean of {len(finite)} programs: {mean:.2f}; largest: {max(finite):.2f}")
    print(f"ours sends nothing, {peer} does: {sum(row.ratio == 0 for row in rows)}; ", end="")
    print(f"{peer} sends nothing, ours does: {sum(row.ratio == math.inf for row in rows)}")


if __name__ == "__main__":
    main()
