# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The lowering of each operation of the shard dialect."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from mlir_sdy.host import ir

if TYPE_CHECKING:
    from pyshardy.shard.lowering.builder import GridBuilder

Lowering = Callable[[ir.Operation, "GridBuilder"], ir.Value]
"""Builds the replacement of an operation's result, before the operation."""

LOWERINGS: dict[str, Lowering] = {}


def lowers(*names: str) -> Callable[[Lowering], Lowering]:
    """Register a function as the lowering of the named operations."""

    def register(lowering: Lowering) -> Lowering:
        for name in names:
            LOWERINGS[name] = lowering
        return lowering

    return register
