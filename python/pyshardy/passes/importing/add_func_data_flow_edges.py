# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-add-func-data-flow-edges`: mark values that flow into functions and out of calls.

Only values of static shape get one. The edge gets their sharding and all their uses.
"""

from __future__ import annotations

from mlir_sdy import sdy
from mlir_sdy.attributes import AttributeCache
from mlir_sdy.discardable import set_discardable
from mlir_sdy.host import ir
from mlir_sdy.model import TensorSharding, TensorShardingPerValue
from mlir_sdy.values import SHARDING, argument_shardings, result_shardings_of
from pyshardy.irtools.analyses import OF_SHARDINGS, UNCHANGED, Changes
from pyshardy.irtools.functions import (
    entry_block,
    functions_of,
    has_static_shape,
    main_function,
)
from pyshardy.irtools.walks import operations_named
from pyshardy.pipeline import register_pass


@register_pass("sdy-add-func-data-flow-edges", release="0.10.2")
def add_func_data_flow_edges(module: ir.Module) -> Changes:
    """Insert data-flow edges for function arguments and call results.

    Inserts an `sdy.func_data_flow_edge` after each argument of static shape of each function except
    the main function, and after each call result of static shape. The edge takes over the sharding
    and all uses of the value. Through the edges, shardings propagate from the operands of all calls
    to the function's arguments, and from the returned values to the results of the calls.

    The main function is the only function of the module, or the one named `main`.

    ```mlir
    %0 = call @f(%b) : (tensor<8xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
    ```

    becomes

    ```mlir
    %0 = call @f(%b) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = sdy.func_data_flow_edge %0 : tensor<8xf32>
    return %1 : tensor<8xf32>
    ```

    Raises:
        PassError: there are several functions, but none is called `main`.
    """
    main = main_function(module)
    others = [function for function in functions_of(module) if function != main]
    calls = operations_named({"func.call"}, module)
    if not others and not calls:
        return UNCHANGED
    cache = AttributeCache(module.context)
    for function in others:
        block = entry_block(function)
        if block is None:
            continue
        place = ir.InsertionPoint.at_block_begin(block)
        arguments = zip(block.arguments, argument_shardings(function), strict=True)
        for argument, sharding in arguments:
            _add_edge(argument, sharding, place, cache)
    for call in calls:
        shardings = result_shardings_of(call) or (None,) * len(call.results)
        place = ir.InsertionPoint.after(call)
        for result, sharding in zip(call.results, shardings, strict=True):
            _add_edge(result, sharding, place, cache)
    return Changes({"sdy.func_data_flow_edge"}, OF_SHARDINGS)


def _add_edge(
    value: ir.Value,
    sharding: TensorSharding | None,
    place: ir.InsertionPoint,
    cache: AttributeCache,
) -> None:
    if not has_static_shape(value.type):
        return
    edge = sdy.FuncDataFlowEdgeOp(value, loc=value.location, ip=place)
    if sharding is not None:
        attribute = cache[TensorShardingPerValue((sharding,))]
        set_discardable(edge.operation, SHARDING, attribute)
    value.replace_all_uses_except(edge.result, edge.operation)
