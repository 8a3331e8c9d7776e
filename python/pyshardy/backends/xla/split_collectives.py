# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collectives of several operands, which XLA rejects in programs for several devices."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.irtools.channels import first_free_channel, set_channel
from pyshardy.irtools.stablehlo_views import CollectiveView
from pyshardy.irtools.walks import operations_named

_VARIADIC = frozenset({"stablehlo.all_gather", "stablehlo.all_reduce"})


def split_collectives(module: ir.Module) -> None:
    """Replace each collective of several operands by one per operand, with distinct channels.

        %0:2 = "stablehlo.all_reduce"(%a, %b)

        %0 = "stablehlo.all_reduce"(%a)
        %1 = "stablehlo.all_reduce"(%b)

    XLA refuses the first ("SPMD partitioner supports only single-operand allreduce in manual
    partitioning mode"), and combines collectives itself if that is profitable on a device.

    Args:
        module: a local program, which is changed in place.
    """
    channel = first_free_channel(module)
    for operation in operations_named(_VARIADIC, module):
        if len(operation.operands) == 1:
            continue
        for operand, result in zip(operation.operands, operation.results, strict=True):
            single = operation.clone(ip=False).operation
            made = ir.Operation.create(
                operation.name,
                results=[result.type],
                operands=[operand],
                attributes=dict(operation.attributes.items()),
                regions=len(operation.regions),
                loc=operation.location,
                ip=ir.InsertionPoint(operation),
            )
            for source, target in zip(single.regions, made.regions, strict=True):
                for block in list(source.blocks):
                    block.append_to(target)
            if CollectiveView.channel_handle.is_in(made):
                set_channel(made, channel)
                channel += 1
            result.replace_all_uses_with(made.result)
        operation.erase()
