# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations with partial results for partial operands, and loops that add these up.

Where devices hold addends of a value, `negate` of each is an addend of its negation, but `abs` of
each is no addend of its absolute value.

A loop accumulates if it computes `%s = %s + f(...)` in each iteration, and nothing else of `%s`.
The partial results of the addend need not be completed in each iteration:
`sdy-reassociate-reductions` adds them up, and completes the sum once, after the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from mlir_sdy.host import ir
from mlir_sdy.model import AxisTuple, ReductionOp
from mlir_sdy.traversal import terminator_of
from mlir_sdy.uses import has_one_use
from mlir_sdy.values import get_sharding
from pyshardy.irtools.constants import is_zero_element, uniform_element
from pyshardy.irtools.loops import least_trips
from pyshardy.partition.op_facts.record import Linearity, record_of
from pyshardy.partition.op_facts.reduction_bodies import is_boolean

LinearityFunction = Callable[[ir.Operation, ReductionOp], Linearity | None]


def linearity_of(operation: ir.Operation, kind: ReductionOp) -> Linearity | None:
    """Return the operands that may be partial with the reduction `kind`; None if none may.

    Examples: both operands of an `add` together, and one of those of a `multiply`, for sums; both
    operands of a `maximum` together for maxima.
    """
    find = record_of(operation.name).linearity
    return None if find is None else find(operation, kind)


def linear_operands(operation: ir.Operation) -> tuple[int, ...]:
    """Return the operands that an operation is linear in, each by itself, for sums.

    The operation can be moved before the all-reduce of such an operand.
    """
    find = record_of(operation.name).linear_operands
    return () if find is None else find(operation)


# --- Linearity of many operations ---------------------------------------------------------------


def moving(*operands: int) -> LinearityFunction:
    """Return the linearity of an operation that moves elements of some operands."""
    linearity = Linearity(operands, together=True)
    return lambda _, __: linearity


def additive(*operands: int) -> LinearityFunction:
    """Return the linearity of an operation that maps sums of all operands to sums of results."""
    return _for_sums_of_numbers(Linearity(operands, together=True))


def multiplicative(*operands: int) -> LinearityFunction:
    """Return the linearity in each of the operands, if the rest are constant."""
    return _for_sums_of_numbers(Linearity(operands, together=False))


def selecting(kind: ReductionOp) -> LinearityFunction:
    """Return the linearity of a maximum or a minimum, for reductions of the same kind."""
    linearity = Linearity((0, 1), together=True)
    return lambda _, asked: linearity if asked is kind else None


def together(find: Callable[[ir.Operation], tuple[int, ...]]) -> LinearityFunction:
    """Return the linearity for sums in the operands that a function returns."""

    def linearity(operation: ir.Operation, kind: ReductionOp) -> Linearity | None:
        operands = find(operation) if kind is ReductionOp.SUM else ()
        return Linearity(operands, together=True) if operands else None

    return linearity


def _for_sums_of_numbers(linearity: Linearity) -> LinearityFunction:
    return lambda operation, kind: (
        linearity
        if kind is ReductionOp.SUM and not any(map(has_booleans, operation.operands))
        else None
    )


def first_operand(_: ir.Operation) -> tuple[int, ...]:
    """Return the first operand, in which the operation is linear."""
    return (0,)


def number_operands(operation: ir.Operation) -> tuple[int, ...]:
    """Return all operands, unless their elements are truth values."""
    has_numbers = not any(map(has_booleans, operation.operands))
    return tuple(range(len(operation.operands))) if has_numbers else ()


def has_booleans(value: ir.Value) -> bool:
    """Whether the elements of a value are truth values, whose sum isn't that of numbers."""
    tensor = value.type
    return isinstance(tensor, ir.ShapedType) and is_boolean(tensor.element_type)


def is_zero(value: ir.Value) -> bool:
    """Whether all elements of a value are zero: a constant, or a broadcast of one."""
    element = uniform_element(value, ("stablehlo.broadcast_in_dim", "stablehlo.reshape"))
    return element is not None and is_zero_element(element)


# --- Sums that loops accumulate -------------------------------------------------------------------


_WHILE, _RESHARD = "stablehlo.while", "sdy.reshard"
_ADDING = frozenset({"stablehlo.add", "stablehlo.subtract"})


