# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Constraints on the shardings of values: constraints, and inputs of manual computations."""

from __future__ import annotations

from mlir_sdy import sdy
from mlir_sdy.attributes import value_of
from mlir_sdy.host import ir
from mlir_sdy.model import TensorSharding
from mlir_sdy.op_classes import view_as
from mlir_sdy.values import get_sharding

CONSTRAINT = "sdy.sharding_constraint"
MANUAL_COMPUTATION = "sdy.manual_computation"


def input_shardings(operation: ir.Operation) -> tuple[TensorSharding, ...]:
    """Return the shardings that one of the two operations requires of its operands, as written."""
    if operation.name == CONSTRAINT:
        return (value_of(view_as(sdy.ShardingConstraintOp, operation).sharding),)
    return value_of(view_as(sdy.ManualComputationOp, operation).in_shardings).shardings


def may_be_dictated(value: ir.Value) -> bool:
    """Whether a constraint may set the sharding of a value: it has none or an open one."""
    sharding = get_sharding(value)
    return sharding is None or sharding.is_unconstrained


def constraint_at(use: ir.OpOperand) -> TensorSharding | None:
    """Return the sharding that a use of a value requires; None if it requires none."""
    user = use.owner.operation
    if user.name in (CONSTRAINT, MANUAL_COMPUTATION):
        return input_shardings(user)[use.operand_number]
    return None
