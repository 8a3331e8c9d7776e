# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs annotated with the shard dialect are propagated, partitioned and run."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mlir_sdy.assembly import parse
from pyshardy.api import propagate
from pyshardy.pipeline import run_pipeline
from pyshardy.program import partition, run_unpartitioned

EXAMPLES = Path(__file__).parents[2] / "examples"
PROGRAMS = EXAMPLES / "shard_programs"


def numbers(program, seed=0):
    """Small whole numbers, of which sums are exact."""
    rng = np.random.default_rng(seed)
    return [rng.integers(-2, 3, port.spec.shape).astype(np.float32) for port in program.inputs]


def partitioned(name, context):
    module = parse((PROGRAMS / name).read_text(), context, name)
    run_pipeline(module, "convert-shard-to-sdy")
    propagate(module)
    return module, partition(module)


@pytest.mark.parametrize("backend", ["interpreter", "xla"])
def test_matmul_chain(backend, context):
    module, program = partitioned("matmul_chain.mlir", context)
    assert [port.local_spec.shape for port in program.inputs] == [(2, 6), (6, 4), (4, 6)]
    assert program.outputs[0].local_spec.shape == (2, 6)
    assert len(program.collectives) > 1
    a, b, c = numbers(program)
    (found,) = program.run([a, b, c], backend)
    np.testing.assert_array_equal(found, a @ b @ c)
    np.testing.assert_array_equal(found, run_unpartitioned(module, [a, b, c])[0])


@pytest.mark.parametrize("backend", ["interpreter", "xla"])
def test_mlp(backend, context):
    _, program = partitioned("mlp.mlir", context)
    assert [(one.kind, one.axes) for one in program.collectives] == [("all_reduce", ("model",))]
    x, w1, b1, w2 = numbers(program)
    (found,) = program.run([x, w1, b1, w2], backend)
    np.testing.assert_allclose(found, np.tanh(x @ w1 + b1) @ w2, atol=1e-4)


def test_example():
    done = subprocess.run(
        [sys.executable, EXAMPLES / "shard_mlp.py"], capture_output=True, text=True, check=True
    )
    assert 'tensor<16x32xf32> <@devices, [{}, {"model"}]> -> tensor<16x8xf32>' in done.stdout
    assert done.stdout.endswith("The numbers are those of NumPy.\n")
