# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All-reduces by maximum and minimum that propagate NaN, which XLA drops on CPUs."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.backends.decompositions.tensors import Tensor, constant, where
from pyshardy.irtools.channels import first_free_channel, set_channel
from pyshardy.irtools.stablehlo_builder import StablehloBuilder
from pyshardy.irtools.stablehlo_views import CollectiveView
from pyshardy.irtools.walks import operations_named

_REDUCTIONS = frozenset({"stablehlo.all_reduce", "stablehlo.reduce_scatter"})
_MAXIMUM = "stablehlo.maximum"
_EXTREMES = frozenset({_MAXIMUM, "stablehlo.minimum"})


def drops_nans(operation: ir.Operation) -> bool:
    """Whether XLA drops NaN in a collective: a maximum or minimum of floating-point numbers."""
    if operation.name not in _REDUCTIONS:
        return False
    first, *_ = operation.regions[0].blocks[0].operations
    element = ir.ShapedType(operation.operands[0].type).element_type
    return first.operation.name in _EXTREMES and isinstance(element, ir.FloatType)


def keep_nans(module: ir.Module) -> None:
    """Rewrite each such collective to return NaN where any device has one.

    A second collective computes these positions: the maximum of flags that are 1 for NaN, else 0.

    Args:
        module: a local program with collectives of one operand, which is changed in place.
    """
    channel = first_free_channel(module)
    for operation in operations_named(_REDUCTIONS, module):
        if not drops_nans(operation):
            continue
        operand, result = Tensor(operation.operands[0]), Tensor(operation.results[0])
        with operation.context, operation.location:
            integer = ir.IntegerType.get_signless(32)
            with ir.InsertionPoint(operation):
                flags = (~operand.equals(operand)).to(integer)
                told = _maximum(operation, flags, ir.RankedTensorType.get(result.shape, integer))
            if CollectiveView.channel_handle.is_in(told.owner.operation):
                set_channel(told.owner.operation, channel)
                channel += 1
            with ir.InsertionPoint.after(operation):
                nans = constant(float("nan"), result.element)
                kept = where(Tensor(told) > 0, nans, result).value
        result.value.replace_all_uses_except(kept, kept.owner.operation)


def _maximum(operation: ir.Operation, flags: Tensor, result: ir.Type) -> ir.Value:
    """Build the maximum of flags in the groups of a collective."""
    made = ir.Operation.create(
        operation.name,
        results=[result],
        operands=[flags.value],
        attributes=dict(operation.attributes.items()),
        regions=1,
    )
    StablehloBuilder().fill_body(made.regions[0], flags.element, _MAXIMUM)
    return made.result
