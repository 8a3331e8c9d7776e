#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Build the package and test it, as users install it, with every Python of this machine.

    make pythons

1. Build the sdist, and the wheel from it; check their metadata and that no module is missing.
2. For each working Python 3.10 to 3.13 (see `pythons.py`): install the wheel into an environment of
   its own, and there run the README's first command, `--version` of every tool, and one case of
   each test of the quick tier (`quick.py`). The quick tier runs with the oldest and the newest
   Python: `make unit` runs all tests with 3.11, and `make newest-jax` many with 3.12.
3. Print a table. It includes missing Pythons, and extras of the package that can't be installed
   with a Python.

It needs the packages `build` and `twine`, which the extra `dev` installs. The exit status is 0 when
nothing failed and Python 3.11, which the project is developed with, was there.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from packaging.requirements import Requirement

import environments
from environments import CommandFailed
from pyshardy.toml import loads
from pythons import Version, find_pythons

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "pythons"
SUPPORTED: tuple[Version, ...] = ((3, 10), (3, 11), (3, 12), (3, 13))
REQUIRED: Version = (3, 11)
TOOLS = (
    *("sdy-auto", "sdy-calibrate", "sdy-explain", "sdy-lsp"),
    *("sdy-mcp", "sdy-mpmd", "sdy-opt", "sdy-run", "sdy-translate"),
)
EXAMPLE = ("sdy-run", "examples/transformer_block.mlir")  # what examples/run.sh runs
EXTRAS_OF_USERS = ("jax", "torch", "iree", "mpi", "lsp", "mcp")
LIMIT_OF_QUICK = 120  # seconds


class CheckFailed(Exception):
    """A check failed; the message contains the check and the reason."""


@dataclass
class Report:
    """The findings with one Python.

    Attributes:
        python: the version.
        results: the text for each column of the table.
        failure: the failed command with its output, or empty.
        missing_extras: the reason for each extra that can't be installed.
    """

    python: Version
    results: dict[str, str] = field(default_factory=dict[str, str])
    failure: str = ""
    missing_extras: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def name(self) -> str:
        """The version as text."""
        return ".".join(map(str, self.python))


