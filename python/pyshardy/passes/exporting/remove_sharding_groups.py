# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-remove-sharding-groups`: remove sharding groups, whose shardings are equal by now."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.irtools.analyses import Changes
from pyshardy.irtools.walks import operations_named
from pyshardy.pipeline import register_pass


@register_pass("sdy-remove-sharding-groups", release="0.10.2")
def remove_sharding_groups(module: ir.Module) -> Changes:
    """Remove sharding groups.

    Erases every `sdy.sharding_group`. After propagation, the members of a group have equal
    shardings.

    ```mlir
    sdy.sharding_group %0 group_id=3 : tensor<8xf32>
    ```

    is erased.
    """
    for group in operations_named({"sdy.sharding_group"}, module):
        group.erase()
    return Changes()
