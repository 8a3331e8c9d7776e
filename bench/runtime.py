# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run time of partitioned programs on XLA with 8 virtual CPU devices, compared with XLA's own.

    python bench/runtime.py                    # the corpus
    python bench/runtime.py transformer_scan   # programs of the corpus, or files

For one side, XLA propagates and partitions the annotated program, as in `jax.jit`; for the other,
it compiles our partitioned program unchanged. Both run in turn on the same arrays, which are on
the devices already; the best of several runs of each counts. Prints both times, their
ratio (below 1: ours is faster), and the geometric mean. Needs the `jax` extra.

Virtual devices share the processors of one machine: the times depend on computation and the number
of collectives, not on links.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from mlir_sdy.assembly import asm, parse
from mlir_sdy.diagnostics import SdyError
from mlir_sdy.dialect import Context
from pyshardy.api import propagate
from pyshardy.backends.arrays.comparison import random_inputs
from pyshardy.backends.xla.program import XlaProgram, local_xla_program
from pyshardy.local_program.process_groups import Layout
from pyshardy.program import partition

CORPUS = Path(__file__).parents[1] / "test" / "corpus" / "mlir"


def seconds(path: Path, rounds: int, runs: int) -> tuple[float, float]:
    """Return the best times of our program and of XLA's."""
    module = parse(path.read_text(), Context())
    annotated = asm(module)
    propagate(module)
    program = partition(module)
    layout = Layout(1, program.mesh.total_size)
    inputs = [port.local_spec for port in program.inputs]
    outputs = [port.local_spec for port in program.outputs]
    ours = local_xla_program(program.module, layout)
    theirs = XlaProgram(annotated, inputs, outputs, layout, partitioned_by_xla=True)
    held = program.scatter(random_inputs([port.spec for port in program.inputs], seed=0))
    # Alternating runs are affected equally by other load of the machine.
    taken = [(ours.seconds(held, runs), theirs.seconds(held, runs)) for _ in range(rounds)]
    return min(first for first, _ in taken), min(second for _, second in taken)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("programs", nargs="*", help="names in the corpus, or files")
    parser.add_argument("--rounds", type=int, default=3, help="of alternating sides")
    parser.add_argument("--runs", type=int, default=5, help="of each side in a round")
    arguments = parser.parse_args()
    paths = [
        Path(name) if name.endswith(".mlir") else CORPUS / f"{name}.mlir"
        for name in arguments.programs
    ]
    ratios: list[float] = []
    print(f"{'program':34} {'ours':>10} {'XLA':>10} {'ratio':>7}")
    for path in paths or sorted(CORPUS.glob("*.mlir")):
        try:
            ours, theirs = seconds(path, arguments.rounds, arguments.runs)
        except SdyError as failure:
            print(f"{path.stem:34} {str(failure).splitlines()[0]}")
            continue
        ratios.append(ours / theirs)
        line = f"{path.stem:34} {ours * 1e3:7.2f} ms {theirs * 1e3:7.2f} ms {ratios[-1]:7.2f}"
        print(line, flush=True)
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"geometric mean of {len(ratios)} programs: {mean:.2f}; largest: {max(ratios):.2f}")


main()
