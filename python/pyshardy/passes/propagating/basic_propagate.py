# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-basic-propagate`: propagate shardings where nothing conflicts."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.irtools.analyses import inserts
from pyshardy.propagation.driver import STRATEGIES, Hierarchy, propagate
from pyshardy.propagation.options import PropagationOptions

_DEFAULTS = PropagationOptions()


@inserts()
def basic_propagate(module: ir.Module, options: PropagationOptions = _DEFAULTS) -> None:
    """Propagate shardings where nothing conflicts.

    See `driver.propagate` for the arguments and errors.
    """
    propagate(module, Hierarchy(STRATEGIES["basic"]), options)
