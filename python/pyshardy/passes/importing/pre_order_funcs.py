# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-pre-order-funcs`: move each function before its callees.

The order is the reverse of `CallGraph.post_order`. All other operations, such as declarations
and meshes, keep their order, and come first as a consequence.
"""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.irtools.analyses import Changes
from pyshardy.irtools.functions import CallGraph
from pyshardy.pipeline import register_pass


@register_pass("sdy-pre-order-funcs", release="0.10.2")
def pre_order_funcs(module: ir.Module) -> Changes:
    """Sort functions so that callers precede callees.

    Moves all functions with a body to the end of the module, callers before their callees.

    ```mlir
    func.func private @f(...)
    func.func @main(...) { call @f ... }
    ```

    becomes

    ```mlir
    func.func @main(...) { call @f ... }
    func.func private @f(...)
    ```
    """
    graph = CallGraph(module)
    for name in reversed(graph.post_order):
        module.body.append(graph.functions[name])
    return Changes()