class Accumulation(NamedTuple):
    """The accumulation of a sum in a loop.

    Attributes:
        addition: the operation that adds an addend, or subtracts it.
        addend: the index of the addend among the operands.
        copies: conversions of the sum to its own type before the addition, in order.
    """

    addition: ir.Operation
    addend: int
    copies: tuple[ir.Operation, ...]


def accumulation(loop: ir.Operation, index: int) -> Accumulation | None:
    """Return the accumulation of a value that a loop carries; None if there is none.

    1. The body uses the value once, except for conversions to its own type, to add something to it
       or to subtract something from it.
    2. The sum is returned by the body at that position, and has no other use; constraints to
       its own sharding may follow it.
    3. The condition doesn't use the value.

    Args:
        loop: a `stablehlo.while`.
        index: the index of the value among those that the loop carries.
    """
    condition, body = (region.blocks[0] for region in loop.regions)
    terminator = terminator_of(body)
    carried, copies = _behind_copies(body.arguments[index])
    added = _before_constraints(terminator.operands[index])
    if isinstance(added, ir.BlockArgument) or not (has_one_use(carried) and has_one_use(added)):
        return None
    addition = added.owner.operation
    if addition.name not in _ADDING or addition.block != body:
        return None
    operands = list(addition.operands)
    if carried not in operands or list(condition.arguments[index].uses):
        return None
    if addition.name == "stablehlo.subtract" and operands[0] != carried:
        return None
    return Accumulation(addition, 1 - operands.index(carried), tuple(copies))


def trips_of_accumulation(value: ir.Value) -> int:
    """Return the number of addends that a loop makes of a value; 1 if it isn't an addend.

    1. The only use of the value is, through operations that are linear in it, as the addend of an
       `accumulation` of an enclosing loop.
    2. No value on the way is sharded along other axes than the value: a reshard would come first.
    3. If the sum is such an addend in turn, the numbers of iterations are multiplied.

    Example: 12 for `%g` in `for i in range(3): for j in range(4): %s += -transpose(%g)`.
    """
    trips = 1
    axes = _axis_names(value)
    while has_one_use(value):
        (use,) = value.uses
        user = use.owner.operation
        if not all(_axis_names(result) <= axes for result in user.results):
            break
        if user.name in _ADDING:
            found = _sum_of(user, use.operand_number)
            if found is None:
                break
            loop, index = found
            trips *= least_trips(loop)
            value = loop.results[index]
        elif use.operand_number in linear_operands(user):
            value = user.results[0]
        else:
            break
    return trips


def _axes(value: ir.Value) -> Sequence[AxisTuple]:
    sharding = get_sharding(value)
    return () if sharding is None else sharding.dim_axes


def _axis_names(value: ir.Value) -> set[str]:
    return {ref.name for refs in _axes(value) for ref in refs}


def _sum_of(addition: ir.Operation, addend: int) -> tuple[ir.Operation, int] | None:
    """Return the loop that accumulates an addend, and the index of the sum."""
    parent = addition.parent
    if parent is None or parent.operation.name != _WHILE or not has_one_use(addition.results[0]):
        return None
    loop = parent.operation
    (use,) = addition.results[0].uses
    while (user := use.owner.operation).name == _RESHARD and has_one_use(user.results[0]):
        (use,) = user.results[0].uses
    if user.name != "stablehlo.return":
        return None
    found = accumulation(loop, use.operand_number)
    if found is None or found.addition != addition or found.addend != addend:
        return None
    return loop, use.operand_number


def _before_constraints(value: ir.Value) -> ir.Value:
    """Follow a value back through reshards that don't change its sharding, each its only use."""
    while not isinstance(value, ir.BlockArgument) and has_one_use(value):
        operation = value.owner.operation
        if operation.name != _RESHARD or _axes(operation.operands[0]) != _axes(value):
            break
        value = operation.operands[0]
    return value


def _behind_copies(value: ir.Value) -> tuple[ir.Value, list[ir.Operation]]:
    """Follow a value through conversions to its own type, each its only use."""
    copies: list[ir.Operation] = []
    while has_one_use(value):
        (use,) = value.uses
        user = use.owner.operation
        if user.name != "stablehlo.convert" or user.results[0].type != value.type:
            break
        copies.append(user)
        value = user.results[0]
    return value, copies
