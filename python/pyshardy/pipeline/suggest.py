# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the user may have meant by a name that nobody knows."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of an error message: `; did you mean 'x'?`, or nothing when no name is near."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean '{near[0]}'?" if near else ""
