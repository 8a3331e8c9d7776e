# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The donated arguments of a program that isn't partitioned yet."""

from __future__ import annotations

from collections.abc import Sequence

from mlir_sdy.discardable import as_integer
from mlir_sdy.host import ir
from pyshardy.backends.donations import ALIAS, DONOR
from pyshardy.irtools.stablehlo_views import FunctionView, function_type_of


def donated_arguments(main: ir.Operation, arguments: Sequence[ir.Type]) -> dict[int, int]:
    """Return the donated arguments by the numbers of the results that reuse their memory.

    An argument without a given result takes the first one of its type that is left.
    """
    found: dict[int, int] = {}
    donors: list[int] = []
    for argument, attributes in enumerate(FunctionView(main).arg_attrs or ()):
        if ALIAS in attributes:
            result = as_integer(attributes[ALIAS])
            if result is not None:
                found[result] = argument
        elif DONOR in attributes:
            donors.append(argument)
    results = list(function_type_of(main).results)
    for argument in donors:
        fitting = (at for at, each in enumerate(results) if each == arguments[argument])
        result = next((at for at in fitting if at not in found), None)
        if result is not None:
            found[result] = argument
    return found
