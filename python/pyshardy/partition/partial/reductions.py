# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Completion of the partial results of an operation, and the factors without one.

Most are completed by an `sdy.all_reduce` after the operation. The local form of the operation
completes the others itself (see `local/completing.py`).

Devices can't compute an operation on their shards alone along its *blocked* factors:

1. Factors that need replication, and those that need elements of other shards. If the operation
   has a form with an exchange (see `halo`), that has replaced it before.
2. Factors that are reduced, if partial results can't be completed (see `completion_of`).
3. For some operations also pass-through factors, which their records state.
"""

from __future__ import annotations

import math

from mlir_sdy.host import ir
from mlir_sdy.model import OpShardingRule, ReductionOp
from mlir_sdy.values import result_shardings_of
from pyshardy.irtools.constants import is_zero_element, parts_of, uniform_element
from pyshardy.partition.op_facts.record import Completion, record_of
from pyshardy.partition.op_facts.reduction_bodies import (
    combining_operations,
    is_boolean,
    is_idempotent,
    only_selects,
)
from pyshardy.partition.types.neutral_elements import has_zero, neutral_element

_BROADCAST = "stablehlo.broadcast_in_dim"

_KINDS = {
    "stablehlo.add": ReductionOp.SUM,
    "stablehlo.maximum": ReductionOp.MAX,
    "stablehlo.minimum": ReductionOp.MIN,
}
_KINDS_OF_BOOLEANS = {
    "stablehlo.add": ReductionOp.MAX,
    "stablehlo.and": ReductionOp.MIN,
    "stablehlo.maximum": ReductionOp.MAX,
    "stablehlo.minimum": ReductionOp.MIN,
    "stablehlo.multiply": ReductionOp.MIN,
    "stablehlo.or": ReductionOp.MAX,
}


def completion_of(operation: ir.Operation) -> Completion | None:
    """Return the completion of an operation with sharded reduced factors; None if impossible."""
    find = record_of(operation.name).completion
    return None if find is None else find(operation)


def completion_by_sum(operation: ir.Operation) -> Completion | None:
    """Return the all-reduce that adds up the partial results; None if a type has no zero."""
    if not all(has_zero(result.type) for result in operation.results):
        return None
    kinds = (_kind("stablehlo.add", result.type) for result in operation.results)
    return Completion(tuple(kind or ReductionOp.SUM for kind in kinds))


def completion_by_body(
    operation: ir.Operation, *, completes_selections: bool = False
) -> Completion | None:
    """Return the all-reduce by the body of a reduction, or the completion by the local form.

    1. A body that combines each value by one operation is completed by the same operation, if
       `sdy.all_reduce` has it: sum, maximum or minimum, or `or` and `and` of truth values. Sums
       of a type without zero have no completion.
    2. Otherwise the operation completes itself, as by `completion_by_itself`.

    Args:
        operation: the operation, whose first region is the body.
        completes_selections: whether it also completes itself if its body only selects, as that of
            an argmax does.
    """
    body = operation.regions[0].blocks[0]
    names = combining_operations(body)
    if names is None:
        is_completed = completes_selections and only_selects(body)
        return completion_by_itself(operation) if is_completed else None
    results = [result.type for result in operation.results]
    pairs = zip(names, results, strict=True)
    if any(name == "stablehlo.add" and not has_zero(result) for name, result in pairs):
        return None
    kinds = [_kind(name, result) for name, result in zip(names, results, strict=True)]
    known = tuple(kind for kind in kinds if kind is not None)
    return Completion(known) if len(known) == len(kinds) else completion_by_itself(operation)


def completion_by_itself(operation: ir.Operation) -> Completion | None:
    """Return the completion by the local form, unless results have to stay unreduced."""
    stays_unreduced = any(sharding.unreduced_axes for sharding in result_shardings_of(operation))
    return None if stays_unreduced else Completion()


def counts_any_number_of_times(initial: ir.Value, name: str) -> bool:
    """Whether a reduction doesn't depend on how often its initial value is combined."""
    element_type = ir.RankedTensorType(initial.type).element_type
    return is_idempotent(name, element_type) or is_neutral(initial, name)


def is_neutral(value: ir.Value, name: str) -> bool:
    """Whether a value is a constant or a broadcast of one, and neutral to an operation.

    Zero is neutral to a sum, whatever its sign.
    """
    number = uniform_element(value, (_BROADCAST,))
    if number is None:
        return False
    if name == "stablehlo.add" and is_zero_element(number):
        return True
    neutral = neutral_element(name, ir.RankedTensorType(value.type).element_type)
    return neutral is not None and number == neutral.get_splat_value()


def is_positive_zero(value: ir.Value) -> bool:
    """Whether a value is a constant or a broadcast of one, with zeros of positive sign."""
    element = uniform_element(value, (_BROADCAST,))
    if element is None or not is_neutral(value, "stablehlo.add"):
        return False
    return all(
        not isinstance(part, ir.FloatAttr) or math.copysign(1, part.value) > 0
        for part in parts_of(element)
    )


def _kind(name: str, result: ir.Type) -> ReductionOp | None:
    if not isinstance(result, ir.RankedTensorType):
        return None
    element_type = result.element_type
    if isinstance(element_type, ir.ComplexType) and name != "stablehlo.add":
        return None
    return (_KINDS_OF_BOOLEANS if is_boolean(element_type) else _KINDS).get(name)


# --- Factors that block operations on shards alone ------------------------------------------------


def blocked_factors(operation: ir.Operation, rule: OpShardingRule) -> frozenset[int]:
    """Return the factors that must not be sharded for the operation to be computed on shards.

    Args:
        operation: the operation.
        rule: its rule.
    """
    blocked = {*rule.need_replication_factors, *rule.permutation_factors}
    blocked |= uncompletable_factors(operation, rule)
    find_blocked = record_of(operation.name).blocked_factors
    if find_blocked is not None:
        blocked.update(find_blocked(operation, rule))
    return frozenset(blocked)


def uncompletable_factors(operation: ir.Operation, rule: OpShardingRule) -> frozenset[int]:
    """Return the reduced factors of an operation if its partial results can't be completed."""
    if not rule.reduction_factors or completion_of(operation) is not None:
        return frozenset()
    return frozenset(rule.reduction_factors)


def factors_of(rule: OpShardingRule, tensor: int, dim: int) -> tuple[int, ...]:
    """Return the factors of a dimension of an operand or, after these, of a result."""
    return rule.mappings[tensor].dim_mappings[dim].factor_indices
