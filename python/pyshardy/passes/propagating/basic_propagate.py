# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-basic-propagate`: propagate shardings where nothing conflicts.

See `driver.propagate` for the errors.
"""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.irtools.analyses import Changes
from pyshardy.pipeline import register_pass
from pyshardy.propagation.driver import STRATEGIES, Hierarchy, propagate
from pyshardy.propagation.options import PropagationSettings

_DEFAULTS = PropagationSettings()


@register_pass("sdy-basic-propagate", release="0.10.2")
def basic_propagate(module: ir.Module, options: PropagationSettings = _DEFAULTS) -> Changes:
    """Propagate shardings without resolving conflicts.

    Extends the shardings of values that sharding rules and data-flow edges connect, until nothing
    changes.

    - Along a factor, each tensor is extended to the longest list of axes that is compatible with
      all tensors that have the factor: up to there, their lists must be prefixes of one another.
    - Only open dimensions are extended, and only by axes that the tensor does not use.
    - Where tensors disagree, propagation along the factor stops; the conflict is not resolved.

    ```mlir
    func.func @f(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                 %b: tensor<8x16xf32>) -> tensor<8x16xf32> {
      %0 = stablehlo.add %a, %b : tensor<8x16xf32>
    ```

    shards `%b`, `%0` and the result of the function by "x" along their first dimension.
    """
    return propagate(module, Hierarchy(STRATEGIES["basic"]), options)
