# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-aggressive-propagate`: propagate shardings, and resolve conflicts.

See `driver.propagate` for the errors.
"""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.irtools.analyses import Changes
from pyshardy.pipeline import register_pass
from pyshardy.propagation.driver import STRATEGIES, Hierarchy, propagate
from pyshardy.propagation.options import StrategyOptions

_DEFAULTS = StrategyOptions()


@register_pass("sdy-aggressive-propagate", release="0.10.2")
def aggressive_propagate(module: ir.Module, options: StrategyOptions = _DEFAULTS) -> Changes:
    """Propagate shardings and resolve conflicts within operations.

    Works like `sdy-basic-propagate`, but resolves conflicts:

    - Each tensor takes as many of a factor's axes as it can; an axis that one tensor cannot take is
      still propagated to the others.
    - If two factors need the same axis in one tensor, the factor whose source is the larger tensor
      is propagated first. Ties of element-wise operations are broken in favor of the source that
      is sharded further, then of the earlier operand.

    ```mlir
    // a: [{"x"}, {?}]   b: [{?}, {"x"}]   both 8x8
    %0 = stablehlo.dot %a, %b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    ```

    shards `%0` as `[{"x", ?}, {?}]`; the basic strategy does not shard it.
    """
    return propagate(module, Hierarchy(STRATEGIES[options.propagation_strategy]), options)
