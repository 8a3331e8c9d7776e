# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The conversion of each operation to its local form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from mlir_sdy.host import ir

if TYPE_CHECKING:
    from mlir_sdy.model import TensorSharding
    from pyshardy.partition.local.builder import LocalBuilder

Conversion = Callable[[ir.Operation, "LocalBuilder"], None]

CONVERSIONS: dict[str, Conversion] = {}
"""The conversions of operations by name, called once their operands have local types.

A conversion replaces the operation or changes it in place; the types of its results are already
local.
"""

Stays = Callable[[ir.Operation, Sequence["TensorSharding | None"]], bool]

UNCHANGED_LOCALLY: dict[str, Stays] = {}
"""Predicates by operation name: whether it is unchanged, given the shardings of its tensors.

They are called before anything is converted, and once for operations of one signature.
"""

DEVICE_DEPENDENT_OPS: set[str] = set()
"""Operations that are converted even if all their types are unchanged.

Their results differ between devices.
"""


class RetypeOnly:
    """The conversion of operations that are valid on shards as they are."""

    def __call__(self, operation: ir.Operation, builder: LocalBuilder) -> None:
        """Leave the operation as it is."""


def converts(
    *names: str, differing: bool = False, unless: Stays | None = None
) -> Callable[[Conversion], Conversion]:
    """Register a function as the conversion of the named operations.

    Args:
        names: the full names of the operations.
        differing: whether results differ between devices that run the same operation.
        unless: whether an operation needs no conversion (see `UNCHANGED_LOCALLY`).
    """

    def register(conversion: Conversion) -> Conversion:
        for name in names:
            CONVERSIONS[name] = conversion
            if unless is not None:
                UNCHANGED_LOCALLY[name] = unless
        if differing:
            DEVICE_DEPENDENT_OPS.update(names)
        return conversion

    return register
