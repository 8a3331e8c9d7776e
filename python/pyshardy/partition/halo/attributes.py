# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reading and writing attributes that hold numbers for each dimension."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from mlir_sdy.host import ir

Padding = tuple[int, int]
"""The padding before and behind a dimension."""


def integers(operation: ir.Operation, name: str, count: int, default: int = 1) -> list[int]:
    """The numbers of an attribute that may be left out or empty, for each of some dimensions."""
    numbers: Any = operation.attributes.get(name, ())
    return list(numbers) or [default] * count


def paddings(operation: ir.Operation, count: int) -> list[Padding]:
    """The padding of windows, for each of some dimensions."""
    numbers = integers(operation, "padding", 2 * count, 0)
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def integers_attribute(numbers: Sequence[int]) -> ir.Attribute:
    """An attribute with a number for each dimension."""
    return ir.DenseI64ArrayAttr.get(list(numbers))


def paddings_attribute(padding: Iterable[Padding]) -> ir.Attribute:
    """An attribute with the padding before and behind each dimension."""
    return ir.DenseElementsAttr.get(np.array(list(padding), np.int64).reshape(-1, 2))
