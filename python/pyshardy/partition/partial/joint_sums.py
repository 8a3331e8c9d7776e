# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums of several results of operations that contract dimensions: `%s = %x . %w + %y . %v`.

Partial results of the products need not be completed before the sum:
`sdy-reassociate-reductions` adds them up, and completes the sum once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice

from mlir_sdy.host import ir
from mlir_sdy.model import AxisTuple, TensorSharding
from mlir_sdy.uses import has_one_use
from pyshardy.partition.partial.linear_operations import linear_operands

_ADDING = frozenset({"stablehlo.add", "stablehlo.subtract"})

_MOST_ADDENDS = 32
"""The limit on the number of addends that are looked at."""


@dataclass(frozen=True, slots=True)
class _LinearUse:
    """The only use of a value, by an operation that is linear in it alone.

    Attributes:
        user: the operation.
        operand: the index of the value among its operands.
        result: its result.
        is_sum: whether it is an addition or a subtraction.
        axes: the names of the axes along which its result is sharded.
    """

    user: ir.Operation
    operand: int
    result: ir.Value
    is_sum: bool
    axes: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Addends:
    """The operations whose results add up to a value.

    Attributes:
        operations: the operations.
        axes: the names of the axes along which any value from their results to the sum is sharded.
    """

    operations: tuple[ir.Operation, ...]
    axes: frozenset[str]


class JointSums:
    """The sums of a function, each read once.

    A pass that changes the program calls `forget` first.

    Args:
        is_addend: whether the results of an operation are addends to look for.
        shardings: the shardings of all values.
    """

    def __init__(
        self,
        is_addend: Callable[[ir.Operation], bool],
        shardings: Mapping[ir.Value, TensorSharding | None],
    ):
        self._is_addend = is_addend
        self._shardings = shardings
        self._uses: dict[ir.Value, _LinearUse | None] = {}
        self._addends: dict[ir.Value, _Addends | None] = {}
        self._sums = defaultdict[ir.Value, list[ir.Value]](list)
        """For each value the values whose addends were found by those of this value."""
        self._names: dict[TensorSharding | None, frozenset[str]] = {}
        self._memos: dict[ir.Value, dict[int, AxisTuple]] = {}
        self._readers = defaultdict[ir.Value, list[ir.Value]](list)
        """For each operand of an operation with a memo the result of the operation."""

    def added_to(self, value: ir.Value) -> Iterator[ir.Operation]:
        """Yield the other operations whose results a sum adds to a value, nearest sums first.

        1. The only use of each result is, through operations that are linear in it alone, the sum:
           a tree of additions and subtractions in one block.
        2. No value on the way is sharded along other axes than the value: a reshard would come
           first.
        3. The sum is the largest one with addends from `is_addend` operations only.

        Example: the products of `%y` and of `%z` for `%x . %u` in
        `tanh(%x . %u + (transpose(%y . %v) - %z . %w))`.
        """
        axes = self._axis_names(value)
        num_found = 0
        while (use := self._linear_use(value)) is not None and use.axes <= axes:
            if use.is_sum:
                others = self._addends_of(use.user.operands[1 - use.operand], use.user.block)
                if others is None or not others.axes <= axes:
                    break
                num_found += len(others.operations)
                if num_found > _MOST_ADDENDS:
                    break
                yield from others.operations
            value = use.result

    def is_added(self, value: ir.Value) -> bool:
        """Whether the only use of a value is, through linear operations, an addend of a sum."""
        use = self._linear_use(value)
        if use is None:
            return False  # most values: their axes need not be read
        axes = self._axis_names(value)
        while use is not None and use.axes <= axes:
            if use.is_sum:
                return True
            use = self._linear_use(use.result)
        return False

    def memo_of(self, addend: ir.Operation) -> dict[int, AxisTuple]:
        """Return a memo for properties of an operation that its operands and results determine."""
        result = addend.results[0]
        if result not in self._memos:
            self._memos[result] = {}
            for operand in addend.operands:
                self._readers[operand].append(result)
        return self._memos[result]

    def forget(self, operands: Iterable[ir.Value], results: Iterable[ir.Value]) -> None:
        """Read sums again, since an operation changes.

        Args:
            operands: the operands that it uses in another way, or no longer.
            results: the results that have another sharding or definition, or are used in another
                way.
        """
        for result in results:
            for changed in (result, *self._readers.pop(result, ())):
                self._memos.pop(changed, None)
        pending = [*operands, *results]
        while pending:
            value = pending.pop()
            self._uses.pop(value, None)
            self._addends.pop(value, None)
            pending += self._sums.pop(value, ())

    def _linear_use(self, value: ir.Value) -> _LinearUse | None:
        if value not in self._uses:
            self._uses[value] = self._read_use(value)
        return self._uses[value]

    def _read_use(self, value: ir.Value) -> _LinearUse | None:
        uses = list(islice(value.uses, 2))
        if len(uses) != 1:
            return None
        user, index = uses[0].owner.operation, uses[0].operand_number
        is_sum = user.name in _ADDING
        if not is_sum and linear_operands(user) != (index,):
            return None
        if user.block != value.owner.operation.block:
            return None
        result = user.results[0]
        return _LinearUse(user, index, result, is_sum, self._axis_names(result))

    def _addends_of(self, value: ir.Value, block: ir.Block) -> _Addends | None:
        """Return the addends of an operand of an operation in a block; None if there are others."""
        known = self._addends
        if value not in known:
            path = [(value, self._summands(value, block))]
            while path:
                last, summands = path[-1]
                unknown = next((each for each in summands or () if each not in known), None)
                if unknown is not None:
                    path.append((unknown, self._summands(unknown, block)))
                else:
                    known[last] = self._added_up(last, summands)
                    path.pop()
        return known[value]

    def _summands(self, value: ir.Value, block: ir.Block) -> tuple[ir.Value, ...] | None:
        """Return the values that add up to a value; none for an addend, and None if unknown."""
        if isinstance(value, ir.BlockArgument) or not has_one_use(value):
            return None
        operation = value.owner.operation
        if operation.block != block:
            return None
        if self._is_addend(operation):
            return ()
        if operation.name in _ADDING:
            return tuple(operation.operands)
        operands = linear_operands(operation)
        return (operation.operands[operands[0]],) if len(operands) == 1 else None

    def _added_up(self, value: ir.Value, summands: tuple[ir.Value, ...] | None) -> _Addends | None:
        """Return the addends of a value, given those of its summands."""
        for each in summands or ():
            self._sums[each].append(value)
        if summands is None:
            return None
        axes = self._axis_names(value)
        if not summands:
            return _Addends((value.owner.operation,), axes)
        parts = [part for each in summands if (part := self._addends[each]) is not None]
        operations = (*chain(*(part.operations for part in parts)),)
        if len(parts) < len(summands) or len(operations) > _MOST_ADDENDS:
            return None
        return _Addends(operations, axes.union(*(part.axes for part in parts)))

    def _axis_names(self, value: ir.Value) -> frozenset[str]:
        sharding = self._shardings[value]
        names = self._names.get(sharding)
        if names is None:
            dims = () if sharding is None else sharding.dim_axes
            names = self._names[sharding] = frozenset(ref.name for axes in dims for ref in axes)
        return names
