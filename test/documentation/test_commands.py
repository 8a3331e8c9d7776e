# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The commands of the README and of the documentation work in an empty folder with the examples.

Blocks that are marked as `bash` are executed, those of a page one after another. Transcripts are
marked as `console`. Commands that install the package or run all tests are left to .ci/run.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pyshardy.cli.examples import copy_examples

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    *(path for path in sorted((ROOT / "docs").rglob("*.md")) if path.parent.name != "reference"),
]
_BLOCK = re.compile(r"^( *)```bash\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_INSTALLS = re.compile(r"^(?:pip install|make|bash) ")


def script(page):
    """The commands of a page without those that install something."""
    lines = []
    for indent, block in _BLOCK.findall(page.read_text(encoding="utf-8")):
        lines += [line.removeprefix(indent) for line in block.splitlines()]
    return [line for line in lines if not _INSTALLS.match(line)]


SCRIPTS = {str(page.relative_to(ROOT)): script(page) for page in PAGES}


@pytest.mark.parametrize("page", [page for page, lines in SCRIPTS.items() if lines])
def test_commands_work(page, tmp_path):
    """Exit with an error at the first command that fails."""
    lines = SCRIPTS[page]
    if "python -m pyshardy examples" not in "\n".join(lines):
        copy_examples(tmp_path / "examples")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ran = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(lines)],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert ran.returncode == 0, f"{ran.stdout[-2000:]}\n{ran.stderr[-2000:]}"
    assert "Traceback" not in ran.stderr


def test_blocks_are_found():
    assert sum(len(lines) for lines in SCRIPTS.values()) >= 25
    assert all(SCRIPTS[page] for page in ("README.md", "docs/index.md", "docs/guide/cost.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_are_in_blocks_that_are_executed(page):
    """An indented block with a tool would be shown, but not run."""
    shown = re.findall(
        r"^    ((?:sdy-|python ).*)$", page.read_text(encoding="utf-8"), re.MULTILINE
    )
    blocks = "".join(block for _, block in _BLOCK.findall(page.read_text(encoding="utf-8")))
    assert [line for line in shown if line not in blocks] == []
