# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attributes that hold numbers for each dimension."""

from __future__ import annotations

from collections.abc import Sequence

Padding = tuple[int, int]
"""The padding before and after a dimension."""


def per_dim(numbers: Sequence[int], count: int, default: int = 1) -> list[int]:
    """Return the numbers for each dimension, or the default if there are none."""
    return list(numbers) or [default] * count


def paddings(padding: Sequence[Padding], count: int) -> list[Padding]:
    """Return the padding of windows for each dimension, or zeros if there is none."""
    return list(padding) or [(0, 0)] * count
