# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations written out in simpler ones, for engines that lack them."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection, Sequence

from mlir_sdy.host import ir
from pyshardy.backends.decompositions.tensors import Tensor
from pyshardy.backends.modules import copy_of
from pyshardy.passes.walks import operations_named

Decomposition = Callable[[ir.Operation], "Sequence[Tensor] | None"]
"""Builds what takes the place of an operation, and gives its results; None to leave it."""

_MODULES = (
    "barrier",
    "batch_norm",
    "booleans",
    "cholesky",
    "convolution",
    "fourier",
    "gather",
    "pad",
    "products",
    "reduce",
    "scatter",
    "select_and_scatter",
    "sort",
    "triangular_solve",
)
_FUNCTIONS: dict[str, Decomposition] = {}


def decomposition(name: str) -> Callable[[Decomposition], Decomposition]:
    """Register how to write out the StableHLO operation of a name.

    @decomposition("cholesky")
    def decompose_cholesky(operation: ir.Operation) -> Sequence[Tensor]:
        ...
    """

    def register(function: Decomposition) -> Decomposition:
        _FUNCTIONS[f"stablehlo.{name}"] = function
        return function

    return register


def decomposed(module: ir.Module, names: Collection[str]) -> ir.Module:
    """A program with the operations of some names written out.

    What an operation is written out in may hold further ones of the names.

    Args:
        module: StableHLO. It isn't changed, and is the result if there is nothing to do.
        names: the operations without their dialect: `{"cholesky", "sort"}`.
    """
    wanted = {f"stablehlo.{name}" for name in names}
    if not operations_named(wanted, module):
        return module
    for name in _MODULES:
        importlib.import_module(f"{__package__}.{name}")
    copy = copy_of(module)
    while _decompose_once(copy, wanted):
        pass
    return copy


def _decompose_once(module: ir.Module, wanted: Collection[str]) -> bool:
    """Write out the operations that there are; whether that changed anything."""
    changed = False
    for operation in operations_named(wanted, module, ir.WalkOrder.POST_ORDER):
        with operation.context, operation.location, ir.InsertionPoint(operation):
            results = _FUNCTIONS[operation.name](operation)
        if results is None:
            continue
        for result, tensor in zip(operation.results, results, strict=True):
            result.replace_all_uses_with(tensor.value)
        operation.erase()
        changed = True
    return changed
