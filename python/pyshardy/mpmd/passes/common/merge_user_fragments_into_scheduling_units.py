# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-merge-user-fragments-into-scheduling-units`."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.mpmd.reading import CALL_COUNTER, body_of, integer_of, is_user_fragment, origins_of
from pyshardy.mpmd.rewriting.functions import mpmd_functions
from pyshardy.mpmd.rewriting.merging import closest_user, merge_all, stages_agree
from pyshardy.pipeline import register_pass


@register_pass("mpmd-merge-user-fragments-into-scheduling-units", release="0.10.2")
def merge_user_fragments_into_scheduling_units(module: ir.Module) -> None:
    """Merge fragments of the user into the units of a schedule.

    A fragment is merged with the fragment of its mesh that is its first user, if both are of the
    user, have the same transpose count, and don't differ in call counter or stage.
    """
    for function in mpmd_functions(module):
        merge_all(body_of(function), closest_user, _may_merge)


def _may_merge(producer: ir.Operation, consumer: ir.Operation) -> bool:
    if not (is_user_fragment(producer) and is_user_fragment(consumer)):
        return False
    counts = {
        origin.transpose_count for each in (producer, consumer) for origin in origins_of(each)
    }
    counters = integer_of(producer, CALL_COUNTER), integer_of(consumer, CALL_COUNTER)
    is_same_call = None in counters or counters[0] == counters[1]
    return len(counts) == 1 and is_same_call and stages_agree(producer, consumer)
