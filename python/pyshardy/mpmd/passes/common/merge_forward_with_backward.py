# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-merge-forward-with-backward`."""

from __future__ import annotations

from mlir_sdy.discardable import remove_discardable
from mlir_sdy.host import ir
from mlir_sdy.mpmd.reading import FRAGMENT, body_of, origins_of
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.rewriting.functions import mpmd_functions
from pyshardy.mpmd.rewriting.merging import (
    DROPS_TRANSFERRED,
    KEEPS_TRANSFERRED,
    merge_all,
    next_of_mesh,
)
from pyshardy.pipeline import register_pass


@register_pass("mpmd-merge-forward-with-backward", release="0.10.2")
def merge_forward_with_backward(module: ir.Module) -> None:
    """Merge forward fragments with backward fragments that use them, right after on their meshes.

    This saves calls on the last mesh of a pipeline, where the backward fragment of a microbatch
    comes right after the forward fragment.
    """
    for function in mpmd_functions(module):
        merge_all(body_of(function), next_of_mesh, _may_merge)
        for fragment in operations_named({FRAGMENT}, function):
            counts = {origin.transpose_count for origin in origins_of(fragment)}
            if counts == {0, 1}:  # It is no half of a backward fragment any more.
                remove_discardable(fragment, KEEPS_TRANSFERRED, DROPS_TRANSFERRED)


def _may_merge(producer: ir.Operation, consumer: ir.Operation) -> bool:
    counts = [
        {origin.transpose_count for origin in origins_of(each)} for each in (producer, consumer)
    ]
    return counts == [{0}, {1}] and any(each.owner == producer for each in consumer.operands)
