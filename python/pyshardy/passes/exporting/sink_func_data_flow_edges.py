# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-sink-func-data-flow-edges`: remove the data-flow edges between functions.

An input with a sharding whose edge has none becomes fully open.
"""

from __future__ import annotations

from mlir_sdy.attributes import AttributeCache
from mlir_sdy.host import ir
from mlir_sdy.values import get_sharding, result_shardings_of, set_sharding
from pyshardy.irtools.analyses import OF_SHARDINGS, UNCHANGED, Changes
from pyshardy.irtools.shardings import remove_edge
from pyshardy.irtools.walks import operations_named
from pyshardy.pipeline import register_pass


@register_pass("sdy-sink-func-data-flow-edges", anchor="func.func", release="0.10.2")
def sink_func_data_flow_edges(function: ir.Operation | ir.OpView) -> Changes:
    """Remove data-flow edges of functions and move their shardings to the inputs.

    Moves the sharding of each `sdy.func_data_flow_edge` to its input, and replaces the edge by the
    input. If the edge has no sharding and its input has one, that one becomes fully open.

    ```mlir
    %0 = call @f(%b) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = sdy.func_data_flow_edge %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
        : tensor<8xf32>
    return %1 : tensor<8xf32>
    ```

    becomes

    ```mlir
    %0 = call @f(%b) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
        : (tensor<8xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
    ```
    """
    cache = AttributeCache(function.context)
    edges = operations_named({"sdy.func_data_flow_edge"}, function)
    for edge in edges:
        source = edge.operands[0]
        own = result_shardings_of(edge)
        current = get_sharding(source)
        if own:
            set_sharding(source, own[0], cache)
        elif current is not None:
            set_sharding(source, current.fully_open_like(), cache)
        remove_edge(edge)
    return Changes(stale=OF_SHARDINGS) if edges else UNCHANGED