def run(command: Sequence[str | Path], environment: Mapping[str, str] | None = None) -> str:
    """Return the output of a command.

    Raises:
        CheckFailed: its status isn't 0.
    """
    ran = subprocess.run(
        [str(word) for word in command],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if ran.returncode:
        words = " ".join(map(str, command))
        raise CheckFailed(f"{words}\nended with status {ran.returncode}:\n{ran.stdout[-4000:]}")
    return ran.stdout


def build() -> Path:
    """Return the wheel, built from the sdist and checked.

    Raises:
        CheckFailed: a check failed.
    """
    shutil.rmtree(FOLDER, ignore_errors=True)
    distributions = FOLDER / "dist"
    run([sys.executable, "-m", "build", "--outdir", distributions, ROOT])
    (wheel,), (sdist,) = distributions.glob("*.whl"), distributions.glob("*.tar.gz")
    run([sys.executable, "-m", "twine", "check", "--strict", wheel, sdist])
    held = set(zipfile.ZipFile(wheel).namelist())
    expected = {
        str(path.relative_to(root))
        for root in (ROOT / "dialect", ROOT / "python")
        for path in root.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    if missing := sorted(expected - held):
        raise CheckFailed(f"the wheel lacks {', '.join(missing)}")
    return wheel


def check(python: Version, interpreter: Path, wheel: Path, *, is_end: bool) -> Report:
    """Install the wheel for one Python, and test it.

    Args:
        python: its version.
        interpreter: its path.
        wheel: the wheel to install.
        is_end: whether it is the oldest or the newest one.
    """
    report = Report(python)
    folder = FOLDER / report.name
    scripts = folder / "bin"
    # No other copy of the package or of the tools may be found first.
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    own["PATH"] = f"{scripts}{os.pathsep}{own.get('PATH', os.defpath)}"

    def install() -> str:
        environments.make(interpreter, folder)
        environments.install(scripts / "python", f"{wheel}[auto,test]")
        return ""

    def example() -> str:
        said = run([scripts / EXAMPLE[0], *EXAMPLE[1:]], own)
        if "OK: the results match those of the unpartitioned program" not in said:
            raise CheckFailed(f"the example doesn't say that it is right:\n{said}")
        return ""

    def versions() -> str:
        for tool in TOOLS:
            said = run([scripts / tool, "--version"], own)
            if not said.startswith(f"{tool}, pyshardy ") or f"\nPython {report.name}." not in said:
                raise CheckFailed(f"{tool} --version says:\n{said}")
        return ""

    def quick() -> str:
        start = time.monotonic()
        said = run([scripts / "python", "tools/quick.py", "--processes=1", "--most-cases=1"], own)
        if str(folder) not in said.partition("\n")[0]:
            raise CheckFailed(f"the tests ran with another copy of the package:\n{said[:500]}")
        seconds = time.monotonic() - start
        counts = re.findall(r"(\d+ (?:passed|skipped)[^\n]*) in ", said)
        if seconds > LIMIT_OF_QUICK:
            print(f"Python {report.name}: the quick tier took {seconds:.0f} s", flush=True)
        return ", ".join(counts)

    steps: dict[str, Callable[[], str]] = {
        "install": install,
        "example": example,
        "--version": versions,
    }
    if is_end and python != sys.version_info[:2]:
        steps["quick tier"] = quick
    try:
        for name, step in steps.items():
            start = time.monotonic()
            details = step()
            seconds = f"{time.monotonic() - start:.0f} s"
            report.results[name] = f"ok, {details + ', ' if details else ''}{seconds}"
        report.missing_extras = missing_extras(scripts / "python")
    except (CheckFailed, CommandFailed) as failure:
        report.results[name] = "FAILED"
        report.failure = str(failure)
    return report


def missing_extras(python: Path) -> dict[str, str]:
    """Return the reason for each extra that can't be installed with a Python."""
    project = loads((ROOT / "pyproject.toml").read_text())["project"]
    missing: dict[str, str] = {}
    for extra in EXTRAS_OF_USERS:
        wanted = project["optional-dependencies"][extra]
        try:
            environments.install(python, "--dry-run", "--no-deps", *wanted)
        except CommandFailed as refusal:
            missing[extra] = _reason(refusal.output, wanted)
    return missing


def _reason(said: str, requirements: Sequence[str]) -> str:
    """Return why uv finds no versions that satisfy some requirements."""
    for requirement in map(Requirement, requirements):
        pythons = re.findall(rf"\b{requirement.name}\S+ depends on Python(>=[\d.]+)", said)
        if pythons:
            return f"{requirement} needs Python {min(pythons, key=_numbers)}"
    return " ".join(said.split())


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]


def table(reports: Mapping[Version, Report]) -> str:
    """Return the table, a line for each Python and for every extra that can't be installed."""
    lines: list[str] = []
    for version in SUPPORTED:
        name = ".".join(map(str, version))
        report = reports.get(version)
        if report is None:
            lines.append(f"Python {name}: not run: no Python {name} on the PATH or among pyenv's")
            continue
        results = "; ".join(f"{step} {result}" for step, result in report.results.items())
        lines.append(f"Python {name}: {results}")
        lines += [
            f"Python {name}: extra '{extra}' is not available: {reason}"
            for extra, reason in report.missing_extras.items()
        ]
    return "\n".join(lines)


def main() -> int:
    """Build, test, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=2, help="Pythons at a time (default: 2)")
    parser.add_argument("--keep", action="store_true", help="leave the environments there")
    arguments = parser.parse_args()
    found = find_pythons()
    pythons = {version: found[version] for version in SUPPORTED if version in found}
    try:
        wheel = build()
    except CheckFailed as failure:
        print(failure, file=sys.stderr)
        return 1
    print(f"Built and checked {wheel.name} and the sdist", flush=True)
    with ThreadPoolExecutor(arguments.jobs) as pool:
        checks = [
            pool.submit(check, version, path, wheel, is_end=version in (min(pythons), max(pythons)))
            for version, path in sorted(pythons.items(), reverse=True)  # the longest first
        ]
        reports = {report.python: report for report in (each.result() for each in checks)}
    for report in reports.values():
        if report.failure:
            print(f"\nPython {report.name}: {report.failure}", file=sys.stderr)
    print(table(reports))
    if not arguments.keep:
        for report in reports.values():
            shutil.rmtree(FOLDER / report.name, ignore_errors=True)
    if REQUIRED not in reports:
        print(f"Python {'.'.join(map(str, REQUIRED))} is required here", file=sys.stderr)
        return 1
    return 1 if any(report.failure for report in reports.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
