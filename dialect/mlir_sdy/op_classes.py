# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations as objects of their generated classes."""

from __future__ import annotations

from typing import TypeVar

from mlir_sdy.host import ir

_Class = TypeVar("_Class", bound=ir.OpView)


def view_as(op_class: type[_Class], operation: ir.Operation) -> _Class:
    """Return an operation as an object of its class, such as `sdy.ReshardOp`.

    Raises:
        TypeError: it is an operation of another class.
    """
    view = operation.opview
    if not isinstance(view, op_class):
        raise TypeError(f"'{operation.name}' is no '{op_class.OPERATION_NAME}'")
    return view
