#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run the tests of the front ends and of the XLA backend with the newest JAX of the tested range.

    make newest-jax

The project is developed with Python 3.11, for which jax 0.10.2 is the newest. This makes an
environment in build/newest-jax with the oldest Python from 3.12 on and the newest JAX that
pyproject.toml admits, and runs the tests there. Without such a Python it says so and does nothing.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from pythons import find_pythons

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = ROOT / "build" / "newest-jax"
OLDEST = (3, 12)

TESTS = (
    "test/oracle/test_backends.py",
    "test/oracle/test_corpus_numbers.py",
    "test/oracle/test_frontend_examples.py",
    "test/oracle/test_frontend_files.py",
    "test/oracle/test_frontend_jax.py",
    "test/oracle/test_frontend_torch.py",
    "test/oracle/test_sharded_arrays.py",
    "test/oracle/test_xla.py",
    "test/unit/backends",
    "test/unit/frontends",
)
WITH_TORCH = (
    "test/oracle/test_frontend_torch.py",
    "test/oracle/test_frontend_examples.py::test_output[torch_transformer.py]",
)
"""The tests that need PyTorch. Its wheels for Linux on the Python index bring gigabytes for GPUs,
so that it isn't installed here; they run if it is."""


def environment(python: Path, folder: Path) -> Path:
    """Return the interpreter of an environment with the project and the newest JAX.

    Args:
        python: what to make it with.
        folder: where. It is brought up to date if it is there already.
    """
    interpreter = folder / "bin" / "python"
    if not interpreter.exists():
        subprocess.run([python, "-m", "venv", folder], check=True)
    pip = [interpreter, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    project = [*pip, "--upgrade", "--upgrade-strategy=eager", "-e", f"{ROOT}[iree,jax,mpi,test]"]
    subprocess.run(project, check=True)
    return interpreter


def main() -> int:
    """Run the tests; the exit status is that of pytest."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--processes", type=int, default=2, help="of the tests (default: 2)")
    parser.add_argument("--folder", type=Path, default=ENVIRONMENT, help="the environment")
    arguments = parser.parse_args()
    suitable = {version: path for version, path in find_pythons().items() if version >= OLDEST}
    if not suitable:
        print("The tests with the newest JAX: not run: no Python 3.12")
        return 0
    interpreter = environment(suitable[min(suitable)], arguments.folder)
    versions = "import jax, platform; print('Testing with jax', jax.__version__, 'on Python',"
    subprocess.run([interpreter, "-c", f"{versions} platform.python_version())"], check=True)
    left_out: list[str] = []
    has_torch = subprocess.run(
        [interpreter, "-c", "import torch"], capture_output=True, check=False
    )
    if has_torch.returncode:
        left_out = [f"--deselect={test}" for test in WITH_TORCH]
        print(f"Not run, since PyTorch isn't installed there: {', '.join(WITH_TORCH)}", flush=True)
    chosen = [test for test in TESTS if f"--deselect={test}" not in left_out]
    command = [interpreter, "-m", "pytest", "-p", "no:cacheprovider", "-rs", *left_out, *chosen]
    # The other engines don't depend on JAX.
    variables = {**os.environ, "PYSHARDY_CORPUS_BACKENDS": "xla"}
    return subprocess.run(
        [*command, "-n", str(arguments.processes)], cwd=ROOT, env=variables, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
