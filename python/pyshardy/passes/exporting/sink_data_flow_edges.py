# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-sink-data-flow-edges`: remove the data-flow edges in functions.

Before:

    %0 = stablehlo.optimization_barrier %a : tensor<8xf32>
    %1 = sdy.data_flow_edge %0 sharding=<@mesh, [{"x"}]> : tensor<8xf32>
    return %1 : tensor<8xf32>

After:

    %0 = stablehlo.optimization_barrier
        {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} %a : tensor<8xf32>
    return %0 : tensor<8xf32>
"""

from __future__ import annotations

from mlir_sdy.attributes import AttributeCache
from mlir_sdy.discardable import get_discardable, set_discardable
from mlir_sdy.host import ir
from mlir_sdy.model import PropagationEdges
from mlir_sdy.values import DATA_FLOW_OPERATIONS
from pyshardy.irtools.analyses import inserts, mark_all_preserved, preserves
from pyshardy.irtools.edge_groups import argument_edges, remove_edge, result_edges
from pyshardy.irtools.walks import operations_named

_EDGE = "sdy.data_flow_edge"


@inserts()
@preserves("sharding-rules")
def sink_data_flow_edges(
    function: ir.Operation | ir.OpView,
    *,
    sink_debug_sharding_origins: bool = False,
    sink_debug_propagation_edge_sharding: bool = False,
) -> None:
    """Move the shardings of edges to the operations of their inputs, and erase the edges.

    Args:
        function: the function to work in.
        sink_debug_sharding_origins: keep the origins of the edges' shardings.
        sink_debug_propagation_edge_sharding: keep the steps that sharded the edges.
    """
    found = operations_named(DATA_FLOW_OPERATIONS | {_EDGE}, function)
    if not found:
        mark_all_preserved()
        return
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
                    for edge in group.edges()
                    if edge is not None
                ]
                attribute = ir.ArrayAttr.get(notes, function.context)
                set_discardable(operation, f"sdy.{prefix}_{name}", attribute)
    for edge in edges:
        remove_edge(edge)
