# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Texts of costs."""

from __future__ import annotations

from pyshardy.display import seconds_text


def cost_text(cost: float, objective: str) -> str:
    """Return a cost: a time, or bytes."""
    return seconds_text(cost) if objective == "time" else f"{cost:,.0f} bytes"


def signed_text(difference: float, objective: str) -> str:
    """Return a difference of costs with its sign."""
    sign = "-" if difference < 0 else "+"
    return f"{sign}{cost_text(abs(difference), objective)}"


def bytes_text(nbytes: float) -> str:
    """Return a number of bytes with three digits and a decimal unit: `1.25 GB`."""
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if nbytes >= size:
            return f"{nbytes / size:.3g} {unit}"
    return f"{nbytes:.0f} B"
