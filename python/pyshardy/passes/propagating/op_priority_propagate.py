# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-op-priority-propagate`: propagate shardings, pass-through operations first."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.irtools.analyses import inserts
from pyshardy.propagation.driver import Hierarchy, propagate
from pyshardy.propagation.options import PriorityOptions

_DEFAULTS = PriorityOptions()


@inserts()
def op_priority_propagate(module: ir.Module, options: PriorityOptions = _DEFAULTS) -> None:
    """Propagate shardings, pass-through operations first.

    See `driver.propagate` for the arguments and errors.
    """
    propagate(module, Hierarchy.of(options), options)
