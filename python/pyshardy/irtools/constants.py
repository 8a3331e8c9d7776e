# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Constants: `sdy.constant`, which MLIR does not merge, and splats."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.irtools.stablehlo_views import ConstantView
from pyshardy.irtools.walks import operations_named


def use_sdy_constants(root: ir.Module | ir.Operation | ir.OpView) -> bool:
    """Replace each `stablehlo.constant` by an `sdy.constant`.

    MLIR would merge equal `stablehlo.constant` operations of different shardings.

    Returns:
        Whether there was one.
    """
    constants = operations_named({"stablehlo.constant"}, root)
    for constant in constants:
        converted = ir.Operation.create(
            "sdy.constant",
            results=[constant.results[0].type],
            attributes=dict(constant.attributes.items()),
            loc=constant.location,
            ip=ir.InsertionPoint(constant),
        )
        constant.results[0].replace_all_uses_with(converted.results[0])
        constant.erase()
    return bool(constants)


def splat_of(value: ir.Value) -> ir.Attribute | None:
    """Return the element of a `stablehlo.constant` whose elements are equal, else None."""
    if isinstance(value, ir.BlockArgument) or value.owner.operation.name != "stablehlo.constant":
        return None
    literal = ConstantView(value.owner.operation).value
    is_splat = isinstance(literal, ir.DenseElementsAttr) and literal.is_splat
    return literal.get_splat_value() if is_splat else None
