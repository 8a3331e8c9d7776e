# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs on MPI: several processes, each with the host's compiler and the MPI library."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from mpi_jobs import MPIEXEC
from mpi_jobs import mpi_job as run

from pyshardy.cost.hardware import load_hardware

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"


pytestmark = pytest.mark.skipif(MPIEXEC is None, reason="MPI is not installed: pip install mpich")


def test_collectives_and_partitioned_programs():
    done = run(4, HERE.parent / "support" / "shard_mpi_worker.py")
    assert done.returncode == 0, done.stderr
    right = [line for line in done.stdout.splitlines() if line.startswith("right: ")]
    assert len(right) == 21


def test_example():
    done = run(6, EXAMPLES / "mpi_matmul_chain.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("The numbers are those of NumPy.") == 1


def test_another_number_of_processes():
    done = run(2, EXAMPLES / "mpi_matmul_chain.py")
    assert done.returncode != 0
    assert "the program is for 6 devices, but 2 processes run it: start it by 'mpiexec -n 6" in (
        done.stderr
    )


def test_a_library_that_is_not_there():
    program = "from pyshardy.backends.mpi_library import mpi_library; mpi_library()"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYSHARDY_MPI_LIBRARY": "/nowhere/libmpi.so"},
    )
    assert "the MPI library can't be loaded: /nowhere/libmpi.so" in done.stderr
    assert "[mpi]'; or set PYSHARDY_MPI_LIBRARY" in done.stderr


def test_measured_processes(tmp_path):
    """`sdy-calibrate` measures what it can in the time; the first process writes."""
    hardware = tmp_path / "mpi.toml"
    flags = ("--backend=mpi", "--mesh=x:2", "--seconds=2", f"-o={hardware}")
    command = [MPIEXEC, "-n", "2", sys.executable, "-m", "pyshardy.cli.calibrate"]
    done = subprocess.run(
        [*command, *flags], capture_output=True, text=True, check=False, timeout=500
    )
    assert done.returncode == 0, done.stderr
    assert load_hardware(str(hardware)).origin.devices.startswith("2 MPI processes")
    done = subprocess.run(
        [*command, "--backend=mpi", "--mesh=x:3"],
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert (
        "the mesh x:3 is of 3 devices, but 2 processes measure: start it by 'mpiexec -n 3 sdy"
        in (done.stderr)
    )
