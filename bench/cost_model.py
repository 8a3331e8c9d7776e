# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cost model's ranking of ten plans for a transformer block, compared with XLA's programs.

    python bench/cost_model.py

Each plan shards the arguments of `examples/transformer_block.mlir` differently. The bytes sent and
the memory of a device are estimated from the partitioned program. The measured values are those of
its compilation by XLA for virtual CPU devices: the bytes of collectives in the optimised HLO, and
XLA's memory statistics. Prints both and Spearman's rank correlation (1: the same order).
Needs the `jax` extra.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from xla_compile import compile_with_xla

from mlir_sdy.assembly import parse
from mlir_sdy.dialect import Context
from pyshardy.api import propagate
from pyshardy.backends.xla.hlo import collectives_of
from pyshardy.backends.xla.preparation import text_for_xla
from pyshardy.backends.xla.program import local_xla_program
from pyshardy.cost.hardware import load_hardware
from pyshardy.explain.estimate import estimate
from pyshardy.local_program.process_groups import Layout
from pyshardy.program import PartitionedProgram, partition

TEXT = (Path(__file__).parents[1] / "examples" / "transformer_block.mlir").read_text()
DEVICES = 8

COLUMNS, ROWS = '[{}, {"model"}]', '[{"model"}, {}]'
DATA_ROWS, DATA_COLUMNS = '[{"data"}, {}]', '[{}, {"data"}]'
BOTH = '[{"data"}, {"model"}]'
BATCH, SEQUENCE = '[{"data"}, {}, {}]', '[{"data"}, {"model"}, {}]'
FEATURES, WHOLE = '[{"data"}, {}, {"model"}]', "[{}, {}, {}]"

# Positions of arguments: the weights of the MLP, of attention, and the inputs.
MLP_IN, MLP_OUT = 6, 0
QUERIES, KEYS, VALUES, OUTPUT = 3, 1, 7, 2
NORMS = (4, 5)
BATCH_ARGUMENT = 8
ATTENTION = {QUERIES: COLUMNS, KEYS: COLUMNS, VALUES: COLUMNS, OUTPUT: ROWS}
MLP = {MLP_IN: COLUMNS, MLP_OUT: ROWS}
WEIGHTS = (MLP_IN, MLP_OUT, QUERIES, KEYS, VALUES, OUTPUT)


@dataclass(frozen=True)
class Plan:
    """The shardings of the program's arguments.

    Attributes:
        data: the size of the axis `data`.
        weights: the shardings of weights by their position; the others are replicated.
        batch: the sharding of the input and the output.
    """

    data: int
    weights: Mapping[int, str] = field(default_factory=dict)
    batch: str = BATCH


PLANS = {
    "nothing sharded": Plan(4, batch=WHOLE),
    "data 8": Plan(8),
    "data 4, model 2 (Megatron)": Plan(4, ATTENTION | MLP),
    "data 2, model 4 (Megatron)": Plan(2, ATTENTION | MLP),
    "attention only": Plan(4, ATTENTION),
    "MLP only": Plan(4, MLP),
    "all columns": Plan(4, dict.fromkeys(WEIGHTS, COLUMNS)),
    "weights by data (FSDP)": Plan(4, dict.fromkeys(WEIGHTS, DATA_ROWS)),
    "weights by both": Plan(4, dict.fromkeys(WEIGHTS, BOTH)),
    "features of the batch": Plan(4, ATTENTION | MLP, FEATURES),
}

SHARDING = re.compile(r"#sdy.sharding<@mesh, \[.*?\]>(?=[,}])")
MESH = re.compile(r"sdy\.mesh @mesh = <.*?> \{.*\}")


def program_of(plan: Plan) -> PartitionedProgram:
    """Return the example with the shardings of a plan."""
    text = MESH.sub(f'sdy.mesh @mesh = <["data"={plan.data}, "model"={8 // plan.data}]>', TEXT)
    position = iter(range(10))

    def written(_: re.Match[str]) -> str:
        at = next(position)
        whole = "[{}]" if at in NORMS else "[{}, {}]"
        given = plan.weights.get(at, whole) if at < BATCH_ARGUMENT else plan.batch
        return f"#sdy.sharding<@mesh, {given}>"

    module = parse(SHARDING.sub(written, text), Context())
    propagate(module)
    return partition(module)


def measured(program: PartitionedProgram) -> tuple[float, int]:
    """Return the bytes that a device sends, and its memory, in the program compiled by XLA."""
    layout = Layout(1, DEVICES)
    compiled = local_xla_program(program.module, layout)
    sent = sum(each.sent_bytes * each.times for each in collectives_of(compiled.hlo, DEVICES))
    memory = compile_with_xla(text_for_xla(program.module), DEVICES).peak_bytes
    return sent, memory


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float:
    """Return Spearman's rank correlation; equal numbers have the mean of their ranks."""
    return float(np.corrcoef(_ranks(first), _ranks(second))[0, 1])


def _ranks(numbers: Sequence[float]) -> list[float]:
    ordered = sorted(numbers)
    return [ordered.index(each) + (ordered.count(each) - 1) / 2 for each in numbers]


def main() -> None:
    hardware = load_hardware("cpu")
    predicted: list[tuple[float, float]] = []
    found: list[tuple[float, float]] = []
    print(f"{'plan':28} {'sent':>9} {'by XLA':>9} {'memory':>9} {'by XLA':>9} {'time':>9}")
    for name, plan in PLANS.items():
        program = program_of(plan)
        cost = estimate(program, hardware)
        predicted.append((cost.nbytes_sent, cost.peak_bytes))
        found.append(measured(program))
        print(
            f"{name:28} {cost.nbytes_sent:9,} {found[-1][0]:9,.0f} {cost.peak_bytes:9,}"
            f" {found[-1][1]:9,} {cost.seconds * 1e6:6.0f} us",
            flush=True,
        )
    for index, what in enumerate(("bytes sent", "memory")):
        columns = ([each[index] for each in side] for side in (predicted, found))
        print(f"rank correlation of {what}: {rank_correlation(*columns):.2f}")


main()
