#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run the quick tier of the tests: some tests of every part, in less than two minutes.

    make quick                       # in .venv
    ENVIRONMENT/bin/python tools/quick.py --processes=1 --most-cases=1

The tests need the package with its extra `test`, but not JAX, PyTorch, IREE and MPI; those of
automatic sharding run if there is its solver, too. They test the package that this Python imports,
which may be outside of this folder, and print its path.

With `--most-cases=1` they run one case of each test, enough for the differences between Pythons.
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

UNIT_TESTS = (
    "assembly",
    "backends/test_collectives.py",
    "backends/test_decompositions.py",
    "backends/test_interpreter.py",
    "backends/test_jit.py",
    "backends/test_lockstep.py",
    "cli/test_bad_input.py",
    "cli/test_completion.py",
    "cli/test_examples.py",
    "cli/test_flags.py",
    "cli/test_mlir_flags.py",
    "cli/test_opt.py",
    "cli/test_run.py",
    "cli/test_source_files.py",
    "cli/test_split_input.py",
    "cli/test_verify_diagnostics.py",
    "cli/test_version.py",
    "contracts",
    "explain/test_cost.py",
    "explain/test_what_if.py",
    "fold/test_canonicalize.py",
    "frontends/test_files.py",
    "model/test_axes.py",
    "model/test_axis_lists.py",
    "model/test_collectives.py",
    "model/test_editing.py",
    "model/test_rule_and_moves.py",
    "model/test_text.py",
    "partition/test_global_to_local.py",
    "partition/test_halo_forms.py",
    "partition/test_halo_window.py",
    "partition/test_padding.py",
    "partition/test_wrong_states.py",
    "passes",
    "pipeline/test_export_pipeline.py",
    "pipeline/test_plan.py",
    "pipeline/test_runner.py",
    "propagation",
    "rules/test_examples.py",
    "rules/test_loader.py",
    "rules/test_lookup.py",
    "rules/test_notation.py",
    "rules/test_soundness.py",
    "schedules",
    "shard",
    "test_attributes.py",
    "test_dialect.py",
    "test_ods.py",
    "test_program.py",
    "test_traversal.py",
    "test_values.py",
    "verify",
)
"""Tests in test/unit of every layer of the project, without slow searches for counterexamples."""

TOOL_TESTS = ("collectives", "sdy_opt")
"""Tests in test/lit."""


def _unit_tests(processes: int, most_cases: int | None) -> list[str]:
    paths = [f"test/unit/{name}" for name in UNIT_TESTS]
    if importlib.util.find_spec("highspy") is not None:  # of the extra auto
        paths.append("test/unit/auto")
    # Skipped tests are listed with their reasons.
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rs", *paths]
    if most_cases is not None:
        command.append(f"--most-cases={most_cases}")
    return [*command, "-n", str(processes)] if processes > 1 else command


def _tool_tests(processes: int) -> list[str]:
    # lit's entry point is a script beside the interpreter; its module has the same function.
    code = "import sys; from lit.main import main; sys.exit(main())"
    paths = [f"test/lit/{name}" for name in TOOL_TESTS]
    return [sys.executable, "-c", code, "-q", f"-j{processes}", *paths]


def main() -> int:
    """Run both kinds of tests; the exit status is 0 if all pass."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--processes", type=int, default=2, help="of the tests (default: 2)")
    parser.add_argument("--most-cases", type=int, help="run at most so many cases of each test")
    arguments = parser.parse_args()
    processes = arguments.processes
    package = importlib.util.find_spec("pyshardy")
    if package is None or package.origin is None:
        print("pyshardy isn't installed for this Python: run 'make setup'", file=sys.stderr)
        return 1
    print(f"Testing pyshardy {version('pyshardy')} in {Path(package.origin).parent}", flush=True)
    start = time.monotonic()
    unit_tests = _unit_tests(processes, arguments.most_cases)
    commands = [unit_tests, _tool_tests(processes)]
    statuses = [subprocess.run(each, cwd=ROOT, check=False).returncode for each in commands]
    seconds = time.monotonic() - start
    print(f"The quick tier {'failed' if any(statuses) else 'passed'} in {seconds:.0f} seconds")
    return 1 if any(statuses) else 0


if __name__ == "__main__":
    sys.exit(main())
