# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that count or combine along sharded dimensions are computed on shards."""

import numpy as np
import pytest
from index_programs import DYNAMIC_SLICES, GATHERS, REDUCTIONS, SCATTERS, UPDATES

from mlir_sdy.assembly import parse
from pyshardy.api import propagate
from pyshardy.backends.comparison import compare
from pyshardy.program import PartitionedProgram, partition, run_unpartitioned

PROGRAMS = {
    f"{family}: {name}": program
    for family, programs in (
        ("gather", GATHERS),
        ("scatter", SCATTERS),
        ("dynamic slice", DYNAMIC_SLICES),
        ("dynamic update slice", UPDATES),
        ("reduce", REDUCTIONS),
    )
    for name, program in programs.items()
}


def inputs_of(program: PartitionedProgram, seed: int) -> list[np.ndarray]:
    """Whole numbers, so that results are exact; among indices, many are out of bounds."""
    generator = np.random.default_rng(seed)
    return [
        generator.integers(-3 if port.spec.dtype.kind in "fi" else 0, 20, port.spec.shape).astype(
            port.spec.dtype
        )
        for port in program.inputs
    ]


@pytest.mark.parametrize("name", PROGRAMS)
def test_numbers_and_bytes(context, name):
    case = PROGRAMS[name]
    module = parse(case.text, context)
    propagate(module)
    program = partition(module)
    for seed in range(3):
        inputs = inputs_of(program, seed)
        (found,), (wanted,) = program.run(inputs), run_unpartitioned(module, inputs)
        assert compare(found, wanted, program.outputs[0].spec).is_small
    assert [(each.kind, each.nbytes) for each in program.collectives] == case.collectives
