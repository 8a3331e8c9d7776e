# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-split-bwd-fragments`."""

from __future__ import annotations

from mlir_sdy.discardable import has_discardable, set_discardable
from mlir_sdy.host import ir
from mlir_sdy.mpmd.reading import (
    FRAGMENT,
    TRANSFER,
    body_of,
    operations_of,
    origins_of,
    returned_values,
)
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.inference.mesh_sets import operands_with_free_values
from pyshardy.mpmd.rewriting.functions import mpmd_functions
from pyshardy.mpmd.rewriting.merging import DROPS_TRANSFERRED, KEEPS_TRANSFERRED
from pyshardy.mpmd.rewriting.splitting import split_fragment
from pyshardy.pipeline import register_pass


@register_pass("mpmd-split-bwd-fragments", release="0.10.2")
def split_bwd_fragments(module: ir.Module) -> None:
    """Split backward fragments for schedules without a bubble.

    A fragment with transpose count 1 becomes two: the first one computes the results that are
    transferred, the gradients to send, and is marked `split_keep_transferred`. The second one,
    right after it, has all other operations, and is marked `split_drop_transferred`. What it needs
    of the first one, or of its arguments, is passed as further results; canonicalization and
    `mpmd-fragment-dce` drop what isn't needed. A fragment stays as it is if none of its results
    are transferred, or if all operations are needed for these. What is passed keeps the sharding
    that it has in the fragment; arguments aren't passed if the fragment has shardings.
    """
    for function in mpmd_functions(module):
        for each in operations_named({FRAGMENT}, function):
            counts = {origin.transpose_count for origin in origins_of(each)}
            if counts == {1} and not any(
                has_discardable(each, mark) for mark in (KEEPS_TRANSFERRED, DROPS_TRANSFERRED)
            ):
                _split(each)


def _split(whole: ir.Operation) -> None:
    sent = [
        index
        for index, result in enumerate(whole.results)
        if any(use.owner.operation.name == TRANSFER for use in result.uses)
    ]
    returned = returned_values(whole)
    operations = operations_of(body_of(whole))[:-1]
    needed = {returned[index] for index in sent}
    kept: set[ir.Operation] = set()
    for operation in reversed(operations):
        if not needed.isdisjoint(operation.results):
            kept.add(operation)
            needed.update(operands_with_free_values(operation))
    if sent and (len(kept) < len(operations) or len(sent) < len(returned)):
        first, second = split_fragment(whole, kept, sent, range(len(whole.operands)))
        set_discardable(first, KEEPS_TRANSFERRED, ir.UnitAttr.get(first.context))
        set_discardable(second, DROPS_TRANSFERRED, ir.UnitAttr.get(first.context))
