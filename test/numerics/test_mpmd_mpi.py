# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MPMD programs whose meshes are the processes of an MPI job."""

import time
from pathlib import Path

import numpy as np
import pytest
from case_counts import cases, spread
from mpi_jobs import MPIEXEC, mpi_job
from mpmd_models import FLAT, decoder, products

from mlir_sdy.assembly import asm
from pyshardy.backends.arrays.comparison import with_last_places_moved
from pyshardy.mpmd.reference import without_names
from pyshardy.program import compile_unpartitioned

WORKER = Path(__file__).parents[1] / "support" / "mpmd_mpi_worker.py"
pytestmark = pytest.mark.skipif(MPIEXEC is None, reason="MPI is not installed: pip install mpich")


def folder_of(path, shapes, model=None):
    """Write a step for workers, that of products by default, with inputs and results.

    The results are those of XLA, also for inputs with their last places moved.
    """
    layers = len(shapes)
    model = model or products(layers)
    module = model.trace(shapes, layers=layers)
    (path / "step.mlir").write_text(asm(module))
    run = compile_unpartitioned(without_names(module), "xla")
    for name, arrays in (
        ("inputs", model.flat),
        ("expected", run(model.flat)),
        ("moved", run(with_last_places_moved(model.flat))),
    ):
        np.savez(path / f"{name}.npz", **{f"array{at:03}": each for at, each in enumerate(arrays)})
    return path


SHAPES = {"small": [(1, 2)] * 2, "pair": [(2, 2)] * 2, "line": [(1, 2)] * 4}


@pytest.mark.parametrize("shapes", spread(list(SHAPES), 1))
def test_schedules_orders_steps_and_failures(tmp_path, shapes):
    count = sum(a * b for a, b in SHAPES[shapes])
    size = count // len(SHAPES[shapes])
    schedules = spread(FLAT, 1)
    checks = f"schedules={','.join(schedules)}", f"orders={min(50, cases(3))}", "loop=2"
    checks = (
        *checks,
        "mismatch=3",
        "failure=" + "+".join(map(str, range(size, 2 * size))),
    )  # all of m1
    done = mpi_job(count, WORKER, folder_of(tmp_path, SHAPES[shapes]), *checks)
    assert done.returncode == 0, done.stderr
    found = [line for line in done.stdout.splitlines() if line.startswith("right: ")]
    assert len(found) == len(schedules) + min(50, cases(3)) + 3


@pytest.mark.parametrize("shapes", spread(list(SHAPES), 1))
def test_a_decoder(tmp_path, shapes):
    """A step of AdamW of a decoder computes the numbers of the unpartitioned step."""
    count, layers = sum(a * b for a, b in SHAPES[shapes]), len(SHAPES[shapes])
    size = {"width": 16, "heads": 2, "hidden": 32, "words": 16, "tokens": 8, "batch": 4}
    folder = folder_of(tmp_path, SHAPES[shapes], decoder(layers, microbatches=2, **size))
    schedules = spread(FLAT[1:], 1)
    done = mpi_job(count, WORKER, folder, f"schedules={','.join(schedules)}")
    assert done.returncode == 0, done.stderr
    found = [line for line in done.stdout.splitlines() if line.startswith("right: ")]
    assert len(found) == len(schedules)


def test_failure_of_a_process_that_others_wait_for(tmp_path):
    start = time.monotonic()
    done = mpi_job(4, WORKER, folder_of(tmp_path, SHAPES["small"]), "failure=2")
    assert time.monotonic() - start < 60
    assert done.returncode != 0
    assert done.stderr.count("in microbatch 2 failed: the fuse is blown") == 1
    assert "right: " not in done.stdout


TOOL = ("-m", "pyshardy", "mpmd", "--backend=mpi", "--schedule=gpipe")


def test_the_tool(tmp_path):
    folder = folder_of(tmp_path, SHAPES["small"])
    done = mpi_job(4, *TOOL, folder / "step.mlir")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("2 meshes, 16 fragments") == 1
    assert done.stderr.splitlines() == [
        "compiling and running 10 programs ...",
        "compiling and running the unpartitioned program; --no-check leaves this out ...",
    ]
    done = mpi_job(2, *TOOL, folder / "step.mlir")
    assert done.returncode != 0
    assert done.stderr.count("error: the meshes of the program have 4 devices, but 2") == 1
