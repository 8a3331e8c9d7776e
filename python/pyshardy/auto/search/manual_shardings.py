# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The shardings of manual computations along their free axes.

Manual computations are kept as they are. A dimension that is open may be sharded along axes that
the computation leaves free: it is, as propagation decides from the shardings of the program.
"""

from __future__ import annotations

from mlir_sdy.attributes import value_of
from mlir_sdy.discardable import get_discardable, set_discardable
from mlir_sdy.host import ir
from mlir_sdy.traversal import named_operations_in
from pyshardy.irtools.modules import copy_of
from pyshardy.pipeline import run_pipeline

_SHARDINGS = ("in_shardings", "out_shardings")


def propagate_to_manual_computations(module: ir.Module) -> None:
    """Close the shardings of the manual computations of a program by propagation.

    Args:
        module: the program, of which nothing else is changed.
    """
    own = _manual_computations(module)
    if not any(map(_is_open, own)):
        return
    propagated = copy_of(module)
    run_pipeline(propagated, "sdy-propagation-pipeline")
    found = _manual_computations(propagated)
    if len(found) != len(own):  # some have no effect, and are gone
        return
    for operation, closed in zip(own, found, strict=True):
        for name in _SHARDINGS:
            set_discardable(operation, name, get_discardable(closed, name))


def _manual_computations(module: ir.Module) -> list[ir.Operation]:
    return [
        operation
        for operation, name in named_operations_in(module)
        if name == "sdy.manual_computation"
    ]


def _is_open(operation: ir.Operation) -> bool:
    return any(
        not dim.is_closed
        for name in _SHARDINGS
        for sharding in value_of(get_discardable(operation, name)).shardings
        for dim in sharding.dim_shardings
    )
