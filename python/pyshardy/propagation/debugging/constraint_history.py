# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Debug information of `sdy-apply-sharding-constraints`, in the format of propagation."""

from __future__ import annotations

from collections.abc import Sequence

from mlir_sdy import sdy
from mlir_sdy.attributes import AttributeCache, value_of
from mlir_sdy.discardable import set_discardable
from mlir_sdy.host import ir
from mlir_sdy.model import EdgeNodeType, EdgeValueRef
from mlir_sdy.op_classes import view_as
from pyshardy.propagation.debugging.propagation_edges import EDGES, edges_attribute, first_free_step
from pyshardy.propagation.debugging.sharding_origins import ShardingOrigins
from pyshardy.propagation.engine import Engine
from pyshardy.propagation.program import Program
from pyshardy.propagation.relations import RelationReader
from pyshardy.rules import ShardingRuleLookup

_INPUT = EdgeValueRef(EdgeNodeType.OPERAND, 0)
_RESULT = EdgeValueRef(EdgeNodeType.RESULT, 0)


def write_origins(module: ir.Module) -> None:
    """Record for the axes of all shardings of a module the user's shardings they come from.

    An axis of the input of a constraint comes from the constraint; see `ShardingOrigins`.
    """
    lookup = ShardingRuleLookup()
    program = Program(module, lookup)
    engine = Engine(program, RelationReader(program, lookup))
    origins = ShardingOrigins()
    origins.on_start(engine)
    origins.on_end(engine)


def write_steps(module: ir.Module, applied: Sequence[ir.Operation]) -> None:
    """Record for each constraint that it sharded its input, in a step of its own.

    Args:
        module: the module that the constraints are in.
        applied: the constraints whose shardings were copied to their inputs, in this order.
    """
    cache = AttributeCache(module.context)
    first = first_free_step(Program(module, ShardingRuleLookup()).operations)
    for step, constraint in enumerate(applied, first):
        sharding = value_of(view_as(sdy.ShardingConstraintOp, constraint).sharding)
        edges = {
            (axis, _RESULT, _INPUT): step for dim in sharding.dim_shardings for axis in dim.axes
        }
        if edges:
            set_discardable(constraint, EDGES, cache[edges_attribute(edges)])
