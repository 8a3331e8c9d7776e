# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-add-data-flow-edges`: mark values that flow through operations unchanged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mlir_sdy import sdy
from mlir_sdy.attributes import AttributeCache
from mlir_sdy.host import ir
from mlir_sdy.model import TensorSharding
from mlir_sdy.values import (
    COMPUTATIONS,
    DATA_FLOW_OPERATIONS,
    body_argument_shardings,
    edge_operation,
    result_shardings_of,
)
from pyshardy.irtools.analyses import OF_SHARDINGS, UNCHANGED, Changes
from pyshardy.irtools.functions import has_static_shape
from pyshardy.irtools.walks import operations_named
from pyshardy.pipeline import register_pass


@register_pass("sdy-add-data-flow-edges", release="0.10.2")
def add_data_flow_edges(module: ir.Module) -> Changes:
    """Insert data-flow edges for operations with regions and barriers.

    Inserts an `sdy.data_flow_edge` after each edge owner of static shape: the results of
    `stablehlo.while`, `stablehlo.case`, `stablehlo.optimization_barrier`, `sdy.manual_computation`
    and `sdy.named_computation`, and the block arguments of the last two. The edge takes over the
    sharding and all uses of the owner. Owners that already have an edge are skipped.

    ```mlir
    %0 = stablehlo.optimization_barrier %a : tensor<8xf32>
    return %0 : tensor<8xf32>
    ```

    becomes

    ```mlir
    %0 = stablehlo.optimization_barrier %a : tensor<8xf32>
    %1 = sdy.data_flow_edge %0 : tensor<8xf32>
    return %1 : tensor<8xf32>
    ```
    """
    operations = operations_named(DATA_FLOW_OPERATIONS, module, ir.WalkOrder.POST_ORDER)
    if not operations:
        return UNCHANGED
    add_edges(operations)
    return Changes({"sdy.data_flow_edge"}, OF_SHARDINGS)


def add_edges(operations: Iterable[ir.Operation]) -> None:
    """Insert an edge for each owner of data-flow operations.

    1. Owners are the results and, at a computation, the arguments of its body.
    2. An owner of static shape gets one, used or not, unless it has one already.
    3. The edge gets the sharding and all uses of its owner. The operation keeps its shardings.

    The body of a manual computation along `x` with the input `<@mesh, [{"x", "y"}]>` begins with
    `sdy.data_flow_edge %arg sharding=<@mesh, [{"y"}]>`.
    """
    cache: AttributeCache | None = None
    for operation in operations:
        cache = cache or AttributeCache(operation.context)
        if operation.name in COMPUTATIONS:
            body = operation.regions[0].blocks[0]
            place = ir.InsertionPoint.at_block_begin(body)
            _add(list(body.arguments), body_argument_shardings(operation), place, cache)
        place = ir.InsertionPoint.after(operation)
        _add(list(operation.results), result_shardings_of(operation), place, cache)


def _add(
    owners: Sequence[ir.Value],
    shardings: Sequence[TensorSharding],
    place: ir.InsertionPoint,
    cache: AttributeCache,
) -> None:
    for index, owner in enumerate(owners):
        if not has_static_shape(owner.type) or edge_operation(owner) is not None:
            continue
        sharding = cache[shardings[index]] if shardings else None
        edge = sdy.DataFlowEdgeOp(owner, sharding=sharding, loc=owner.location, ip=place)
        owner.replace_all_uses_except(edge.result, edge.operation)
