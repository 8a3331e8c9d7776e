# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Strategies with partial results, which are completed after operations that are linear in them.

In `%s = %x . %w + %y . %v`, both products may be partial along the same axes. The partial results
can be added up, and only the sum is completed:

1. An operation whose result may stay partial (`PartialValues`) has another strategy for each one
   that completes it: it leaves the result to its only user.
2. A linear operation has strategies in which operands are partial along some axes, along which
   nothing is sharded there. The result is partial along these axes and those that the operation
   itself reduces, and is completed by an all-reduce or a reduce-scatter, or left partial.
3. A value that is left partial is used as it is: it can't be resharded before it is completed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from mlir_sdy.host import ir
from mlir_sdy.model import AxisTuple, ReductionOp, Shape, lists_overlap, sort_and_merge
from mlir_sdy.traversal import SCALAR_BODIES, named_operations_in
from mlir_sdy.uses import has_one_use
from pyshardy.auto.strategies.alternatives import Alternatives, AlternativesOf
from pyshardy.auto.strategies.costs import Collectives
from pyshardy.auto.strategies.strategy import completions
from pyshardy.irtools.tensor_types import is_even, shape_of, tensor_bytes
from pyshardy.partition.op_facts.record import record_of
from pyshardy.partition.partial.linear_operations import has_booleans, linearity_of
from pyshardy.partition.partial.reductions import completion_of
from pyshardy.partition.types.steps import AxesPerDim

_SUMMING = frozenset(
    {"stablehlo.convolution", "stablehlo.dot", "stablehlo.dot_general", "stablehlo.reduce"}
)


class Partial(NamedTuple):
    """The sharding of a partial value.

    Attributes:
        axes: the axes of each dimension.
        reduced: the axes along which it is partial.
    """

    axes: AxesPerDim
    reduced: AxisTuple


PartialOperands = Mapping[int, Sequence[Partial]]
"""For some operands, which are partial together, the shardings in which they may be left."""


def partials_left(alternatives: Alternatives) -> tuple[Partial, ...]:
    """Return the shardings in which an operation may leave its only result."""
    rows = zip(alternatives.results[0], alternatives.left, strict=False)
    return tuple(dict.fromkeys(Partial(axes, reduced) for axes, reduced in rows if reduced))


def with_partial_results(
    alternatives: Alternatives,
    shape: Shape,
    nbytes: int,
    operands: Sequence[PartialOperands],
    of: AlternativesOf,
    *,
    leaves: bool,
    is_fused: bool,
) -> Alternatives:
    """Return the strategies of an operation, and those with partial operands or results.

    Args:
        alternatives: its strategies.
        shape: the shape of its only result.
        nbytes: the bytes of the result.
        operands: the operands that may be partial, in one way or another.
        of: finds strategies, and knows the cost of collectives.
        leaves: whether the result may be left partial.
        is_fused: whether the result is in memory only if it is completed.
    """
    if not alternatives.factors:
        return alternatives
    rows = _Rows(alternatives, shape, nbytes, operands, of, leaves, is_fused)
    return rows.added([*rows.find()])


class _Row(NamedTuple):
    """A strategy with partial operands or results.

    Attributes:
        base: the number of the strategy without.
        cost: its cost.
        collectives: the collectives that complete its result.
        result: the axes of each dimension of the result, after its completion.
        reduced: the axes along which the result is partial as it is computed.
        taken: for each operand the axes along which it is partial.
        left: the axes along which the result is left partial.
    """

    base: int
    cost: float
    collectives: Collectives
    result: AxesPerDim
    reduced: AxisTuple
    taken: tuple[AxisTuple, ...]
    left: AxisTuple


