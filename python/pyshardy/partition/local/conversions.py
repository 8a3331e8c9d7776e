# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Local forms that many operations share."""

from __future__ import annotations

import functools
from collections.abc import Callable

from mlir_sdy.host import ir
from pyshardy.partition.op_facts.record import Conversion
from pyshardy.partition.types.local_builder import LocalBuilder


def retype_only(operation: ir.Operation, builder: LocalBuilder) -> None:
    """Leave an operation that is valid on shards as it is: only its types change."""


def fit_only(fit_sizes: Callable[[ir.Operation], None]) -> Conversion:
    """Return the local form of operations that are valid on shards once their sizes fit."""

    @functools.wraps(fit_sizes)
    def convert(operation: ir.Operation, _: LocalBuilder) -> None:
        fit_sizes(operation)

    return convert
