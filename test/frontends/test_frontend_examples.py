# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples of front ends run, and print what the guide shows."""

import os
import re
import runpy
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GUIDES = [ROOT / "docs" / "guide" / f"{name}.md" for name in ("frontends", "pytorch_training")]
_SHOWN = re.compile(
    r"`examples/(?P<name>\w+\.py)`[^`]*(?:`[^`\n]+`[^`]*)*"
    r"```text\n(?P<output>.*?)```",
    re.DOTALL,
)
EXAMPLES = {
    match["name"]: match["output"]
    for guide in GUIDES
    for match in _SHOWN.finditer(guide.read_text())
}
TIMEOUT = 500


def test_all_examples_are_shown():
    patterns = ("jax_*.py", "torch_*.py", "train_*.py", "files_*.py", "two_processes.py")
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


def test_one_process_that_fails_ends_the_others(tmp_path, monkeypatch):
    fails_as_second = tmp_path / "python"
    fails_as_second.write_text(
        '#!/bin/sh\n[ "$3" = 1 ] && exit 3\necho $$ > first\nexec sleep 600\n'
    )
    fails_as_second.chmod(0o755)
    example = runpy.run_path(str(ROOT / "examples" / "two_processes.py"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "executable", str(fails_as_second))
    start = time.monotonic()
    assert example["main"]() == 1
    assert time.monotonic() - start < 300  # seconds, of 600
    first = int((tmp_path / "first").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)
