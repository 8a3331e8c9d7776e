# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Color of diagnostics on terminals.

`NO_COLOR` disables it, and `FORCE_COLOR` enables it where the output isn't a terminal; see
https://no-color.org and https://force-color.org. Tables are printed by `rich`, which does the same.
"""

from __future__ import annotations

import os
import sys

_CODES = {"bold": 1, "red": 31, "green": 32, "magenta": 35, "blue": 34, "cyan": 36}


def has_color() -> bool:
    """Whether diagnostics are in color."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def styled(text: str, style: str) -> str:
    """Return a text for standard error in a style, such as "bold red", if that has colors."""
    if not has_color():
        return text
    codes = ";".join(str(_CODES[word]) for word in style.split())
    return f"\x1b[{codes}m{text}\x1b[0m"
