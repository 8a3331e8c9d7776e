# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Completion of the partial results of an operation.

Most are completed by an `sdy.all_reduce` after the operation. The local form of the operation
completes the others itself (see `local/completing.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from mlir_sdy.host import ir
from mlir_sdy.model import ReductionOp
from mlir_sdy.values import result_shardings_of
from pyshardy.irtools.defining_ops import defining_operation
from pyshardy.partition.op_facts.neutral_elements import neutral_element
from pyshardy.partition.op_facts.reduction_bodies import (
    combining_operations,
    is_boolean,
    is_idempotent,
    only_selects,
)

CONTRACTIONS = frozenset(
    {
        "chlo.ragged_dot",
        "stablehlo.convolution",
        "stablehlo.dot",
        "stablehlo.dot_general",
        "stablehlo.einsum",
        "stablehlo.unary_einsum",
    }
)
"""Operations that add up products of elements."""

_ADDING = CONTRACTIONS | {
    "stablehlo.custom_call",
    "stablehlo.dynamic_slice",
    "stablehlo.gather",
}
"""Operations whose partial results are added up.

For slices, all but one device have zeros. The reduced factors of a custom call are those of its
rule.
"""

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


@dataclass(frozen=True, slots=True)
class Completion:
    """The completion of partial results.

    Attributes:
        kinds: for each result the kind of the all-reduce after the operation; none if the operation
            completes its results itself.
    """

    kinds: tuple[ReductionOp, ...] = ()

    @property
    def is_local(self) -> bool:
        """Whether the local form of the operation completes it."""
        return not self.kinds


def completion_of(operation: ir.Operation) -> Completion | None:
    """Return the completion of an operation with sharded reduced factors; None if impossible.

    1. The results of a contraction or a gather are added up.
    2. A `stablehlo.reduce` or `stablehlo.scatter` that combines each value by one operation is
       completed by the same operation, if `sdy.all_reduce` has it: sum, maximum or minimum, or `or`
       and `and` of truth values.
    3. Otherwise, and if the body of a `stablehlo.reduce` only selects, as that of an argmax does,
       the operation completes itself, unless its results have to stay unreduced. So does a
       `chlo.top_k`.
    """
    results = [result.type for result in operation.results]
    if operation.name in _ADDING:
        return Completion(
            tuple(_kind("stablehlo.add", result) or ReductionOp.SUM for result in results)
        )
    if operation.name not in ("chlo.top_k", "stablehlo.reduce", "stablehlo.scatter"):
        return None
    body = None if operation.name == "chlo.top_k" else operation.regions[0].blocks[0]
    names = None if body is None else combining_operations(body)
    if names is None:
        is_reduce = operation.name == "stablehlo.reduce"
        is_completable = body is None or (is_reduce and only_selects(body))
    else:
        kinds = [_kind(name, result) for name, result in zip(names, results, strict=True)]
        known = tuple(kind for kind in kinds if kind is not None)
        if len(known) == len(kinds):
            return Completion(known)
        is_completable = True
    stays_unreduced = any(sharding.unreduced_axes for sharding in result_shardings_of(operation))
    return Completion() if is_completable and not stays_unreduced else None


def counts_any_number_of_times(initial: ir.Value, name: str) -> bool:
    """Whether a reduction doesn't depend on how often its initial value is combined."""
    element_type = ir.RankedTensorType(initial.type).element_type
    return is_idempotent(name, element_type) or is_neutral(initial, name)


def is_neutral(value: ir.Value, name: str) -> bool:
    """Whether a value is a constant or a broadcast of one, and neutral to an operation.

    Zero is neutral to a sum, whatever its sign.
    """
    producer = defining_operation(value)
    while producer is not None and producer.name == "stablehlo.broadcast_in_dim":
        producer = defining_operation(producer.operands[0])
    if producer is None or producer.name not in ("stablehlo.constant", "sdy.constant"):
        return False
    literal = producer.attributes["value"]
    if not isinstance(literal, ir.DenseElementsAttr) or not literal.is_splat:
        return False
    number = literal.get_splat_value()
    if name == "stablehlo.add" and isinstance(number, ir.FloatAttr):
        return number.value == 0
    neutral = neutral_element(name, ir.RankedTensorType(value.type).element_type)
    return neutral is not None and number == neutral.get_splat_value()


def is_positive_zero(value: ir.Value) -> bool:
    """Whether a value is a constant or a broadcast of one, with zeros of positive sign."""
    if not is_neutral(value, "stablehlo.add"):
        return False
    producer = defining_operation(value)
    while producer is not None and producer.name == "stablehlo.broadcast_in_dim":
        producer = defining_operation(producer.operands[0])
    assert producer is not None, "it is a constant"
    number = producer.attributes["value"].get_splat_value()
    return not isinstance(number, ir.FloatAttr) or math.copysign(1, number.value) > 0


def _kind(name: str, result: ir.Type) -> ReductionOp | None:
    if not isinstance(result, ir.RankedTensorType):
        return None
    element_type = result.element_type
    if isinstance(element_type, ir.ComplexType) and name != "stablehlo.add":
        return None
    return (_KINDS_OF_BOOLEANS if is_boolean(element_type) else _KINDS).get(name)
