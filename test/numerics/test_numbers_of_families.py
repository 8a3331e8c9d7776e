# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations of all families on random shards compute what they compute on whole tensors."""

import random

import numpy as np
import pytest
import rule_cases
from case_counts import cases
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import random_sharding

from mlir_sdy import values
from mlir_sdy.assembly import parse
from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, MeshAxis
from pyshardy.api import propagate
from pyshardy.backends.arrays.comparison import compare
from pyshardy.program import PartitionedProgram, partition, run_unpartitioned

MESHES = (
    Mesh((MeshAxis("x", 2), MeshAxis("y", 3))),
    Mesh((MeshAxis("x", 4), MeshAxis("y", 2))),
    Mesh((MeshAxis("x", 2), MeshAxis("y", 2)), (2, 0, 3, 1)),
)
PER_FAMILY = 8
PER_FAMILY_OF_XLA = 2

FAMILIES = (
    rule_cases.broadcast_in_dim,
    rule_cases.concatenate,
    rule_cases.dot_general,
    rule_cases.dynamic_slice,
    rule_cases.dynamic_update_slice,
    rule_cases.gather,
    rule_cases.pad,
    rule_cases.reduce,
    rule_cases.reduce_window,
    rule_cases.reshape,
    rule_cases.reverse,
    rule_cases.scatter,
    rule_cases.select_and_scatter,
    rule_cases.slice_,
    rule_cases.sort,
    rule_cases.transpose,
)
FAMILIES_OF_XLA = (
    rule_cases.batch_norm_inference,
    rule_cases.cholesky,
    rule_cases.convolution,
    rule_cases.fft,
    rule_cases.rng_bit_generator,
    rule_cases.triangular_solve,
)
"""What the reference interpreter can't run; of convolutions, those that transpose the result."""


def program_of(context, case: str, rng: random.Random) -> ir.Module:
    """The case as a program with sharded arguments, which returns what the operation makes."""
    mesh = rng.choice(MESHES)
    module = parse(f"sdy.mesh @mesh = {mesh}\nfunc.func @main{case}", context)
    function = module.body.operations[1].operation
    block = function.regions[0].blocks[0]
    *_, operation, terminator = (view.operation for view in block.operations)
    results = list(operation.results)
    with context, terminator.location:
        ir.Operation.create("func.return", operands=results, ip=ir.InsertionPoint(terminator))
        terminator.erase()
        inputs = [argument.type for argument in block.arguments]
        function_type = ir.FunctionType.get(inputs, [result.type for result in results])
        function.attributes["function_type"] = ir.TypeAttr.get(function_type)
    for write, ends in (
        (values.set_argument_shardings, block.arguments),
        (values.set_result_shardings, results),
    ):
        shardings = {
            index: random_sharding(rng, values.rank_of(end.type), mesh, "mesh")
            for index, end in enumerate(ends)
            if rng.random() < 0.7
        }
        write(function, shardings)
    return module


def inputs_of(program: PartitionedProgram, rng: random.Random) -> list[np.ndarray]:
    """Whole numbers, so that sums are exact; of indices, some are out of bounds.

    Square matrices have large diagonals, so that they can be decomposed.
    """
    generator = np.random.default_rng(rng.randrange(1000))
    inputs: list[np.ndarray] = []
    for port in program.inputs:
        shape, dtype = port.spec.shape, port.spec.dtype
        least = {"i": -3, "u": 0}.get(dtype.kind, -4)
        numbers = generator.integers(least, 9 if dtype.kind == "i" else 5, shape)
        if len(shape) > 1 and shape[-1] == shape[-2]:
            numbers = numbers + 64 * np.eye(shape[-1], dtype=numbers.dtype)
        inputs.append(numbers.astype(dtype))
    return inputs


def check(context, family, rng: random.Random, backend: str) -> None:
    module = program_of(context, family(rng), rng)
    propagate(module)
    program = partition(module)
    inputs = inputs_of(program, rng)
    expected = run_unpartitioned(module, inputs, backend)
    results = program.run(inputs, backend)
    for output, found, wanted in zip(program.outputs, results, expected, strict=True):
        assert compare(found, wanted, output.spec).is_small, str(module)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_family(context, family):
    rng = random.Random(family.__name__)
    for _ in range(PER_FAMILY):
        check(context, family, rng, "interpreter")


@pytest.mark.parametrize("family", FAMILIES_OF_XLA, ids=lambda family: family.__name__)
def test_family_on_xla(context, family):
    rng = random.Random(family.__name__)
    for _ in range(PER_FAMILY_OF_XLA):
        check(context, family, rng, "xla")


@settings(max_examples=cases(100), deadline=None, derandomize=True)
@given(
    st.sampled_from(FAMILIES),
    st.integers(0, 10**9),
)
def test_drawn_programs(context, family, seed):
    """Operations of all families."""
    check(context, family, random.Random(seed), "interpreter")
