# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-remove-all-gather-reduce-scatter-for-cmv1`: leave them to collective matmuls, v1.

For each product:

1. Operands that are all-gathers without another use are replaced by the operand of the gather.
   A gather that is both operands has two uses.
2. If there is none, and the only use of the result is a reduce-scatter, and the product has no
   unreduced axes, it gets the sharding of the reduce-scatter, which is erased.
"""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.uses import has_one_use, producer, replace_by
from mlir_sdy.values import get_sharding, result_shardings_of, set_result_shardings_of
from pyshardy.irtools.walks import operations_named
from pyshardy.pipeline import register_pass

_PRODUCTS = frozenset({"stablehlo.dot", "stablehlo.dot_general"})


@register_pass(
    "sdy-remove-all-gather-reduce-scatter-for-cmv1", anchor="func.func", release="0.10.2"
)
def remove_all_gather_reduce_scatter_for_cmv1(function: ir.Operation | ir.OpView) -> None:
    """Remove all-gathers and reduce-scatters around matrix products.

    Prepares matrix products for a compiler that overlaps communication with the product itself
    (collective matmul, v1) and inserts the collectives. For each `stablehlo.dot` and
    `stablehlo.dot_general`:

    - each operand that is an `sdy.all_gather` with a single use is replaced by the input of the
      all-gather;
    - if there is no such operand, and the only use of the result is an `sdy.reduce_scatter`, the
      product replaces the reduce-scatter and takes over its sharding, unless that has unreduced
      axes.

    ```mlir
    %0 = sdy.all_gather [{"x"}, {}] %b out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
    %1 = stablehlo.dot %a, %0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    ```

    becomes

    ```mlir
    %0 = stablehlo.dot %a, %b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    ```
    """
    removed: list[ir.Operation] = []
    for product in operations_named(_PRODUCTS, function, ir.WalkOrder.POST_ORDER):
        gathers = [
            gather
            for operand in product.operands
            if (gather := producer(operand, "sdy.all_gather")) is not None and has_one_use(operand)
        ]
        removed.extend(gathers)
        if not gathers and (scatter := _only_scatter(product)) is not None:
            set_result_shardings_of(product, {0: result_shardings_of(scatter)[0]})
            removed.append(scatter)
    for collective in removed:
        replace_by(collective, collective.operands[0])


def _only_scatter(product: ir.Operation) -> ir.Operation | None:
    """Return the reduce-scatter that is the only use of a product without unreduced axes."""
    result = product.results[0]
    if not has_one_use(result):
        return None
    user = next(iter(result.uses)).owner.operation
    sharding = get_sharding(result)
    is_unreduced = sharding is not None and bool(sharding.unreduced_axes)
    return user if user.name == "sdy.reduce_scatter" and not is_unreduced else None
