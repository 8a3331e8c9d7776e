# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Strategies with partial results, which are completed after operations that are linear in them.

In `%s = %x . %w + %y . %v`, both products may be partial along the same axes. The partial results
can be added up, and only the sum is completed:

1. An operation whose result may stay partial (`partial_values`) has another strategy for each one
   that completes it: it leaves the result to its only user.
2. A linear operation has strategies in which operands are partial along some axes, along which
   nothing is sharded there. The result is partial along these axes and those that the operation
   itself reduces, and is completed by an all-reduce or a reduce-scatter, or left partial.
3. A value that is left partial is used as it is: it can't be resharded before it is completed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from mlir_sdy.model import AxisTuple, lists_overlap, sort_and_merge
from pyshardy.auto.strategies.alternatives import Alternatives, AlternativesOf
from pyshardy.auto.strategies.costs import Collectives
from pyshardy.auto.strategies.strategy import completions, is_even
from pyshardy.partition.compatibility.factor_axes import Shape
from pyshardy.partition.resharding.steps import AxesPerDim


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
        """Yield for each operand the axes along which it can be partial, with some shardings."""
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
