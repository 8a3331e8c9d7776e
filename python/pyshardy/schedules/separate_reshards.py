# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Separate reshards for the uses of an argument.

The partitioner reshards a value once for all operations that need it in another sharding. A weight
that is gathered in the forward pass is so kept until the backward pass. A barrier before each later
use makes it a value of its own, which is gathered there again:

    %0:2 = stablehlo.optimization_barrier %gradient, %weight
    %1 = stablehlo.dot_general %0#0, %0#1

The barrier has the other operand, too, so that a compiler doesn't gather before it is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mlir_sdy.host import ir
from mlir_sdy.values import get_sharding, set_sharding
from pyshardy.irtools.stablehlo_builder import StablehloBuilder
from pyshardy.irtools.tags import untagged
from pyshardy.irtools.walks import Place, textual_order
from pyshardy.rules.pointwise_rules import is_elementwise

_MOVING = frozenset(
    {"sdy.reshard", "stablehlo.convert", "stablehlo.reshape", "stablehlo.transpose"}
)
"""Operations between an argument and a use; each use gets a copy of them."""


@dataclass(frozen=True, slots=True)
class _Use:
    """A use of an argument.

    Attributes:
        operation: the operation.
        operand: the number of its operand.
        chain: the operations that its operand is made by, beginning at the argument.
    """

    operation: ir.Operation
    operand: int
    chain: tuple[ir.Operation, ...]


def separate_reshards(argument: ir.Value) -> None:
    """Give each use of an argument, after the first one in the text, a value of its own.

    1. Conversions, transposes, reshapes and reshards belong to the uses behind them.
    2. Elementwise operations, such as the update of a parameter, work on shards: they are no uses.
    3. Uses in regions, and those by operations with regions, stay as they are: a loop reshards
       inside of it already, or once for all iterations.

    Args:
        argument: the argument of a function whose shardings have been propagated.
    """
    block = argument.owner
    function = block.owner.operation
    uses = [each for each in _uses_of(argument, ()) if each.operation.block == block]
    uses.sort(key=lambda use: textual_order(Place.of(use.operation, function)))
    for use in uses[1:]:
        _separate(argument, use)


def _uses_of(value: ir.Value, chain: tuple[ir.Operation, ...]) -> Iterator[_Use]:
    for use in value.uses:
        user = use.owner.operation
        if user.name in _MOVING:
            yield from _uses_of(user.results[0], (*chain, user))
        elif len(user.results) and not len(user.regions) and not is_elementwise(user):
            yield _Use(user, use.operand_number, chain)


def _separate(argument: ir.Value, use: _Use) -> None:
    """Put a barrier, and a copy of the chain, before a use."""
    operation = use.operation
    other = _computed_operand(operation, use.operand)
    with ir.InsertionPoint(operation), untagged(operation.location):
        values = [argument] if other is None else [argument, operation.operands[other]]
        results = _barrier(values)
        separated = results[0]
        for each in use.chain:
            copy = each.clone()
            copy.location = untagged(each.location)
            copy.operands[0] = separated
            separated = copy.results[0]
    operation.operands[use.operand] = separated
    if other is not None:
        operation.operands[other] = results[1]


def _computed_operand(operation: ir.Operation, besides: int) -> int | None:
    """Return the number of the first other operand that an operation computes, if there is one."""
    for number, operand in enumerate(operation.operands):
        if number != besides and not isinstance(operand, ir.BlockArgument):
            return number
    return None


def _barrier(values: Sequence[ir.Value]) -> list[ir.Value]:
    results = StablehloBuilder().optimization_barrier(values)
    for value, result in zip(values, results, strict=True):
        sharding = get_sharding(value)
        if sharding is not None:
            set_sharding(result, sharding)
    return results
