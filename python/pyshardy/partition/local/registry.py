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
"""How to convert an operation, by its full name, once its operands have local types.

A conversion replaces the operation or changes it in place; the types of its results are local
already.
"""

Stays = Callable[[ir.Operation, Sequence["TensorSharding | None"]], bool]

UNCHANGED_LOCALLY: dict[str, Stays] = {}
"""Whether an operation means the same on shards, given how its operands and results are sharded.

Asked, by the full name, before anything is converted, and once for operations of one form.
"""

DEVICE_DEPENDENT_OPS: set[str] = set()
"""Operations that are converted although all their types are global ones already.

Devices that run the same operation get different results of them.
"""


class RetypeOnly:
    """The conversion of operations that mean the same on shards as on whole tensors."""

    def __call__(self, operation: ir.Operation, builder: LocalBuilder) -> None:
        """Leave the operation as it is."""


def converts(
    *names: str, differing: bool = False, unless: Stays | None = None
) -> Callable[[Conversion], Conversion]:
    """Register a function as the conversion of the named operations.

    Args:
        names: the full names of the operations.
        differing: whether devices get different results although they run the same operation.
        unless: whether an operation has no need of it (see `UNCHANGED_LOCALLY`).
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
