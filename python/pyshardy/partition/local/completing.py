# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Completing partial results by any reduction, where `sdy.all_reduce` has no kind for it."""

from __future__ import annotations

from collections.abc import Sequence

from mlir_sdy.host import ir
from mlir_sdy.model import AxisRef, Mesh
from pyshardy.partition.local.arithmetic import fill_body
from pyshardy.partition.local.builder import LocalBuilder


def multiply_up(
    operation: ir.Operation, axes: Sequence[AxisRef], mesh: Mesh, builder: LocalBuilder
) -> None:
    """Let the product over all devices along some axes take the place of each result."""
    for result in operation.results:
        with ir.InsertionPoint.after(operation):
            attributes = builder.group_attributes(mesh, axes, flattened_ids=True)
            product = builder.create(
                "stablehlo.all_reduce", (result,), (result.type,), attributes, regions=1
            )
            element_type = ir.RankedTensorType(result.type).element_type
            fill_body(builder, product.regions[0], element_type, "stablehlo.multiply")
        result.replace_all_uses_except(product.result, product)


def stacked(
    value: ir.Value, axes: Sequence[AxisRef], mesh: Mesh, builder: LocalBuilder
) -> tuple[ir.Operation, ir.Value]:
    """The values of all devices along some axes, in the order of these, along a new dimension 0.

    Returns:
        The operation that uses the value, and the stack.
    """
    tensor = ir.RankedTensorType(value.type)
    one = builder.with_shape(value, [1, *tensor.shape])
    stack = ir.RankedTensorType.get([mesh.axes_size(axes), *tensor.shape], tensor.element_type)
    gathered = builder.create(
        "stablehlo.all_gather",
        (one,),
        (stack,),
        {
            "all_gather_dim": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0),
            **builder.group_attributes(mesh, axes, flattened_ids=True),
        },
    )
    return one.owner.operation, gathered.result
