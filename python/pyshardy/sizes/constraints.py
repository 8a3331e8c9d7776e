# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Constraints of JAX on symbols, as texts: `b >= 2`, `mod(b, 4) == 0`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping

from mlir_sdy.diagnostics import UsageError
from pyshardy.sizes.size import Size
from pyshardy.sizes.symbols import SizeSymbol

ASSERTED = re.compile(r"symbolic shape constraint (.*?)\. Expected ")
"""The constraint that an assertion of an exported function checks, in its message."""

_LIMIT = re.compile(r"\s*(\w+)\s*(>=|<=|==)\s*(\d+)\s*")
_COMPARISON = re.compile(r"(.+?)(>=|<=|==)(.+)")
_MULTIPLE = re.compile(r"\s*mod\((\w+),\s*(\d+)\)\s*==\s*0\s*")


def is_implied(constraint: str, symbols: Mapping[str, SizeSymbol]) -> bool:
    """Whether a constraint follows from the limits and divisors of symbols."""
    found = _COMPARISON.fullmatch(constraint)
    if found is None:
        return False
    try:
        difference = Size.parse(found[1].strip()) - Size.parse(found[3].strip())
    except UsageError:
        return False
    multiples = {name: each.multiple_of for name, each in symbols.items()}
    scaled = {name: Size.of(each) * Size.symbol(name) for name, each in multiples.items()}
    ranges = {
        name: (-(-each.low // each.multiple_of), each.high and each.high // each.multiple_of)
        for name, each in symbols.items()
    }
    difference = difference.replaced(scaled)
    low, high = difference.bounds(ranges)
    if found[2] == "==":
        return difference.constant == 0
    return low is not None and low >= 0 if found[2] == ">=" else high is not None and high <= 0


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
