# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-merge-inferred-fragments`."""

from __future__ import annotations

from typing import Annotated

from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.discardable import has_discardable
from mlir_sdy.host import ir
from mlir_sdy.mpmd.reading import body_of, is_user_fragment
from pyshardy.mpmd.rewriting.functions import mpmd_functions
from pyshardy.mpmd.rewriting.merging import (
    DROPS_TRANSFERRED,
    KEEPS_TRANSFERRED,
    closest_user,
    fragment_users,
    merge_all,
    next_of_mesh,
)
from pyshardy.pipeline import register_pass
from pyshardy.pipeline.options import Help


@register_pass("mpmd-merge-inferred-fragments", release="0.10.2")
def merge_inferred_fragments(
    module: ir.Module,
    *,
    merge_any_consumer: Annotated[
        bool, Help("whether to merge with any fragment that uses the results, not the first only")
    ] = False,
    merge_sideways: Annotated[
        bool, Help("whether to merge with the next fragment of the mesh, even without a dependency")
    ] = False,
) -> None:
    """Merge inferred fragments with the fragments that use them.

    Two fragments of a mesh are merged if at least one of them is inferred, and the second one is
    the first fragment that uses the first one.

    Raises:
        PassError: both options are given.
    """
    if merge_any_consumer and merge_sideways:
        message = "the options 'merge-any-consumer' and 'merge-sideways' exclude each other"
        raise PassError(error(message))
    candidates = closest_user
    if merge_any_consumer:
        candidates = fragment_users
    elif merge_sideways:
        candidates = next_of_mesh
    for function in mpmd_functions(module):
        merge_all(body_of(function), candidates, _may_merge)


def _may_merge(producer: ir.Operation, consumer: ir.Operation) -> bool:
    if is_user_fragment(producer) and is_user_fragment(consumer):
        return False
    keeps = has_discardable(producer, KEEPS_TRANSFERRED)
    return not (keeps and has_discardable(consumer, DROPS_TRANSFERRED))
