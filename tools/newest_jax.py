#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run the tests of the front ends and of the XLA backend with the newest JAX of the tested range.

    make newest-jax                       # without PyTorch
    python tools/newest_jax.py --torch    # with the newest PyTorch of the range, too

The project is developed with Python 3.11, for which jax 0.10.2 is the newest. This makes an
environment in build/newest-jax with the oldest Python from 3.12 on and the newest JAX that
pyproject.toml admits, and runs the tests there. Without such a Python it only prints a message.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import environments
from pythons import find_pythons

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = ROOT / "build" / "newest-jax"
OLDEST = (3, 12)
MOST_CASES = 6
"""The cases of each test: `make unit` runs more of them, with another JAX."""

TESTS = (
    "test/numerics/test_backends.py",
    "test/numerics/test_corpus_numbers.py",
    "test/frontends/test_dynamic_sizes.py",
    "test/frontends/test_frontend_examples.py",
    "test/frontends/test_frontend_files.py",
    "test/frontends/test_frontend_jax.py",
    "test/frontends/test_frontend_torch.py",
    "test/frontends/test_jax_meshes.py",
    "test/frontends/test_llama_advice.py",
    "test/numerics/test_sharded_arrays.py",
    "test/numerics/test_xla.py",
    "test/unit/backends/test_child_process.py",
    "test/unit/backends/test_custom_calls.py",
    "test/unit/backends/test_distribution.py",
    "test/unit/backends/test_effects.py",
    "test/unit/backends/test_unsharded.py",
    "test/unit/frontends",
)
WITH_TORCH = (
    "test/frontends/test_frontend_torch.py",
    "test/frontends/test_frontend_examples.py::test_output[torch_transformer.py]",
    "test/frontends/test_frontend_examples.py::test_output[train_gpt_torch.py]",
)
"""The tests that need PyTorch. Its wheels for Linux on the Python index bring gigabytes for GPUs,
so that it is installed only if asked for; the tests run if it is there."""


def environment(python: Path, folder: Path, *, torch: bool = False) -> Path:
    """Return the interpreter of a new environment with the project and the newest JAX.

    Args:
        python: the interpreter to create it with.
        folder: its folder.
        torch: whether to install the newest PyTorch of the range, too.
    """
    interpreter = environments.make(python, folder)
    extras = "iree,jax,mpi,test,torch" if torch else "iree,jax,mpi,test"
    environments.install(interpreter, "-e", f"{ROOT}[{extras}]")
    return interpreter


def installed(interpreter: Path, names: Sequence[str]) -> dict[str, str]:
    """Return the versions of those packages that an environment has."""
    code = (
        "import importlib.metadata as m, json;"
        "print(json.dumps({d.name: d.version for d in m.distributions()}))"
    )
    said = subprocess.run([interpreter, "-c", code], check=True, capture_output=True, text=True)
    versions: dict[str, str] = json.loads(said.stdout)
    return {name: versions[name] for name in names if name in versions}


def main() -> int:
    """Run the tests; the exit status is that of pytest."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--processes", type=int, default=2, help="of the tests (default: 2)")
    parser.add_argument(
        "--torch", action="store_true", help="install PyTorch there, too: several GB on Linux"
    )
    parser.add_argument("--folder", type=Path, default=ENVIRONMENT, help="the environment")
    arguments = parser.parse_args()
    suitable = {version: path for version, path in find_pythons().items() if version >= OLDEST}
    if not suitable:
        print("The tests with the newest JAX: not run: no Python 3.12")
        return 0
    version = min(suitable)
    interpreter = environment(suitable[version], arguments.folder, torch=arguments.torch)
    versions = installed(interpreter, ("jax", "jaxlib", "torch"))
    named = [f"{name} {number}" for name, number in versions.items()]
    print(f"Testing on Python {version[0]}.{version[1]} with {', '.join(named)}", flush=True)
    left_out: list[str] = []
    if "torch" not in versions:
        left_out = [f"--deselect={test}" for test in WITH_TORCH]
        print(f"Not run, since PyTorch isn't installed there: {', '.join(WITH_TORCH)}", flush=True)
    chosen = [test for test in TESTS if f"--deselect={test}" not in left_out]
    options = ["-p", "no:cacheprovider", "-rs", f"--most-cases={MOST_CASES}"]
    command = [interpreter, "-m", "pytest", *options, *left_out, *chosen]
    # The other engines are independent of JAX.
    variables = {**os.environ, "PYSHARDY_CORPUS_BACKENDS": "xla"}
    return subprocess.run(
        [*command, "-n", str(arguments.processes)], cwd=ROOT, env=variables, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
