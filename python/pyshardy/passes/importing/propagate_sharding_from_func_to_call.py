# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-propagate-sharding-from-func-to-call`: copy shardings of callee results to calls.

1. Results without a sharding get a fully open one (see `complete_list`). Calls of callees
   without such a list, like those with shardings on maximal meshes only, are not changed.
2. A call with shardings of its results is not changed.
3. Nor are the calls in inner modules, which have other functions.
"""

from __future__ import annotations

from mlir_sdy.discardable import has_discardable, set_discardable
from mlir_sdy.host import ir
from mlir_sdy.model import TensorShardingPerValue
from mlir_sdy.values import SHARDING, result_shardings
from pyshardy.irtools.analyses import OF_INTERFACE, UNCHANGED, Changes
from pyshardy.irtools.functions import functions_of
from pyshardy.irtools.shardings import complete_list
from pyshardy.irtools.stablehlo_views import callee_of, symbol_name
from pyshardy.irtools.walks import operations_named
from pyshardy.partition.function_context import FunctionContext
from pyshardy.pipeline import register_pass


@register_pass("sdy-propagate-sharding-from-func-to-call", release="0.10.2")
def propagate_sharding_from_func_to_call(module: ir.Module) -> Changes:
    """Propagate the shardings of callee results to calls.

    Copies the shardings of the callee's results to each `func.call` that has no `sdy.sharding`. A
    result without a sharding gets a fully open sharding on the mesh of the first result that has
    a sharding on a mesh that is not maximal. If there is no such mesh, or if the call already has a
    sharding, the call is not changed.

    ```mlir
    // the result of @f is sharded by [{"x"}]
    %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
    ```

    becomes

    ```mlir
    %0 = call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
        : (tensor<8xf32>) -> tensor<8xf32>
    ```
    """
    functions = {symbol_name(function): function for function in functions_of(module)}
    calls = [
        call
        for function in functions.values()
        for call in operations_named({"func.call"}, function)
        if not has_discardable(call, SHARDING)
    ]
    if not calls:
        return UNCHANGED
    context = FunctionContext.of(module)
    lists: dict[str, TensorShardingPerValue | None] = {}
    for call in calls:
        callee = callee_of(call)
        if callee not in lists:
            types = [result.type for result in call.results]
            lists[callee] = complete_list(
                result_shardings(functions[callee]), types, context.meshes
            )
        if (shardings := lists[callee]) is not None:
            set_discardable(call, SHARDING, context.cache[shardings])
    return Changes(stale=OF_INTERFACE)
