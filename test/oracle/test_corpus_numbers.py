# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Real programs, partitioned, compute what they compute on one device.

XLA runs both, the partitioned one on eight virtual devices. Programs with manual computations have
no form for one device: they are compared with what XLA's own partitioner makes of them.
"""

import os
from pathlib import Path

import numpy as np
import pytest

from mlir_sdy.assembly import asm, parse
from mlir_sdy.host import ir
from pyshardy.api import propagate
from pyshardy.backends.comparison import compare, tolerance_within
from pyshardy.backends.groups import Layout
from pyshardy.backends.modules import copy_of
from pyshardy.backends.random_inputs import random_inputs
from pyshardy.backends.specs import Array
from pyshardy.backends.xla.program import XlaProgram, local_xla_program
from pyshardy.pipeline import run_pipeline
from pyshardy.program import PartitionedProgram, partition, run_unpartitioned

PROGRAMS = sorted((Path(__file__).parents[1] / "corpus" / "mlir").glob("*.mlir"))

NOT_RUNNABLE = {"custom_partitioning_rule"}
"""Calls back into the Python process that has traced it."""

TAKES_ROOTS = {"transformer_train_adam_fsdp"}
"""Second moments are among its inputs."""

INTERPRETED = os.environ.get("PYSHARDY_INTERPRET_CORPUS", "")
"""Programs that also run in lockstep by the reference interpreter: names, or `all`."""

ROUNDING = 1e-4
"""The relative difference that sums in another order explain, after the loops of the corpus."""


def inputs_of(program: PartitionedProgram, name: str) -> list[Array]:
    """Made-up inputs; none is negative where a program takes roots of them."""
    arrays = random_inputs([port.spec for port in program.inputs], seed=0)
    return list(map(np.abs, arrays)) if name in TAKES_ROOTS else arrays


def by_xla_partitioner(
    module: ir.Module, program: PartitionedProgram, inputs: list[Array]
) -> list[Array]:
    """The results of a program that XLA propagates and partitions itself.

    It lays arguments and results out as propagated, as ours are.
    """
    specs = [[port.local_spec for port in ports] for ports in (program.inputs, program.outputs)]
    layout = Layout(1, program.mesh.total_size)
    theirs = XlaProgram(asm(module), *specs, layout, partitioned_by_xla=True)
    return program.gather(theirs.run(program.scatter(inputs)))


@pytest.mark.parametrize(
    "path", [path for path in PROGRAMS if path.stem not in NOT_RUNNABLE], ids=lambda path: path.stem
)
def test_numbers(path, context):
    module = parse(path.read_text(), context)
    original = copy_of(module)
    propagate(module)
    program = partition(module)
    inputs = inputs_of(program, path.stem)
    if "sdy.manual_computation" in asm(original):
        expected = by_xla_partitioner(original, program, inputs)
    else:
        expected = run_unpartitioned(original, inputs, backend="xla")
    tolerance = max(tolerance_within(original), ROUNDING)
    backends = ["xla"]
    if INTERPRETED == "all" or path.stem in INTERPRETED.split(","):
        backends.append("interpreter")
    for backend in backends:
        found = program.run(inputs, backend)
        for port, ours, theirs in zip(program.outputs, found, expected, strict=True):
            assert np.isfinite(theirs).all(), port.name
            difference = compare(ours, theirs, port.spec, tolerance)
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
