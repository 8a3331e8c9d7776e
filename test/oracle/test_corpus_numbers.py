# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Real programs, partitioned, compute what they compute on one device.

XLA runs them on virtual devices, and the JIT compiler of the host in lockstep.
"""

import os

import numpy as np
import pytest
from corpus_programs import NOT_RUNNABLE, PROGRAMS, ROUNDING, CorpusProgram, inputs_of

from mlir_sdy.assembly import parse
from mlir_sdy.diagnostics import collect
from pyshardy.api import propagate
from pyshardy.backends import CompileOptions
from pyshardy.backends.comparison import compare
from pyshardy.backends.groups import Layout
from pyshardy.backends.xla.program import local_xla_program
from pyshardy.pipeline import run_pipeline
from pyshardy.program import partition

FAST_TO_COMPILE = CompileOptions(optimization=0)

INTERPRETED = os.environ.get("PYSHARDY_INTERPRET_CORPUS", "")
"""Programs that also run in lockstep by the reference interpreter: names, or `all`."""


@pytest.mark.parametrize(
    "path", [path for path in PROGRAMS if path.stem not in NOT_RUNNABLE], ids=lambda path: path.stem
)
def test_numbers(path, context):
    corpus = CorpusProgram(path, context)
    expected = corpus.expected()
    backends = ["xla", "jit"]
    if INTERPRETED == "all" or path.stem in INTERPRETED.split(","):
        backends.append("interpreter")
    for port, array in zip(corpus.program.outputs, expected, strict=True):
        assert np.isfinite(array).all(), port.name
    for backend in backends:
        with collect() as warnings:
            found = corpus.program.run(corpus.inputs, backend, FAST_TO_COMPILE)
        assert not warnings, "another engine has run a part"
        for port, difference in zip(
            corpus.program.outputs, corpus.differences(found, expected), strict=True
        ):
            assert difference.is_small, (backend, port.name, difference)


@pytest.mark.parametrize("name", ["transformer_train_sgd", "statistics"])
def test_numbers_of_combined_collectives(name, context):
    """As replicas of one program: XLA's partitioner lets only single all-reduces through."""
    module = parse((PROGRAMS[0].parent / f"{name}.mlir").read_text(), context)
    propagate(module)
    plain, combined = partition(module), partition(module, combine_collectives=True)
    kinds = [[one.kind for one in program.collectives] for program in (plain, combined)]
    assert len(kinds[1]) < len(kinds[0])
    sent = [sum(one.nbytes_sent for one in program.collectives) for program in (plain, combined)]
    assert abs(sent[0] - sent[1]) <= len(kinds[0])  # rounded up for each
    inputs = inputs_of(plain, name)
    layout = Layout(plain.mesh.total_size, 1)
    run_pipeline(
        module,
        f"sdy-partition-pipeline{{combine-collectives=true replica-count={layout.size}}}",
    )
    replicas = local_xla_program(module, layout)
    found, expected = plain.gather(replicas.run(plain.scatter(inputs))), plain.run(inputs, "xla")
    for port, ours, wanted in zip(plain.outputs, found, expected, strict=True):
        assert compare(ours, wanted, port.spec, ROUNDING).is_small, port.name


@pytest.mark.parametrize("name", sorted(NOT_RUNNABLE))
def test_partitions(name, context):
    module = parse((PROGRAMS[0].parent / f"{name}.mlir").read_text(), context)
    propagate(module)
    program = partition(module)
    assert any(port.local_spec != port.spec for port in program.outputs)
