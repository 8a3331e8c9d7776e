# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The number of random cases of the tests that take longest."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

Case = TypeVar("Case")


def cases(count: int) -> int:
    """Return a number of random cases, multiplied by the environment variable `PYSHARDY_CASES`.

    The weekly run multiplies all numbers by twenty. The first cases are the same.
    """
    return count * int(os.environ.get("PYSHARDY_CASES", "1"))


def spread(values: Sequence[Case], count: int) -> Sequence[Case]:
    """Return about `cases(count)` values at equal distances; all of them in the weekly run."""
    return values[:: max(1, len(values) // cases(count))]
