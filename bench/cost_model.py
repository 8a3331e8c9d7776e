# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cost model, compared with XLA's programs: ten plans of a transformer block, and run times.

    python bench/cost_model.py
    python bench/cost_model.py --hardware=hardware.toml FILE.mlir ...

Without files, each plan shards the arguments of `examples/transformer_block.mlir` differently. The
bytes sent and the memory of a device are estimated from the partitioned program. The measured
values are those of its compilation by XLA for virtual CPU devices: the bytes of collectives in the
optimised HLO, and XLA's memory statistics. Prints both and Spearman's rank correlation (1: the same
order).

With files, the estimated time of each program for 8 devices on the hardware, plus that to start a
program if it was measured, is compared with the run by XLA on virtual CPU devices, the fastest of
several. Prints the rank correlation and the median error, for all programs and for those that take
more than a millisecond. A loop of an unknown number of iterations is estimated as one of them, so
that such programs aren't compared. Measure the hardware before, while the machine is as busy:

    sdy-calibrate --mesh=data:4,model:2 -o hardware.toml

Needs the `jax` extra.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from auto import seconds_of
from xla_compile import compile_with_xla

from mlir_sdy.assembly import parse
from mlir_sdy.diagnostics import SdyError, collect
from mlir_sdy.dialect import Context
from pyshardy.api import propagate
from pyshardy.backends.xla.hlo import collectives_of
from pyshardy.backends.xla.preparation import text_for_xla
from pyshardy.backends.xla.program import local_xla_program
from pyshardy.cost.hardware import Hardware, load_hardware
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
    weights: Mapping[int, str] = field(default_factory=dict[int, str])
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


def compare_times(files: Sequence[Path], hardware: Hardware, repeat: int) -> None:
    """Print the estimated and the measured time of each program, and how well they agree."""
    start = hardware.origin.seconds_per_program if hardware.origin else 0.0
    print(f"{hardware.title}\n{'ms':34}{'estimate':>10}{'run':>10}{'est/run':>9}")
    found: list[tuple[float, float]] = []
    for path in files:
        try:
            with collect():  # meshes other than the measured one
                module = parse(path.read_text(), Context(), str(path))
                propagate(module)
                program = partition(module, hardware=hardware)
                cost = estimate(program, hardware)
            unknown = any(each.repetitions is None for each in program.collectives)
            if program.mesh.total_size != DEVICES or unknown:
                continue
            (run,) = seconds_of([program], repeat)
        except SdyError as reason:
            print(f"{path.stem}: {reason}".partition("\n")[0])
            continue
        found.append((cost.predicted + start, run))
        estimated, quotient = found[-1][0], found[-1][0] / run
        print(f"{path.stem:34}{1e3 * estimated:10.3f}{1e3 * run:10.3f}{quotient:9.2f}", flush=True)
    for least, what in ((0.0, "all"), (1e-3, "longer than 1 ms")):
        pairs = [pair for pair in found if pair[1] > least]
        if len(pairs) > 1:
            correlation = rank_correlation(*zip(*pairs, strict=True))
            errors = [abs(estimated / run - 1) for estimated, run in pairs]
            print(
                f"{len(pairs)} programs, {what}: rank correlation {correlation:.2f}, "
                f"median error {np.median(errors):.0%}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--hardware", default="cpu")
    parser.add_argument("--repeat", type=int, default=40)
    options = parser.parse_args()
    hardware = load_hardware(options.hardware)
    if options.files:
        compare_times(options.files, hardware, options.repeat)
    else:
        compare_plans(hardware)


def compare_plans(hardware: Hardware) -> None:
    """Print the bytes and the memory of the plans, estimated and by XLA."""
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
