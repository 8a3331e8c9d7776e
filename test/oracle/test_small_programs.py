# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dimensions smaller than their number of shards: the right results, or a reason to refuse.

`PYSHARDY_SMALL_PROGRAMS=2000 pytest test/oracle/test_small_programs.py` runs more programs.
"""

import os
from collections import Counter

import numpy as np
import pytest
from small_programs import SEEDS_IN_BATCH, small_program

from mlir_sdy.assembly import parse
from mlir_sdy.diagnostics import SdyError, VerificationError
from pyshardy.api import propagate
from pyshardy.pipeline import PipelineError
from pyshardy.program import PartitionedProgram, partition, run_unpartitioned

COUNT = int(os.environ.get("PYSHARDY_SMALL_PROGRAMS", "300"))
"""The number of programs: a hundred take about five seconds."""

MAX_REFUSED = 0.1


def whole_numbers(program: PartitionedProgram, seed: int) -> list[np.ndarray]:
    generator = np.random.default_rng(seed)
    specs = [port.spec for port in program.inputs]
    return [generator.integers(-3, 4, spec.shape).astype(spec.dtype) for spec in specs]


def check_reason(failure: SdyError, text: str) -> None:
    """A refusal says what is wrong with the program, and where; it isn't of what a pass made."""
    assert "internal error" not in str(failure), text
    if isinstance(failure, PipelineError):
        assert not isinstance(failure.__cause__, VerificationError), f"{failure}\n{text}"
    assert failure.diagnostics[0].location is not None, text


@pytest.mark.parametrize("batch", range(-(-COUNT // SEEDS_IN_BATCH)))
def test_random_programs(context, batch):
    """One in four is partitioned as it is written, the others after propagation."""
    verdicts = Counter[str]()
    for seed in range(batch * SEEDS_IN_BATCH, (batch + 1) * SEEDS_IN_BATCH):
        text = small_program(seed)
        module = parse(text, context)
        try:
            if seed % 4:
                propagate(module)
            program = partition(module)
        except SdyError as failure:
            check_reason(failure, text)
            verdicts["refused"] += 1
            continue
        inputs = whole_numbers(program, seed)
        expected = run_unpartitioned(module, inputs)
        for found, wanted in zip(program.run(inputs), expected, strict=True):
            np.testing.assert_array_equal(found, wanted, f"seed {seed}\n{text}")
        verdicts["right"] += 1
    print(f"batch {batch}: {dict(verdicts)}")
    assert verdicts["refused"] <= MAX_REFUSED * SEEDS_IN_BATCH
