# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attributes that hold numbers for each dimension."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from mlir_sdy.host import ir

Padding = tuple[int, int]
"""The padding before and after a dimension."""


def integers(operation: ir.Operation, name: str, count: int, default: int = 1) -> list[int]:
    """Return the numbers of an attribute for each dimension, or the default if there are none."""
    numbers: Any = operation.attributes.get(name, ())
    return list(numbers) or [default] * count


def paddings(operation: ir.Operation, count: int) -> list[Padding]:
    """Return the padding of windows for each dimension."""
    numbers = integers(operation, "padding", 2 * count, 0)
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def integers_attribute(numbers: Sequence[int]) -> ir.Attribute:
    """Return an attribute with a number for each dimension."""
    return ir.DenseI64ArrayAttr.get(list(numbers))


def paddings_attribute(padding: Iterable[Padding]) -> ir.Attribute:
    """Return an attribute with the padding before and after each dimension."""
    return ir.DenseElementsAttr.get(np.array(list(padding), np.int64).reshape(-1, 2))
