#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Execute the notebooks of the documentation: write their outputs, and the pages of the site.

    python tools/run_notebook.py           # write the files
    python tools/run_notebook.py --check   # fail if an output has changed

The cells of each notebook in docs/notebooks are executed in a session of IPython. Their outputs are
written into the notebook, and with the text into the page of the same name.

A notebook with `"outputs_vary": true` in its metadata has outputs that depend on the release of a
library: `--check` executes it, and compares only its page with the outputs that it has.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

from IPython.core.displayhook import CapturingDisplayHook
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from generated_files import write_or_check

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = ROOT / "docs" / "notebooks"

_FORMATS = ("text/html", "image/svg+xml", "text/plain")
"""The formats of results that are kept; the page shows the first one that a result has."""

_CELL = re.compile(r"(?:<|&lt;)ipython-input-[^>&]*(?:>|&gt;)")
"""The name of a cell in source locations, which has a number of the session."""

Cell = dict[str, Any]


def executed(cells: list[Cell]) -> list[Cell]:
    """Return the cells with their outputs.

    Raises:
        RuntimeError: a cell raised an exception.
    """
    shell = InteractiveShell.instance()
    shell.reset(new_session=True)
    done: list[Cell] = []
    for cell in cells:
        if cell["cell_type"] != "code":
            done.append(cell)
            continue
        shown: list[dict[str, Any]] = []
        shell.display_trap.hook = CapturingDisplayHook(shell=shell, outputs=shown)
        with capture_output(display=False) as captured:
            result = shell.run_cell("".join(cell["source"]))
        if not result.success:
            raise RuntimeError(f"a cell failed: {result.error_in_exec or result.error_before_exec}")
        outputs: list[dict[str, Any]] = []
        if captured.stdout:
            text = _CELL.sub("cell", captured.stdout).splitlines(keepends=True)
            outputs.append({"output_type": "stream", "name": "stdout", "text": text})
        for each in shown:
            data = {
                kind: _CELL.sub("cell", each["data"][kind]).splitlines(keepends=True)
                for kind in _FORMATS
                if kind in each["data"]
            }
            outputs.append({"output_type": "display_data", "data": data, "metadata": {}})
        done.append({**cell, "outputs": outputs, "execution_count": None})
    return done


def page(cells: list[Cell]) -> str:
    """Return the notebook as Markdown, with HTML for tables and pictures."""
    parts: list[str] = []
    for cell in cells:
        source = "".join(cell["source"]).strip()
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```py\n{source}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {"text/plain": output.get("text", [])})
            kind = next(kind for kind in _FORMATS if kind in data)
            text = "".join(data[kind]).strip()
            if kind == "text/plain":
                parts.append(f"```text\n{text}\n```")
            else:
                # A blank line would end the HTML.
                flat = "\n".join(line for line in text.splitlines() if line.strip())
                parts.append(f'<div class="notebook-output">{flat}</div>')
    return "\n\n".join(parts) + "\n"


def main() -> int:
    """Run the command line, and return the exit status."""
    parser = argparse.ArgumentParser(description="Execute the notebooks of the documentation.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if one differs")
    check = parser.parse_args().check
    files: dict[Path, str] = {}
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        cells = executed(notebook["cells"])
        if check and notebook["metadata"].get("outputs_vary"):
            cells = notebook["cells"]
        text = json.dumps({**notebook, "cells": cells}, indent=1, ensure_ascii=False)
        files[path] = f"{text}\n"
        files[path.with_suffix(".md")] = page(cells)
    return write_or_check(files, check=check, tool="run_notebook.py")


if __name__ == "__main__":
    sys.exit(main())