@dataclass(frozen=True, slots=True)
class _Rows:
    """Finds the additional strategies; see `with_partial_results`."""

    alternatives: Alternatives
    shape: Shape
    nbytes: int
    operands: Sequence[PartialOperands]
    of: AlternativesOf
    leaves: bool
    is_fused: bool

    def find(self) -> Iterator[_Row]:
        """Yield the strategies."""
        own, model, mesh = self.alternatives, self.of.model, self.of.choices.mesh
        complete = ((),) * len(own.operands)
        seen: set[object] = set()
        for at, factors in enumerate(own.factors):
            (computed,), (result,) = (
                [each[at] for each in end] for end in (own.computed, own.results)
            )
            needed = tuple(each[at] for each in own.operands)
            key = factors, needed, computed
            completing = self._completing(computed, result, own.reduced[at])
            exchanges = own.collectives[at] != completing
            if key in seen or exchanges or not is_even(self.shape, computed, mesh):
                continue
            seen.add(key)
            cost = own.costs[at] - sum(map(model.collective, completing))
            if self.leaves and own.reduced[at]:
                yield _Row(at, cost, (), computed, own.reduced[at], complete, own.reduced[at])
            used = [axis for axes in factors for axis in axes]
            for taken in self._taken(needed):
                (outer,) = {axes for axes in taken if axes}
                if lists_overlap(outer, used):
                    continue
                reduced = sort_and_merge((*outer, *own.reduced[at]), mesh)
                for (after,) in completions((computed,), (self.shape,), reduced, self.of.choices):
                    completing = self._completing(computed, after, reduced)
                    total = cost + sum(map(model.collective, completing))
                    if self.is_fused and completing:
                        total += sum(self._traffic(axes) for axes in (computed, after))
                    yield _Row(at, total, completing, after, reduced, taken, ())
                if self.leaves:
                    yield _Row(at, cost, (), computed, reduced, taken, reduced)

    def _completing(
        self, computed: AxesPerDim, after: AxesPerDim, reduced: AxisTuple
    ) -> Collectives:
        return self.of.reshards.collectives(self.nbytes, self.shape, computed, after, reduced)

    def _traffic(self, axes: AxesPerDim) -> float:
        """Return the cost of writing or reading a shard of the result."""
        return self.of.reshards.traffic(self.nbytes, self.shape, axes)

    def _taken(self, needed: Sequence[AxesPerDim]) -> Iterator[tuple[AxisTuple, ...]]:
        """Yield for each operand the axes along which it can be partial, with given shardings."""
        for option in self.operands:
            own = [
                dict.fromkeys(each.reduced for each in left if each.axes == needed[operand])
                for operand, left in option.items()
            ]
            for reduced in own[0]:
                if all(reduced in each for each in own):
                    yield tuple(
                        reduced if operand in option else () for operand in range(len(needed))
                    )

    def added(self, rows: Sequence[_Row]) -> Alternatives:
        """Return the strategies of the operation, and others."""
        own = self.alternatives
        count, numbers = len(own), [*range(len(own)), *(row.base for row in rows)]
        return replace(
            own,
            costs=(*own.costs, *(row.cost for row in rows)),
            operands=tuple(tuple(each[at] for at in numbers) for each in own.operands),
            results=((*own.results[0], *(row.result for row in rows)),),
            collectives=(*own.collectives, *(row.collectives for row in rows)),
            computed=tuple(tuple(each[at] for at in numbers) for each in own.computed),
            factors=tuple(own.factors[at] for at in numbers),
            reduced=(*own.reduced, *(row.reduced for row in rows)),
            left=(*((),) * count, *(row.left for row in rows)),
            taken=tuple(
                (*((),) * count, *(row.taken[number] for row in rows))
                for number in range(len(own.operands))
            ),
        )


class PartialValues:
    """The values of a program that may stay partial.

        %0 = stablehlo.dot_general %x, %w        // may stay partial
        %1 = stablehlo.transpose %0              // as well
        %2 = stablehlo.slice %1                  // is completed: it has fewer bytes
        %3 = stablehlo.tanh %2

    1. The value is the result of a sum, such as a product of matrices, or of a linear operation on
       such values, by the records of the partitioner (`linearity_of`).
    2. Its only use is a linear operation in the same block.
    3. Something is gained: after some such operations, a result has fewer bytes, or several partial
       values are combined.

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
            gains = len(own) > 1 or tensor_bytes(user.results[0].type) < tensor_bytes(value.type)
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
