# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Known defects of engines, for the comparison of their results."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.backends.registry import CompileOptions, registered
from pyshardy.backends.xla.preparation import drops_nans
from pyshardy.irtools.stablehlo_views import CompareView
from pyshardy.irtools.walks import operations_named

_SORT, _COMPARE = "stablehlo.sort", "stablehlo.compare"
_COLLECTIVES = ("stablehlo.all_reduce", "stablehlo.reduce_scatter")


def known_defects(module: ir.Module, backend: str, options: CompileOptions) -> list[str]:
    """Return a sentence for each known defect of a backend that affects a program.

    Args:
        module: the program.
        backend: the name of the backend.
        options: the compile options.
    """
    name = registered(backend).name
    found: list[str] = []
    if name == "interpreter":
        if any(map(_is_of_floats, operations_named({_SORT}, module))):
            found.append("the reference interpreter sorts NaN incorrectly")
        if any(map(_is_total, operations_named({_COMPARE}, module))):
            found.append("the reference interpreter treats -0.0 and 0.0 as equal under TOTALORDER")
    if name == "xla" and not options.nan_safe:
        collectives = operations_named(_COLLECTIVES, module)
        if any(map(drops_nans, collectives)):
            found.append(
                "all-reduces by maximum and minimum drop NaN in XLA on CPUs; '--nan-safe' keeps it "
                "(CompileOptions(nan_safe=True))"
            )
    return found


def _is_of_floats(operation: ir.Operation) -> bool:
    return any(
        isinstance(ir.ShapedType(operand.type).element_type, ir.FloatType)
        for operand in operation.operands
    )


def _is_total(comparison: ir.Operation) -> bool:
    return CompareView(comparison).compare_type == "TOTALORDER"
