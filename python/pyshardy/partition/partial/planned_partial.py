# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The partial results that a plan has chosen.

    %0 = stablehlo.dot_general %a, %b {
      sdy.partial_sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>,
      sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}

computes partial results along `x`, and completes them to the sharding of the value. Propagation
sees only the latter, since it permits no other operation than a reshard to complete an operand.

A user with such an attribute takes the partial results as they are, if it is linear in them. All
other users take the complete value.
"""

from __future__ import annotations

from collections.abc import Mapping

from mlir_sdy import sdy
from mlir_sdy.attribute_search import operations_with
from mlir_sdy.attributes import attribute_of, value_of
from mlir_sdy.discardable import (
    get_discardable,
    has_discardable,
    remove_discardable,
    set_discardable,
)
from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, ReductionOp, TensorSharding
from mlir_sdy.traversal import SCALAR_BODIES, named_operations_in
from mlir_sdy.uses import place_behind
from mlir_sdy.values import get_sharding, set_sharding
from mlir_sdy.verify.sharding import check_sharding
from mlir_sdy.verify.violation import ConstraintViolation
from pyshardy.irtools.walks import tell_inserted
from pyshardy.partition.function_context import FunctionContext
from pyshardy.partition.partial.linear_operations import linearity_of
from pyshardy.partition.partial.unreduced import origin_of

PARTIAL_SHARDING = "sdy.partial_sharding"
"""The attribute."""


def set_planned_partial(operation: ir.Operation, sharding: TensorSharding) -> None:
    """Set the sharding of the only result of an operation before its completion."""
    set_discardable(operation, PARTIAL_SHARDING, attribute_of(sharding, operation.context))


def apply_planned_partials(function: ir.Operation) -> bool:
    """Replace the attributes by unreduced axes, and by reshards that complete them.

    An attribute is dropped without effect if a pass has changed the operation since, so that the
    sharding doesn't fit its result.

    Args:
        function: the `func.func`.

    Returns:
        Whether there was one.
    """
    if not operations_with(PARTIAL_SHARDING, function):
        return False  # nearly always, and C++ finds it out
    planned = [
        operation
        for operation, _ in named_operations_in(function, leaving_out=SCALAR_BODIES)
        if has_discardable(operation, PARTIAL_SHARDING)
    ]
    context = FunctionContext.of(function)
    cache = context.cache
    partial: dict[ir.Value, TensorSharding] = {}
    for operation in planned:
        sharding = value_of(get_discardable(operation, PARTIAL_SHARDING))
        if isinstance(sharding, TensorSharding) and _fits(operation, sharding, context.meshes):
            partial[operation.results[0]] = sharding
    for result, sharding in partial.items():
        complete = get_sharding(result)
        set_sharding(result, sharding, cache)
        completed = [
            (user, use.operand_number)
            for use in result.uses
            if not _takes((user := use.owner.operation), use.operand_number, sharding, partial)
        ]
        if completed and complete is not None:
            place = place_behind(result)
            value = sdy.reshard(result, cache[complete], loc=origin_of(result), ip=place)
            for user, number in completed:
                user.operands[number] = value
    tell_inserted(function, "sdy.reshard")
    for operation in planned:
        remove_discardable(operation, PARTIAL_SHARDING)
    return True


def _fits(operation: ir.Operation, sharding: TensorSharding, meshes: Mapping[str, Mesh]) -> bool:
    """Whether an operation has a single result with a sharding, and could have another one."""
    if len(operation.results) != 1 or get_sharding(operation.results[0]) is None:
        return False
    try:
        check_sharding(sharding, operation.results[0].type, meshes, {})
    except ConstraintViolation:
        return False
    return True


def _takes(
    user: ir.Operation,
    operand: int,
    sharding: TensorSharding,
    partial: Mapping[ir.Value, TensorSharding],
) -> bool:
    """Whether an operand of a user stays partial.

    Args:
        user: the user.
        operand: the position of the operand.
        sharding: the sharding of the partial value.
        partial: the partial values, and their shardings.
    """
    linearity = linearity_of(user, ReductionOp.SUM)
    kept = partial.get(user.results[0]) if len(user.results) else None
    return (
        kept is not None
        and linearity is not None
        and operand in linearity.operands
        and {*sharding.unreduced_axes} <= {*kept.unreduced_axes}
    )
