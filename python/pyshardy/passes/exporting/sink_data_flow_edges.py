# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-sink-data-flow-edges`: remove the data-flow edges in functions."""

from __future__ import annotations

from mlir_sdy.attributes import AttributeCache
from mlir_sdy.discardable import get_discardable, set_discardable
from mlir_sdy.host import ir
from mlir_sdy.model import PropagationEdges
from mlir_sdy.values import DATA_FLOW_OPERATIONS
from pyshardy.irtools.analyses import OF_SHARDINGS, UNCHANGED, Changes
from pyshardy.irtools.shardings import argument_edges, remove_edge, result_edges
from pyshardy.irtools.walks import operations_named
from pyshardy.pipeline import register_pass

_EDGE = "sdy.data_flow_edge"


@register_pass("sdy-sink-data-flow-edges", anchor="func.func", release="0.10.2")
def sink_data_flow_edges(
    function: ir.Operation | ir.OpView,
    *,
    sink_debug_sharding_origins: bool = False,
    sink_debug_propagation_edge_sharding: bool = False,
) -> Changes:
    """Remove data-flow edges and move their shardings to the owners.

    Moves the shardings of the data-flow edges of an operation to the operation, and replaces each
    `sdy.data_flow_edge` by its input.

    - The edges of block arguments and the edges of results are two separate groups.
    - If no edge of a group has a sharding, the operation keeps its shardings of that group.
    - Otherwise each value of the group gets the sharding of its edge, or a fully open sharding.

    ```mlir
    %0:2 = stablehlo.optimization_barrier %a, %b : tensor<8xf32>, tensor<8xf32>
    %1 = sdy.data_flow_edge %0#0 : tensor<8xf32>
    %2 = sdy.data_flow_edge %0#1 sharding=<@mesh, [{"x"}]> : tensor<8xf32>
    return %1, %2 : tensor<8xf32>, tensor<8xf32>
    ```

    becomes

    ```mlir
    %0:2 = stablehlo.optimization_barrier
        {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}]>, <@mesh, [{"x"}]>]>} %a, %b : ...
    return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
    ```

    The options move the debug information of the edges to the operation, as
    `sdy.block_arg_sharding_origins` and `sdy.result_sharding_origins`, or as
    `sdy.block_arg_propagation_edges` and `sdy.result_propagation_edges`.

    Options:
        sink_debug_sharding_origins: whether to keep the origins of the edges' shardings.
        sink_debug_propagation_edge_sharding: whether to keep the steps that sharded the edges.
    """
    found = operations_named(DATA_FLOW_OPERATIONS | {_EDGE}, function)
    if not found:
        return UNCHANGED
    cache = AttributeCache(function.context)
    history: dict[str, ir.Attribute] = {}
    if sink_debug_sharding_origins:
        history["sharding_origins"] = ir.DictAttr.get({}, function.context)
    if sink_debug_propagation_edge_sharding:
        history["propagation_edges"] = cache[PropagationEdges(())]
    edges: list[ir.Operation] = []
    for operation in found:
        if operation.name == _EDGE:
            edges.append(operation)
            continue
        for prefix, group in (
            ("block_arg", argument_edges(operation)),
            ("result", result_edges(operation)),
        ):
            group.sink_shardings(cache)
            for name, absent in history.items():
                notes = [
                    get_discardable(edge, f"sdy.{name}") or absent
                    for edge in group.edges
                    if edge is not None
                ]
                attribute = ir.ArrayAttr.get(notes, function.context)
                set_discardable(operation, f"sdy.{prefix}_{name}", attribute)
    for edge in edges:
        remove_edge(edge)
    return Changes(stale=OF_SHARDINGS)
