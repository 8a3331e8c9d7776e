# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Constraints of JAX on symbols, as texts: `b >= 2`, `mod(b, 4) == 0`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from pyshardy.sizes.symbols import SizeSymbol

ASSERTED = re.compile(r"symbolic shape constraint (.*?)\. Expected ")
"""The constraint that an assertion of an exported function checks, in its message."""

_LIMIT = re.compile(r"\s*(\w+)\s*(>=|<=|==)\s*(\d+)\s*")
_MULTIPLE = re.compile(r"\s*mod\((\w+),\s*(\d+)\)\s*==\s*0\s*")


def symbol_of(name: str, constraints: Iterable[str]) -> SizeSymbol:
    """Return a symbol with what simple constraints say of it."""
    low, high, multiple = 1, None, 1
    for constraint in constraints:
        limit, divisor = _LIMIT.fullmatch(constraint), _MULTIPLE.fullmatch(constraint)
        if divisor is not None and divisor[1] == name:
            multiple = math.lcm(multiple, int(divisor[2]))
        if limit is not None and limit[1] == name:
            number = int(limit[3])
            low = max(low, number) if limit[2] in (">=", "==") else low
            high = min(high or number, number) if limit[2] in ("<=", "==") else high
    return SizeSymbol(name, low, high, multiple)
