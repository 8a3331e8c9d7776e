# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-op-priority-propagate`: propagate shardings, pass-through operations first.

See `driver.propagate` for the errors.
"""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.irtools.analyses import Changes
from pyshardy.pipeline import register_pass
from pyshardy.propagation.driver import Hierarchy, propagate
from pyshardy.propagation.options import PriorityOptions

_DEFAULTS = PriorityOptions()


@register_pass("sdy-op-priority-propagate", release="0.10.2")
def op_priority_propagate(module: ir.Module, options: PriorityOptions = _DEFAULTS) -> Changes:
    """Propagate shardings in the order of operation priorities.

    Runs `sdy-aggressive-propagate` five times, each time through more operations and factors:

    0. element-wise operations, reshapes and transposes whose operands have no other use; dynamic
       slices forward;
    1. these operations regardless of the uses of their operands;
    2. all operations along pass-through factors, broadcasts only backward;
    3. all operations along all factors, broadcasts only backward;
    4. all operations along all factors in both directions.
    """
    return propagate(module, Hierarchy.of(options), options)
