# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-validate-no-backward-deps`."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.mpmd.reading import FRAGMENT_CALL, mesh_name_of, origins_of, producer
from pyshardy.irtools.stablehlo_views import callee_of
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.options import FailOnBackwardDeps
from pyshardy.mpmd.rewriting.meshes import report
from pyshardy.mpmd.rewriting.transfers import before_transfers
from pyshardy.pipeline import register_pass


@register_pass("mpmd-validate-no-backward-deps", release="0.10.2")
def validate_no_backward_deps(
    module: ir.Module, *, fail_on_backward_deps: FailOnBackwardDeps = False
) -> None:
    """Report values that go to a mesh with an earlier name, if nothing is transposed.

    Raises:
        PassError: there is one, and it is an error.
    """
    calls = operations_named({FRAGMENT_CALL}, module)
    if any(origin.transpose_count for each in calls for origin in origins_of(each)):
        return
    for call in calls:
        for value in call.operands:
            made = producer(before_transfers(value), FRAGMENT_CALL)
            if made is None or mesh_name_of(made) <= mesh_name_of(call):
                continue
            message = (
                "Detected backward dependency but expected forward-only pipeline since there are "
                f'no transpose fragments: fragment "{callee_of(made)}" mesh="{mesh_name_of(made)}" '
                f'produces a value consumed by fragment "{callee_of(call)}" '
                f'mesh="{mesh_name_of(call)}". In a forward-only pipeline, dependencies must go '
                "from earlier meshes to later meshes."
            )
            report(call, message, fails=fail_on_backward_deps)
