# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples of front ends run, and print what the guide shows."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "guide" / "frontends.md"
_SHOWN = re.compile(
    r"\[examples/(?P<name>\w+\.py)\]\(\.\./\.\./examples/(?P=name)\)[^`]*(?:`[^`\n]+`[^`]*)*"
    r"```text\n(?P<output>.*?)```",
    re.DOTALL,
)
EXAMPLES = {match["name"]: match["output"] for match in _SHOWN.finditer(GUIDE.read_text())}
TIMEOUT = 240


def test_all_examples_are_shown():
    patterns = ("jax_*.py", "torch_*.py", "files_*.py", "two_processes.py")
    there = {path.name for pattern in patterns for path in (ROOT / "examples").glob(pattern)}
    assert set(EXAMPLES) == there


@pytest.mark.parametrize("name", EXAMPLES)
def test_output(name):
    process = subprocess.run(
        [sys.executable, str(ROOT / "examples" / name)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    assert process.stdout == EXAMPLES[name]
