# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Suggestions for unknown names."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the suffix of an error message: `; did you mean 'x'?`, or nothing without a match."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean '{near[0]}'?" if near else ""
