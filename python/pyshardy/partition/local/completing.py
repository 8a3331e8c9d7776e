# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Completing partial results by any reduction, where `sdy.all_reduce` has no kind for it."""

from __future__ import annotations

from collections.abc import Sequence

from mlir_sdy.host import ir
from mlir_sdy.model import AxisRef, Mesh
from pyshardy.partition.local.builder import LocalBuilder


def multiply_up(
    operation: ir.Operation, axes: Sequence[AxisRef], mesh: Mesh, builder: LocalBuilder
) -> None:
    """Let the product over all devices along some axes take the place of each result."""
    for result in operation.results:
        with ir.InsertionPoint.after(operation):
            product = builder.all_reduce(result, "stablehlo.multiply", axes, mesh)
        result.replace_all_uses_except(product, product.owner.operation)


def stacked(
    value: ir.Value, axes: Sequence[AxisRef], mesh: Mesh, builder: LocalBuilder
) -> tuple[ir.Operation, ir.Value]:
    """The values of all devices along some axes, in the order of these, along a new dimension 0.

    Returns:
        The operation that uses the value, and the stack.
    """
    one = builder.with_shape(value, [1, *ir.RankedTensorType(value.type).shape])
    return one.owner.operation, builder.all_gather(one, 0, axes, mesh)
