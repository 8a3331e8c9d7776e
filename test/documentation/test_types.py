# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A strict type checker accepts a user's program, and finds mistakes, by what the wheel brings."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy
import torch_mlir
import typing_extensions

import pyshardy

ROOT = Path(__file__).resolve().parents[2]
CODE = ROOT / "test" / "unit" / "typed_user_code.py"
MISTAKES = ROOT / "test" / "unit" / "typed_user_mistakes.py"
_MISTAKE = re.compile(r"# wrong: (\w+)$")


def user_environment(folder):
    """An environment with the package as installed and its dependencies, but without JAX."""
    python = f"python{sys.version_info.major}.{sys.version_info.minor}"
    site = folder / "env" / "lib" / python / "site-packages"
    site.mkdir(parents=True)
    (folder / "env" / "pyvenv.cfg").write_text("home = /usr/bin\n")
    package = Path(pyshardy.__file__).parent
    if package.parents[1] == ROOT:  # of this clone, as the wheel would have it
        (site / "mlir_sdy").symlink_to(ROOT / "dialect" / "mlir_sdy")
        (site / "torch_mlir-stubs").symlink_to(ROOT / "typings" / "torch_mlir")
    else:
        for name in ("mlir_sdy", "torch_mlir-stubs"):
            (site / name).symlink_to(package.parent / name)
    dependencies = (numpy.__path__, torch_mlir.__path__)
    folders = (package, *(Path(next(iter(path))) for path in dependencies))
    for path in (*folders, Path(typing_extensions.__file__)):
        (site / path.name).symlink_to(path)
    settings = {"typeCheckingMode": "strict", "venvPath": str(folder), "venv": "env"}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))


def lines(found):
    """The files and lines of diagnostics."""
    return {(file, line) for file, line, _ in found}


def test_user_code_and_its_mistakes(tmp_path):
    user_environment(tmp_path)
    for path in (CODE, MISTAKES):
        (tmp_path / path.name).write_text(path.read_text())
    command = [sys.executable, "-m", "pyright", "--outputjson"]
    process = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    found = {
        (Path(each["file"]).name, each["range"]["start"]["line"] + 1, each["rule"])
        for each in json.loads(process.stdout)["generalDiagnostics"]
    }
    expected = {
        (MISTAKES.name, number, wrong[1])
        for number, line in enumerate(MISTAKES.read_text().splitlines(), 1)
        if (wrong := _MISTAKE.search(line))
    }
    assert found >= expected
    assert lines(found) == lines(expected)
