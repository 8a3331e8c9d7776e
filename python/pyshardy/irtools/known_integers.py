# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Integers that a program computes from constants, such as the indices of `x.at[1, 2:5].set(y)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mlir_sdy.host import ir
from pyshardy.irtools.stablehlo_views import BroadcastView, ConcatenateView, ConstantView

Integers = npt.NDArray[np.int64]

MAX_KNOWN = 1024
"""Largest number of integers that `known_integers` computes, which bounds its cost."""


def known_integers(value: ir.Value) -> Integers | None:
    """Return the integers in a tensor computed from constants; None if they aren't known.

    1. A constant of at most `MAX_KNOWN` integers is known.
    2. So is a `broadcast_in_dim`, `reshape`, `concatenate` or `convert` to integers of at least 32
       bits of known integers, as JAX writes the indices of `x.at[1, 2:5].set(y)`.

    Example: `concatenate(broadcast_in_dim(dense<1>), dense<[2]>)` gives `[1, 2]`.
    """
    if isinstance(value, ir.BlockArgument) or not isinstance(value.type, ir.RankedTensorType):
        return None
    tensor = value.type
    is_integer = isinstance(tensor.element_type, ir.IntegerType) and tensor.element_type.width >= 32
    if not is_integer or not tensor.has_static_shape or np.prod(tensor.shape) > MAX_KNOWN:
        return None
    operation = value.owner.operation
    if operation.name in ("stablehlo.constant", "sdy.constant"):
        literal = ConstantView(operation).value
        if not isinstance(literal, ir.DenseIntElementsAttr):
            return None
        numbers: Any = literal
        return np.array(list(numbers), np.int64).reshape(tensor.shape)
    fold = _FOLDS.get(operation.name)
    operands = [known_integers(operand) for operand in operation.operands] if fold else []
    known = [operand for operand in operands if operand is not None]
    if fold is None or len(known) != len(operands):
        return None
    return fold(operation, known)


Fold = Callable[[ir.Operation, list[Integers]], Integers]

_FOLDS: dict[str, Fold] = {
    "stablehlo.convert": lambda _, operands: operands[0],
    "stablehlo.reshape": lambda operation, operands: operands[0].reshape(_shape(operation)),
    "stablehlo.concatenate": lambda operation, operands: np.concatenate(
        operands, ConcatenateView(operation).dimension
    ),
    "stablehlo.broadcast_in_dim": lambda operation, operands: _broadcast(operation, operands[0]),
}
"""The evaluation of the operations that `known_integers` supports, on known operands."""


def _broadcast(operation: ir.Operation, operand: Integers) -> Integers:
    shape = [1] * len(_shape(operation))
    dims = BroadcastView(operation).broadcast_dimensions
    for dim, size in zip(dims, operand.shape, strict=True):
        shape[dim] = size
    return np.broadcast_to(operand.reshape(shape), _shape(operation))


def _shape(operation: ir.Operation) -> list[int]:
    return ir.RankedTensorType(operation.results[0].type).shape
