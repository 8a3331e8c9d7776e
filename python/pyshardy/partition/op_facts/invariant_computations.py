# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Communication of loop invariants.

    stablehlo.while(%c = %a, %w = %b) ... do {
      %1 = stablehlo.convert %w : (tensor<8x8xbf16>) -> tensor<8x8xf32>    // %w never changes
      %2 = sdy.reshard %1 <@mesh, [{}, {}]> : tensor<8x8xf32>

becomes

    %1 = stablehlo.convert %b : (tensor<8x8xbf16>) -> tensor<8x8xf32>
    %2 = sdy.reshard %1 <@mesh, [{}, {}]> : tensor<8x8xf32>
    stablehlo.while(%c = %a, %w = %b) ... do {
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mlir_sdy.host import ir
from mlir_sdy.traversal import terminator_of
from mlir_sdy.uses import defining_operation
from pyshardy.irtools.loops import least_trips
from pyshardy.irtools.walks import operations_named
from pyshardy.propagation.elementwise import ELEMENTWISE_OPERATIONS

SENDING = frozenset({"sdy.all_reduce", "sdy.reshard"})
"""Operations that may communicate."""

MOST_BYTES = 1 << 30
"""The maximum size on a device of a value that is kept for a loop, by default."""

_REDUCE = "stablehlo.reduce"
_WHILE = "stablehlo.while"

_MOVABLE = (
    {name for name in ELEMENTWISE_OPERATIONS if name.startswith("stablehlo.")}
    | {
        f"stablehlo.{name}"
        for name in (
            "broadcast_in_dim",
            "concatenate",
            "constant",
            "dot",
            "dot_general",
            "dynamic_slice",
            "iota",
            "pad",
            "reduce",
            "reshape",
            "reverse",
            "slice",
            "transpose",
        )
    }
    | {"sdy.constant"}
    | SENDING
)
"""Operations without effects whose results depend on their operands only."""


def hoist_invariant_reshards(
    loop: ir.Operation,
    is_unchanged: Callable[[ir.Value], bool],
    is_worth_moving: Callable[[ir.Operation], bool],
) -> None:
    """Move reshards and all-reduces of invariant values before a loop, with their operands.

    1. A value is *invariant* if it comes from outside of the loop, is an argument that each trip
       returns as it is, or is computed from invariant values by operations in `_MOVABLE`, directly
       in the body.
    2. A reshard or all-reduce of an invariant value that the body computes is profitable to move.
    3. It is copied before the loop with the operations that it depends on, and the loop uses the
       copy. Operations in the loop that have become unused are erased.

    Args:
        loop: a `stablehlo.while`.
        is_unchanged: whether a value that the body doesn't compute is invariant.
        is_worth_moving: whether it is profitable to move a reshard or all-reduce.
    """
    body = loop.regions[1].blocks[0]
    operations = [view.operation for view in body.operations]
    if not any(each.name in SENDING for each in operations):
        return
    made: dict[ir.Value, ir.Operation] = {}

    def is_invariant(value: ir.Value) -> bool:
        return value in made or (not _is_made_in(value, body) and is_unchanged(value))

    moved: dict[ir.Value, ir.Value] = {}
    copied: list[ir.Operation] = []
    for operation in operations:
        if not _is_movable(operation) or not all(map(is_invariant, operation.operands)):
            continue
        if operation.name in SENDING and operation.operands[0] in made:
            if not is_worth_moving(operation):
                continue
            copied += _copy(operation, loop, made, moved)
        for result in operation.results:
            made[result] = operation
    for operation in operations:
        if operation.name in SENDING and operation.results[0] in moved:
            operation.results[0].replace_all_uses_with(moved[operation.results[0]])
    for operation in reversed(copied):
        if not any(any(result.uses) for result in operation.results):
            operation.erase()


class LoopInvariants:
    """The loops of a function, and the values that they don't change.

    A reshard of such a value is moved before the loops (see `sdy-hoist-reshards`), so that it costs
    as much as it does once.

    Args:
        function: the `func.func`. Reshards may be inserted later.
    """

    def __init__(self, function: ir.Operation):
        self._trips: dict[ir.Block, tuple[ir.Operation, int]] = {}
        self._invariant: set[ir.Value] = set()
        for loop in operations_named({_WHILE}, function):
            body = loop.regions[1].blocks[0]
            self._trips[body] = loop, least_trips(loop)
            self._read(body)

    def _read(self, body: ir.Block) -> None:
        known = self._invariant
        returned = terminator_of(body).operands
        known.update(each for each in body.arguments if returned[each.arg_number] == each)
        for view in body.operations:
            operation = view.operation
            if _is_movable(operation) and all(
                operand in known or not _is_of(operand, body) for operand in operation.operands
            ):
                known.update(operation.results)

    def uses(self, value: ir.Value, user: ir.Operation) -> int:
        """Return how often an operation in loops uses a value before it changes; 1 if once."""
        uses = 1
        while (maker := defining_operation(value)) is not None and maker.name in SENDING:
            value = maker.operands[0]
        while (found := self._trips.get(user.block)) is not None:
            loop, trips = found
            is_inside = _is_of(value, user.block)
            if is_inside and value not in self._invariant:
                break
            uses *= trips
            if is_inside and defining_operation(value) is not None:
                break
            if is_inside:
                value = loop.operands[ir.BlockArgument(value).arg_number]
            user = loop
        return uses


def _is_of(value: ir.Value, block: ir.Block) -> bool:
    """Whether a value is an argument of a block, or made in it."""
    owner = value.owner
    return (owner if isinstance(owner, ir.Block) else owner.operation.block) == block


def _is_made_in(value: ir.Value, body: ir.Block) -> bool:
    return not isinstance(value, ir.BlockArgument) and value.owner.operation.block == body


def _is_movable(operation: ir.Operation) -> bool:
    if operation.name not in _MOVABLE:
        return False
    if operation.name != _REDUCE:
        return True
    block = operation.regions[0].blocks[0]
    return all(
        (each.owner if isinstance(each, ir.BlockArgument) else each.owner.operation.block) == block
        for view in block.operations
        for each in view.operation.operands
    )


def _copy(
    operation: ir.Operation,
    loop: ir.Operation,
    made: dict[ir.Value, ir.Operation],
    moved: dict[ir.Value, ir.Value],
) -> Sequence[ir.Operation]:
    """Copy an operation before a loop, after those that it depends on.

    Args:
        operation: the operation.
        loop: the loop.
        made: the operations that define the invariant values of the body.
        moved: their copies, to which the new ones are added.

    Returns:
        The operations that have been copied, in the order of the copies.
    """
    copied: list[ir.Operation] = []
    waiting = [operation]
    while waiting:
        last = waiting[-1]
        missing = [made[each] for each in last.operands if each in made and each not in moved]
        if missing:
            waiting += missing
            continue
        waiting.pop()
        if len(last.results) and last.results[0] in moved:
            continue  # a repeated operand
        copy = last.clone(ir.InsertionPoint(loop)).operation
        for index, operand in enumerate(last.operands):
            if operand in moved:
                copy.operands[index] = moved[operand]
            elif (
                isinstance(operand, ir.BlockArgument) and operand.owner == loop.regions[1].blocks[0]
            ):
                copy.operands[index] = loop.operands[operand.arg_number]
        moved.update(zip(last.results, copy.results, strict=True))
        copied.append(last)
    return copied
