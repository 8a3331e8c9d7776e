# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The registry of decompositions, for engines that lack operations."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection, Sequence

from mlir_sdy.host import ir
from pyshardy.backends.decompositions.tensors import Tensor
from pyshardy.irtools.modules import copy_of
from pyshardy.irtools.walks import operations_named

Decomposition = Callable[[ir.Operation], "Sequence[Tensor] | None"]
"""Builds the replacement of an operation and returns its results, None to keep the operation."""

_MODULES = (
    "element_types",
    "indexing",
    "linear_algebra",
    "reductions",
)
"""The modules that register decompositions."""

_ORDER = (
    "batch_norm_grad",
    "batch_norm_inference",
    "batch_norm_training",
    "cholesky",
    "fft",
    "triangular_solve",
    "select_and_scatter",
    "scatter",
    "sort",
    "convolution",
    "gather",
    "pad",
    "dot_general",
    "reduce",
    "add",
    "compare",
    "convert",
    "is_finite",
    "logistic",
    "sign",
    "divide",
    "remainder",
    "optimization_barrier",
)
"""The operations in order: the decomposition of one may build operations that come later."""

_FUNCTIONS: dict[str, Decomposition] = {}


def decomposition(name: str) -> Callable[[Decomposition], Decomposition]:
    """Register the decomposition of the StableHLO operation of a name.

    @decomposition("cholesky")
    def decompose_cholesky(operation: ir.Operation) -> Sequence[Tensor]:
        ...
    """

    def register(function: Decomposition) -> Decomposition:
        _FUNCTIONS[f"stablehlo.{name}"] = function
        return function

    return register


def decomposed(module: ir.Module, names: Collection[str]) -> ir.Module:
    """Return a program in which the operations of some names are decomposed.

    Args:
        module: StableHLO. It isn't changed, and is the result if there is nothing to do.
        names: the operations without their dialect: `{"cholesky", "sort"}`.
    """
    if not operations_named({f"stablehlo.{name}" for name in names}, module):
        return module
    copy = copy_of(module)
    decompose(copy, names)
    return copy


def decompose(module: ir.Module, names: Collection[str]) -> None:
    """Decompose the operations of some names in place; see `decomposed`."""
    for home in _MODULES:
        importlib.import_module(f"{__package__}.{home}")
    for name in sorted(names, key=_ORDER.index):
        _decompose(f"stablehlo.{name}", module)


def _decompose(name: str, module: ir.Module) -> None:
    for operation in operations_named({name}, module, ir.WalkOrder.POST_ORDER):
        with operation.context, operation.location, ir.InsertionPoint(operation):
            results = _FUNCTIONS[name](operation)
        if results is not None:
            for result, tensor in zip(operation.results, results, strict=True):
                result.replace_all_uses_with(tensor.value)
            operation.erase()
