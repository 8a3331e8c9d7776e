# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-user-priority-propagate`: propagate shardings by the user's priorities."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.irtools.analyses import inserts
from pyshardy.propagation.driver import Hierarchy, propagate
from pyshardy.propagation.options import PriorityOptions

_DEFAULTS = PriorityOptions()


@inserts()
def user_priority_propagate(module: ir.Module, options: PriorityOptions = _DEFAULTS) -> None:
    """Propagate shardings by the user's priorities.

    See `driver.propagate` for the arguments and errors.
    """
    propagate(module, Hierarchy.of(options, by_user=True), options)
