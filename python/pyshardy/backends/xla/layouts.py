# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layouts that XLA's CPU counts on and doesn't ask for itself."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.irtools.walks import operations_named

_LAYOUT_CONSTRAINT = "LayoutConstraint"
"""The custom call by which XLA lays a tensor out as its attributes say."""


def lay_out_transforms(module: ir.Module) -> None:
    """Lay out the operands and results of Fourier transforms from the last dimension on.

    Their code takes nothing else, but other operations, as all-gathers, may have XLA lay them out
    in another way.

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
    """A tensor, laid out from the last dimension on."""
    rank = value.type.rank
    dims = ", ".join(map(str, reversed(range(rank))))
    layout = ir.Attribute.parse(f"[dense<[{dims}]> : tensor<{rank}xindex>]")
    return ir.Operation.create(
        "stablehlo.custom_call",
        results=[value.type],
        operands=[value],
        attributes={
            "call_target_name": ir.StringAttr.get(_LAYOUT_CONSTRAINT),
            "operand_layouts": layout,
            "result_layouts": layout,
        },
        ip=place,
    ).result
