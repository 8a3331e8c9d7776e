# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-propagate-sharding-from-func-to-call`: shard calls as the results of what they call.

Before, where the result of `@f` is sharded by `<@mesh, [{"x"}]>`:

    %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>

After:

    %0 = call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
        : (tensor<8xf32>) -> tensor<8xf32>
"""

from __future__ import annotations

from mlir_sdy.attributes import AttributeCache
from mlir_sdy.host import ir
from mlir_sdy.model import TensorShardingPerValue
from mlir_sdy.symbols import meshes_of
from mlir_sdy.values import SHARDING, result_shardings
from pyshardy.irtools.call_graph import callee_of
from pyshardy.irtools.functions import functions_of
from pyshardy.irtools.sharding_lists import complete_list
from pyshardy.irtools.symbols import symbol_name
from pyshardy.irtools.walks import operations_named


def propagate_sharding_from_func_to_call(module: ir.Module) -> None:
    """Give each call without shardings those of its callee's results.

    1. Results without a sharding get a fully open one, as `complete_list` has it; callees without
       such a list, like those that are sharded on maximal meshes only, give nothing.
    2. A call that says anything of its results' shardings stays as it is.
    3. So do the calls in a module in the module, whose functions are others.
    """
    functions = {symbol_name(function): function for function in functions_of(module)}
    calls = [
        call
        for function in functions.values()
        for call in operations_named({"func.call"}, function)
        if SHARDING not in call.attributes
    ]
    if not calls:
        return
    meshes = meshes_of(module)
    cache = AttributeCache(module.context)
    lists: dict[str, TensorShardingPerValue | None] = {}
    for call in calls:
        callee = callee_of(call)
        if callee not in lists:
            types = [result.type for result in call.results]
            lists[callee] = complete_list(result_shardings(functions[callee]), types, meshes)
        if (shardings := lists[callee]) is not None:
            call.attributes[SHARDING] = cache[shardings]
