# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The values of a program that may stay partial until a later operation.

    %0 = stablehlo.dot_general %x, %w        // may stay partial
    %1 = stablehlo.transpose %0              // as well
    %2 = stablehlo.slice %1                  // is completed: it has fewer bytes
    %3 = stablehlo.tanh %2

1. The value is the result of a sum, such as a product of matrices, or of a linear operation on such
   values, by the records of the partitioner (`linearity_of`).
2. Its only use is a linear operation in the same block.
3. Something is gained: after some such operations, a result has fewer bytes, or several partial
   values are combined.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from mlir_sdy.fold.pattern import has_one_use
from mlir_sdy.host import ir
from mlir_sdy.model import ReductionOp
from mlir_sdy.traversal import SCALAR_BODIES, named_operations_in
from pyshardy.irtools.tensor_types import element_bytes, shape_of
from pyshardy.partition.op_facts.linear_operations import has_booleans, linearity_of
from pyshardy.partition.op_facts.record import record_of
from pyshardy.partition.op_facts.reductions import completion_of

_SUMMING = frozenset(
    {"stablehlo.convolution", "stablehlo.dot", "stablehlo.dot_general", "stablehlo.reduce"}
)


class PartialValues:
    """The values of a program that may stay partial.

    Args:
        module: the program.
        is_free: whether the plan may choose the sharding of a value.
    """

    def __init__(self, module: ir.Module, is_free: Callable[[ir.Value], bool]) -> None:
        self._users: dict[ir.Value, ir.Operation] = {}
        for operation, name in named_operations_in(module, leaving_out=SCALAR_BODIES):
            takes_partial = bool(self.operands_of(operation))
            if name not in _SUMMING and not takes_partial:
                continue
            if len(operation.results) != 1 or record_of(name).local_form is None:
                continue
            result = operation.results[0]
            if not shape_of(result.type) or has_booleans(result) or not is_free(result):
                continue
            user = _user_in_block(operation)
            if user is not None and (takes_partial or _is_sum(operation, name)):
                self._users[result] = user
        useful: set[ir.Value] = set()
        for value, user in reversed(self._users.items()):
            options = self.operands_of(user)
            position = [*user.operands].index(value)
            own = next((option for option in options if position in option), ())
            gains = len(own) > 1 or _bytes(user.results[0]) < _bytes(value)
            if own and is_free(user.results[0]) and (gains or user.results[0] in useful):
                useful.add(value)
        self._users = {value: self._users[value] for value in useful}

    def __contains__(self, value: ir.Value) -> bool:
        return value in self._users

    def operands_of(self, operation: ir.Operation) -> tuple[tuple[int, ...], ...]:
        """Return the operands that may be partial: several together, or one or another."""
        users = self._users
        partial = {at for at, value in enumerate(operation.operands) if value in users}
        if not partial or len(operation.results) != 1:
            return ()
        linearity = linearity_of(operation, ReductionOp.SUM)
        if linearity is None:
            return ()
        positions = [at for at in linearity.operands if shape_of(operation.operands[at].type)]
        partial = [at for at in positions if at in partial]
        if not linearity.together:
            return tuple((at,) for at in partial)
        return (tuple(partial),) if partial and partial == positions else ()


def _user_in_block(operation: ir.Operation) -> ir.Operation | None:
    """Return the only user of an operation's result; None if there is none in its block."""
    result = operation.results[0]
    if not has_one_use(result):
        return None
    (use,) = result.uses
    user = use.owner.operation
    return user if user.block == operation.block and len(user.results) == 1 else None


def _is_sum(operation: ir.Operation, name: str) -> bool:
    """Whether an operation adds up the elements of dimensions."""
    if name not in _SUMMING:
        return False
    completion = completion_of(operation)
    return completion is not None and completion.kinds == (ReductionOp.SUM,)


def _bytes(value: ir.Value) -> int:
    return element_bytes(value.type) * math.prod(shape_of(value.type))
