# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Jobs of MPI processes."""

import shutil
import subprocess
import sys
from pathlib import Path


def find_mpiexec():
    """The command beside this Python, or the first one on the search path."""
    beside = Path(sys.executable).parent / "mpiexec"
    return str(beside) if beside.exists() else shutil.which("mpiexec")


MPIEXEC = find_mpiexec()


def mpi_job(processes, *command):
    """Run a script, or Python with other arguments, in each of several processes."""
    return subprocess.run(
        [MPIEXEC, "-n", str(processes), sys.executable, *map(str, command)],
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
