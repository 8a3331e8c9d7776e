# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The collectives of a loop that can run beside another iteration than their own.

*Known ahead* is what the body computes from values that the loop carries unchanged, from the
counter, from constants and from outer values, by operations in `CHEAP`, collectives, and through
an `optimization_barrier` from its result k to its operand k only. So the slices of stacked weights
are, also behind the barrier of `jax.checkpoint`, through which the carried cotangent goes, too.

1. A collective can be fetched an iteration *early* if its operand is known ahead, and depends on
   the counter. What doesn't is the same in all iterations, and left to `sdy-hoist-reshards`.
2. A sum over devices can be completed an iteration *late* if the body only adds it to a value that
   the loop carries, or writes it there by a `dynamic_update_slice` at a place that is known ahead,
   after operations in `CHEAP`, and nothing else reads that value.
3. Both have one operand and one result, and the number of iterations is known and at least 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir_sdy.host import ir, location_of
from mlir_sdy.traversal import terminator_of
from mlir_sdy.uses import defining_operation, has_one_use
from pyshardy.irtools.loops import Counter, loop_counter
from pyshardy.irtools.stablehlo_views import COLLECTIVES
from pyshardy.local_program.communication import reduction_of
from pyshardy.propagation.elementwise import ELEMENTWISE_OPERATIONS

BARRIER = "stablehlo.optimization_barrier"
_ADD, _UPDATE = "stablehlo.add", "stablehlo.dynamic_update_slice"
CHEAP = {name for name in ELEMENTWISE_OPERATIONS if name.startswith("stablehlo.")} | {
    f"stablehlo.{name}"
    for name in (
        *("broadcast_in_dim", "concatenate", "constant", "dynamic_slice", "gather", "iota", "pad"),
        *("partition_id", "replica_id", "reshape", "reverse", "slice", "transpose"),
    )
}
"""Operations without effects, which may be repeated for another iteration."""


