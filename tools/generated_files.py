# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writing of generated files, and the check that they are up to date."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def write_or_check(files: Mapping[Path, str], *, check: bool, tool: str) -> int:
    """Write the files that differ, or only list them, and return the exit status.

    Args:
        files: the text of each file.
        check: whether to write nothing, and to fail if files differ.
        tool: the script that generates the files, for the message.
    """
    stale = [
        path
        for path, text in files.items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    for path in stale:
        print(path.relative_to(ROOT))
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(files[path], encoding="utf-8")
    if check and stale:
        print(f"out of date; run tools/{tool}", file=sys.stderr)
        return 1
    return 0
