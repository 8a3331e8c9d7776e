# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-pre-order-funcs`: move each function before its callees.

Before:

    func.func private @callee(...)
    func.func @main(...) { call @callee ... }

After:

    func.func @main(...) { call @callee ... }
    func.func private @callee(...)
"""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.irtools.analyses import inserts
from pyshardy.irtools.call_graph import CallGraph


@inserts()
def pre_order_funcs(module: ir.Module) -> None:
    """Move the functions that have a body to the end of a module, callers first.

    The order is the reverse of `CallGraph.post_order`. All other operations, such as declarations
    and meshes, keep their order, and come first as a consequence.
    """
    graph = CallGraph(module)
    for name in reversed(graph.post_order):
        module.body.append(graph.functions[name])
