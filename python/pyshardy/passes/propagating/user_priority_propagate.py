# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-user-priority-propagate`: propagate shardings by the user's priorities.

See `driver.propagate` for the errors.
"""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.irtools.analyses import Changes
from pyshardy.pipeline import register_pass
from pyshardy.propagation.driver import Hierarchy, propagate
from pyshardy.propagation.options import PriorityOptions

_DEFAULTS = PriorityOptions()


@register_pass("sdy-user-priority-propagate", release="0.10.2")
def user_priority_propagate(module: ir.Module, options: PriorityOptions = _DEFAULTS) -> Changes:
    """Propagate shardings in the order of user priorities.

    Runs `sdy-op-priority-propagate` once for each priority that occurs, from the lowest number to
    the highest. Dimensions of later priorities are hidden: they appear unsharded and closed, and
    the same tensor cannot use their axes. Dimensions without a priority have priority 0.

    ```mlir
    func.func @f(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}p1, {}]>},
                 %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}p0]>}) {
      %0 = stablehlo.add %a, %b : tensor<8x8xf32>
    ```

    shards `%0` like `%b`, whose priority precedes that of `%a`.
    """
    return propagate(module, Hierarchy.of(options, by_user=True), options)
