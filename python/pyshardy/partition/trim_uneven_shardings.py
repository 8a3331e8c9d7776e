# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-trim-uneven-shardings`: no dimension is split into unequal parts.

Before, on a mesh `<["x"=4]>`:

    %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<6xf32>

After:

    %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x":(1)2}]>]>} : tensor<6xf32>
"""  # noqa: E501 (one line is one operation)

from __future__ import annotations

from mlir_sdy.attributes import AttributeCache
from mlir_sdy.host import ir
from mlir_sdy.symbols import meshes_of
from pyshardy.passes.exporting.update_non_divisible_input_output_shardings import (
    trim_shardings_of,
    update_non_divisible_input_output_shardings,
)


def trim_uneven_shardings(module: ir.Module) -> None:
    """Shorten the shardings of all values by what does not divide their dimensions.

    Propagation may shard a dimension by axes that don't divide it; the programs of devices have
    shards of equal size.
    """
    update_non_divisible_input_output_shardings(module)
    meshes = meshes_of(module)
    cache = AttributeCache(module.context)
    operations: list[ir.Operation] = []

    def collect(operation: ir.Operation) -> ir.WalkResult:
        operations.append(operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(collect, ir.WalkOrder.PRE_ORDER)
    for operation in operations:
        trim_shardings_of(operation, meshes, cache)
