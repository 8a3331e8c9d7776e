# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layouts that XLA's CPU requires but doesn't assign itself."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.irtools.stablehlo_builder import StablehloBuilder
from pyshardy.irtools.walks import operations_named

_LAYOUT_CONSTRAINT = "LayoutConstraint"
"""The custom call that fixes the layout of a tensor in XLA."""


def lay_out_transforms(module: ir.Module) -> None:
    """Fix the layout of the operands and results of Fourier transforms to row-major.

    Their code supports no other layout, but other operations, such as all-gathers, may cause XLA
    to assign one.

    Args:
        module: a program for XLA's CPU, which is changed in place.
    """
    for transform in operations_named({"stablehlo.fft"}, module):
        with transform.location:
            operand = transform.operands[0]
            transform.operands[0] = _laid_out(operand, ir.InsertionPoint(transform))
            result = transform.results[0]
            laid_out = _laid_out(result, ir.InsertionPoint.after(transform))
            result.replace_all_uses_except(laid_out, laid_out.owner.operation)


def _laid_out(value: ir.Value, place: ir.InsertionPoint) -> ir.Value:
    """Return a tensor in row-major layout."""
    rank = value.type.rank
    dims = ", ".join(map(str, reversed(range(rank))))
    layout = ir.Attribute.parse(f"[dense<[{dims}]> : tensor<{rank}xindex>]")
    layouts = {"operand_layouts": layout, "result_layouts": layout}
    with place:
        call = StablehloBuilder().custom_call(_LAYOUT_CONSTRAINT, [value], [value.type], layouts)
    return call.result
