# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations whose shards exchange data: the right numbers, and no more bytes than are needed."""

import random

import numpy as np
import pytest
from halo_programs import PROGRAMS
from random_exchanges import FAMILIES, random_program

from mlir_sdy.assembly import asm, parse
from pyshardy.api import propagate
from pyshardy.backends.arrays.comparison import compare
from pyshardy.pipeline import PassPipeline, pipeline_of, pipelines, register_pipeline, use
from pyshardy.program import PartitionedProgram, partition, run_unpartitioned

PER_FAMILY = 6


def check(module, backend: str = "interpreter", **options) -> PartitionedProgram:
    """Compare the numbers of a module with those of the partitioned program, which is returned."""
    propagate(module)
    program = partition(module, **options)
    generator = np.random.default_rng(0)
    # No zeros, so that those of padding differ from what is really there.
    inputs = [
        generator.choice([-3, -2, -1, 1, 2, 3], port.spec.shape).astype(port.spec.dtype)
        for port in program.inputs
    ]
    expected = run_unpartitioned(module, inputs, backend)
    results = program.run(inputs, backend)
    for port, found, wanted in zip(program.outputs, results, expected, strict=True):
        assert compare(found, wanted, port.spec).is_small, asm(program.module)
    return program


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(context, name):
    case = PROGRAMS[name]
    program = check(parse(case.text, context), case.backend)
    found = [(collective.kind, collective.nbytes) for collective in program.collectives]
    assert found == list(case.collectives)


@pytest.mark.parametrize("family", FAMILIES)
def test_random_programs(context, family):
    rng = random.Random(family)
    num_exchanging = 0
    for _ in range(PER_FAMILY):
        program = check(parse(random_program(family, rng), context))
        kinds = {collective.kind for collective in program.collectives}
        num_exchanging += "collective_permute" in kinds or family == "cumulative"
    assert num_exchanging


@pytest.fixture
def in_shardys_order():
    """Partitions by the passes that Shardy has, in its order."""
    name = "sdy-partition-pipeline"
    original = pipelines()[name]

    @register_pipeline(name, replace=True)
    def in_order() -> PassPipeline:
        """Partitions."""
        return pipeline_of(
            "sdy-lift-inlined-meshes",
            "sdy-close-shardings",
            "sdy-update-non-divisible-input-output-shardings",
            use("sdy-insert-explicit-reshards", enable_full_version=True),
            "sdy-resolve-permutation-factors",
            "sdy-reshard-to-collectives",
            "sdy-pad-for-divisibility",
            "sdy-convert-global-to-local",
            "sdy-drop-sharding-and-mesh",
        )

    yield
    register_pipeline(name, replace=True, release=original.release)(original.function)


@pytest.mark.usefixtures("in_shardys_order")
@pytest.mark.parametrize("name", ["convolution", "pad", "maximum of windows", "reverse, uneven"])
def test_in_the_order_of_shardy(context, name):
    """Explicit reshards may leave sharded along what is exchanged, by the rules of Shardy."""
    case = PROGRAMS[name]
    program = check(parse(case.text, context))
    found = [(collective.kind, collective.nbytes) for collective in program.collectives]
    assert found == list(case.collectives)


@pytest.mark.parametrize("family", FAMILIES)
def test_without_exchange(context, family):
    """Dimensions are made whole instead."""
    rng = random.Random(family)
    for _ in range(2):
        check(parse(random_program(family, rng), context), enable_halo_exchange=False)
