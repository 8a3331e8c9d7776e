# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-flatten-call-graph`: give each call its own copy of the function.

1. Calls are processed function by function, each function after its callees, and in the order
   of the text.
2. The first call of a function keeps it; any later one gets a copy, with copies of all callees
   (`FunctionCloner`).
3. Declarations are not copied.

With `a` and `b` both calling `c`, and `main` calling `a`, `b` and `a`: `a` keeps `c`, `b` calls
`c_0`, and the second call in `main` is of `a_2`, which calls `c_1`.
"""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.irtools.analyses import Changes
from pyshardy.irtools.functions import CallGraph, FunctionCloner
from pyshardy.irtools.stablehlo_views import CallView, callee_of
from pyshardy.pipeline import register_pass


@register_pass("sdy-flatten-call-graph", release="0.10.2")
def flatten_call_graph(module: ir.Module) -> Changes:
    """Clone functions so that each has a single call.

    The first call of a function keeps the function; each later call gets a copy, including copies
    of all functions that it calls. The pass visits calls in post-order. The attribute
    `sdy.original_func_name` of a copy holds the name of the original function.

    Recursive functions are an error; declarations are not copied.

    ```mlir
    %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = call @f(%0) : (tensor<8xf32>) -> tensor<8xf32>
    ```

    becomes

    ```mlir
    %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = call @f_0(%0) : (tensor<8xf32>) -> tensor<8xf32>
    ```

    Raises:
        PassError: a function calls itself.
    """
    graph = CallGraph(module)
    graph.check_not_recursive("flattened")
    cloner: FunctionCloner | None = None
    called: set[str] = set()
    for call in graph.calls_in_post_order():
        callee = callee_of(call)
        if callee not in graph.functions:
            continue
        if callee not in called:
            called.add(callee)
            continue
        cloner = cloner or FunctionCloner(module)
        CallView(call).callee = cloner.clone(callee)
    return Changes()
