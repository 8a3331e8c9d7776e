# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-aggressive-propagate`: propagate shardings, and resolve conflicts."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.irtools.analyses import inserts
from pyshardy.propagation.driver import STRATEGIES, Hierarchy, propagate
from pyshardy.propagation.options import StrategyOptions

_DEFAULTS = StrategyOptions()


@inserts()
def aggressive_propagate(module: ir.Module, options: StrategyOptions = _DEFAULTS) -> None:
    """Propagate shardings, and resolve conflicts.

    See `driver.propagate` for the arguments and errors.
    """
    propagate(module, Hierarchy(STRATEGIES[options.propagation_strategy]), options)
