# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Chains of sharding constraints, whose last one determines the sharding of later uses."""

from __future__ import annotations

from mlir_sdy.fold.pattern import producer
from mlir_sdy.host import ir
from pyshardy.importing.constraints import (
    CONSTRAINT,
    MANUAL_COMPUTATION,
    may_be_dictated,
)


def redirect_to_end_of_chain(head: ir.Operation) -> None:
    """Redirect uses of a chain's input after the chain to its end, if `head` begins one.

    A chain is a list of two or more `sdy.sharding_constraint`s such that

    1. the input of the first is not a constraint's result, and has no sharding or one that is open
       in all dimensions and has no axes;
    2. no other constraint and no manual computation uses that input;
    3. each but the last is used once, by the next;
    4. no constraint and no manual computation uses the last.

    Users of the input after the chain, in the block of its last constraint itself, then use the
    last constraint. A `func.return` keeps the input.

        %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]>     the same
        %2 = stablehlo.add %0, %b                                the same
        %3 = sdy.sharding_constraint %1 <@mesh, [{}, {"y"}]>     the same
        %4 = stablehlo.multiply %0, %3                           stablehlo.multiply %3, %3
    """
    value = head.operands[0]
    tail = _tail(head)
    if tail == head or producer(value, CONSTRAINT) is not None or not may_be_dictated(value):
        return
    uses = list(value.uses)
    others = [use for use in uses if use.owner.operation != head]
    if any(_demands_sharding(use) for use in others):
        return
    if any(_demands_sharding(use) for use in tail.results[0].uses):
        return
    for use in others:
        user = use.owner.operation
        if (
            user.name != "func.return"
            and user.block == tail.block
            and tail.is_before_in_block(user)
        ):
            user.operands[use.operand_number] = tail.results[0]


def _tail(head: ir.Operation) -> ir.Operation:
    tail = head
    while True:
        uses = list(tail.results[0].uses)
        if len(uses) != 1 or uses[0].owner.operation.name != CONSTRAINT:
            return tail
        tail = uses[0].owner.operation


def _demands_sharding(use: ir.OpOperand) -> bool:
    return use.owner.operation.name in (CONSTRAINT, MANUAL_COMPUTATION)
