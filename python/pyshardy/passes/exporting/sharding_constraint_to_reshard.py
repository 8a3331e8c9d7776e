# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-sharding-constraint-to-reshard`: turn sharding constraints into reshards."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.irtools.analyses import UNCHANGED, Changes
from pyshardy.irtools.shardings import constraint_to_reshard
from pyshardy.irtools.walks import operations_named
from pyshardy.pipeline import register_pass


@register_pass("sdy-sharding-constraint-to-reshard", anchor="func.func", release="0.10.2")
def sharding_constraint_to_reshard(function: ir.Operation | ir.OpView) -> Changes:
    """Convert sharding constraints to reshards.

    Replaces each `sdy.sharding_constraint` by an `sdy.reshard` with the same input, sharding and
    attributes.

    ```mlir
    %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : tensor<8x16xf32>
    ```

    becomes

    ```mlir
    %1 = sdy.reshard %0 <@mesh, [{"x"}, {}]> : tensor<8x16xf32>
    ```
    """
    constraints = operations_named({"sdy.sharding_constraint"}, function)
    for constraint in constraints:
        constraint_to_reshard(constraint)
    return Changes({"sdy.reshard"}) if constraints else UNCHANGED