@dataclass(frozen=True, slots=True, eq=False)
class Early:
    """A collective that can be fetched an iteration early.

    Attributes:
        operation: the collective.
        needs: the collectives that its operand is computed from.
    """

    operation: ir.Operation
    needs: tuple[ir.Operation, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Late:
    """A sum over devices that can be completed an iteration late.

    Attributes:
        operation: the collective.
        tail: what is done with its result, in order; the last one writes or adds it.
        index: the index of the value that it is added to, among those that the loop carries.
    """

    operation: ir.Operation
    tail: tuple[ir.Operation, ...]
    index: int

    @property
    def is_written(self) -> bool:
        """Whether it overwrites a part of the value, and isn't added to it."""
        return self.tail[-1].name == _UPDATE


@dataclass(frozen=True, slots=True, eq=False)
class LoopCollectives:
    """The collectives directly in the body of a `stablehlo.while`.

    Attributes:
        loop: the loop.
        counter: its counter; None if the number of iterations isn't known.
        early: those that can be fetched an iteration early.
        late: those that can be completed an iteration late.
        others: those that can't be moved, each with the reason.
    """

    loop: ir.Operation
    counter: Counter | None
    early: tuple[Early, ...]
    late: tuple[Late, ...]
    others: tuple[tuple[ir.Operation, str], ...]


def loop_collectives(loop: ir.Operation) -> LoopCollectives:
    """Return the collectives of a loop, and which of them can run beside another iteration."""
    body = loop.regions[1].blocks[0]
    found = [view.operation for view in body.operations if view.operation.name in COLLECTIVES]
    counter = loop_counter(loop)
    early: list[Early] = []
    late: list[Late] = []
    others: list[tuple[ir.Operation, str]] = []
    if counter is None or counter.trips < 2 or _has_collectives(loop.regions[0].blocks[0]):
        reason = "the number of iterations is unknown"
        if counter is not None:
            reason = f"the loop has {'no' if not counter.trips else '1'} iteration"
            if counter.trips >= 2:
                reason = "the condition of the loop communicates"
        return LoopCollectives(loop, counter, (), (), tuple((each, reason) for each in found))
    reader = KnownAhead(loop, counter)
    for operation in found:
        if len(operation.operands) > 1:
            others.append((operation, f"it has {len(operation.operands)} operands"))
            continue
        known = reader.of(operation.operands[0])
        if known.blamed is None and known.is_counted:
            if {*known.collectives} <= {each.operation for each in early}:
                early.append(Early(operation, known.collectives))
            else:
                others.append((operation, "it needs a collective that is not prefetched"))
        elif (completed := _late(operation, reader)) is not None:
            late.append(completed)
        elif known.blamed is None:
            others.append((operation, "its operand is the same in all iterations"))
        else:
            others.append((operation, _dependence(known.blamed)))
    return LoopCollectives(loop, counter, tuple(early), tuple(late), tuple(others))


def _has_collectives(block: ir.Block) -> bool:
    return any(view.operation.name in COLLECTIVES for view in block.operations)


def _dependence(value: ir.Value) -> str:
    """Return why a collective isn't known ahead, with the value that its operand depends on."""
    operation = defining_operation(value)
    place = location_of(value.location if operation is None else operation.location)
    where = "" if place is None else f" ({place})"
    name = value.get_name(use_local_scope=True)
    return f"its operand depends on {name}, which the loop computes{where}"


# --- What is known ahead --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """The dependences of a value of a body.

    Attributes:
        blamed: the value for which it isn't known ahead; None if it is.
        is_counted: whether it depends on the counter.
        collectives: the collectives that it is computed by.
    """

    blamed: ir.Value | None = None
    is_counted: bool = False
    collectives: tuple[ir.Operation, ...] = ()


class KnownAhead:
    """The values of the body of a loop that are known an iteration ahead.

    Args:
        loop: a `stablehlo.while`.
        counter: its counter.
    """

    def __init__(self, loop: ir.Operation, counter: Counter):
        self.loop = loop
        self._counter = counter
        self._body = loop.regions[1].blocks[0]
        self._returned = list(terminator_of(self._body).operands)
        self._of: dict[ir.Value, _Known] = {}

    def of(self, value: ir.Value) -> _Known:
        """Return what a value depends on."""
        waiting = [value]
        while waiting:
            last = waiting[-1]
            if last in self._of:
                waiting.pop()
                continue
            needed = [each for each in self._needed(last) if each not in self._of]
            if needed:
                waiting += needed
            else:
                waiting.pop()
                self._of[last] = self._read(last)
        return self._of[value]

    def _needed(self, value: ir.Value) -> Sequence[ir.Value]:
        """Return the operands that a value is computed from; none if that isn't in the body."""
        maker = defining_operation(value)
        if maker is None or maker.block != self._body:
            return ()
        if maker.name == BARRIER:
            return (maker.operands[ir.OpResult(value).result_number],)
        return list(maker.operands)

    def _read(self, value: ir.Value) -> _Known:
        if isinstance(value, ir.BlockArgument) and value.owner == self._body:
            if value.arg_number == self._counter.index:
                return _Known(is_counted=True)
            is_unchanged = self._returned[value.arg_number] == value
            return _Known(None if is_unchanged else value)
        maker = defining_operation(value)
        operands = [self._of[each] for each in self._needed(value)]
        blamed = next((each.blamed for each in operands if each.blamed is not None), None)
        inside: dict[ir.Operation, None] = {}
        for each in operands:
            inside.update(dict.fromkeys(each.collectives))
        if maker is not None and maker.block == self._body:
            is_single = len(maker.operands) == 1 == len(maker.results)
            if maker.name in COLLECTIVES and is_single:
                inside[maker] = None
            elif blamed is None and maker.name not in (*CHEAP, BARRIER):
                blamed = value
        return _Known(blamed, any(each.is_counted for each in operands), tuple(inside))


# --- Sums that are completed late -----------------------------------------------------------------


def _late(operation: ir.Operation, reader: KnownAhead) -> Late | None:
    """Return how a sum over devices is used, if it can be completed an iteration late."""
    if reduction_of(operation) != "sum" or "quant" in str(operation.operands[0].type):
        return None
    body = operation.block
    condition = reader.loop.regions[0].blocks[0]
    value, tail = operation.results[0], list[ir.Operation]()
    while has_one_use(value):
        (use,) = value.uses
        user, position = use.owner.operation, use.operand_number
        if user.block != body or len(user.results) != 1:
            return None
        others = [each for number, each in enumerate(user.operands) if number != position]
        tail.append(user)
        target = _target(user, position)
        if target is not None and _is_only_written(target, user, body, condition):
            others.remove(target)
        else:
            target = None
        known = [reader.of(each) for each in others]
        if any(each.blamed is not None or each.collectives for each in known):
            return None
        if target is not None:
            return Late(operation, tuple(tail), ir.BlockArgument(target).arg_number)
        if user.name not in CHEAP:
            return None
        value = user.results[0]
    return None


def _target(user: ir.Operation, position: int) -> ir.Value | None:
    """Return the value that an operation writes its operand into, or adds it to."""
    if user.name == _ADD:
        return user.operands[1 - position]
    return user.operands[0] if user.name == _UPDATE and position == 1 else None


def _is_only_written(
    target: ir.Value, user: ir.Operation, body: ir.Block, condition: ir.Block
) -> bool:
    """Whether a value that the loop carries is only changed by an operation, and not read."""
    if not isinstance(target, ir.BlockArgument) or target.owner != body:
        return False
    result = user.results[0]
    if not (has_one_use(target) and has_one_use(result)):
        return False
    (use,) = result.uses
    index = target.arg_number
    return (
        use.owner.operation == terminator_of(body)
        and use.operand_number == index
        and not any(condition.arguments[index].uses)
    )
