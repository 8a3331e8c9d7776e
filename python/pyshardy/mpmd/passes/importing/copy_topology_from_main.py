# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-copy-topology-from-main`."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.mpmd.reading import CALL
from pyshardy.irtools.functions import functions_of
from pyshardy.irtools.stablehlo_views import CallView, FunctionView, symbol_name
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.rewriting.functions import copy_topology, entry_points
from pyshardy.pipeline import register_pass


@register_pass("mpmd-copy-topology-from-main", release="0.10.2")
def copy_topology_from_main(module: ir.Module) -> None:
    """Give the callees of the entry point its topology.

    The callees of `mpmd.call`s get the topology, and become private.
    """
    functions = {symbol_name(each): each for each in functions_of(module)}
    for entry in entry_points(module):
        for call in operations_named({CALL}, entry):
            callee = functions[CallView(call).callee]
            copy_topology(entry, callee)
            FunctionView(callee).sym_visibility = "private"
