# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-pre-order-funcs`: put each function before those that it calls.

Before:

    func.func private @callee(...)
    func.func @main(...) { call @callee ... }

After:

    func.func @main(...) { call @callee ... }
    func.func private @callee(...)
"""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.irtools.call_graph import CallGraph


def pre_order_funcs(module: ir.Module) -> None:
    """Move the functions that have a body to the end of a module, callers first.

    The order is the reverse of `CallGraph.post_order`. All else, declarations and meshes for
    example, stays in its order, and comes first for that.
    """
    graph = CallGraph(module)
    for name in reversed(graph.post_order):
        module.body.append(graph.functions[name])
