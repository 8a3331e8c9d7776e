# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Choose the boundaries between the stages of a pipeline, with a proof that no others are better.

A chain of L layers is cut into intervals, for N meshes in their order. Mesh d takes t(d) seconds
for the forward and the backward pass of one microbatch of its layers. The model of a step of M
microbatches is that of `1f1b` with unequal stages:

    total = sum of t(d) + (M - 1) * max t(d) + sum of the times of the cuts

1. For a bound on max t(d), the cheapest cuts come from a dynamic program: the least sum for layers
   0 to j on the first k meshes is the least over i of that for layers 0 to i on k - 1 meshes, plus
   the cut at i, plus the seconds of layers i to j on mesh k - 1, if these are within the bound.
2. The bound takes the values that intervals have, in ascending order. A plan whose slowest mesh is
   at the bound is among the plans of this bound, so that the best one of all bounds is the best.
3. The search ends where the bound alone, M - 1 times, reaches the total of the last plan that is
   kept: all further plans have a mesh of at least that time.

With the k best sums in place of the best one, it finds the k best plans.

Example: layers of 4, 1, 1 and 2 seconds on two meshes, M = 8, cuts take nothing. The even cut is
[4, 1 | 1, 2] with 8 + 7 * 5 = 43; the best one is [4 | 1, 1, 2] with 8 + 7 * 4 = 36.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from mlir_sdy.diagnostics import UsageError, error

MOST_PLANS = 5
"""The plans that are kept, to be simulated."""


@dataclass(frozen=True, slots=True)
class Chain:
    """A chain of layers for meshes.

    Intervals of layers are ranges: `first` to `end`, without `end`.

    Attributes:
        layers: the names of the layers, in their order.
        meshes: the names of the meshes, in their order.
        microbatches: the number of microbatches of a step.
        seconds: the time of an interval on a mesh, forward and backward, for one microbatch.
        cut_seconds: the time in which values go over the boundary before a layer, in both
            directions, for one microbatch.
        nbytes: the memory that an interval needs on a device of a mesh.
        memory: the memory of a device; None for no limit.
        pinned: the meshes of layers that must be on one.
    """

    layers: Sequence[str]
    meshes: Sequence[str]
    microbatches: int
    seconds: Callable[[range, int], float]
    cut_seconds: Callable[[int], float]
    nbytes: Callable[[range, int], int] = lambda _, __: 0
    memory: int | None = None
    pinned: Mapping[int, int] | None = None

    def total(self, intervals: Sequence[range]) -> float:
        """Return the seconds of a step by the model."""
        times = [self.seconds(interval, mesh) for mesh, interval in enumerate(intervals)]
        cuts = sum(self.cut_seconds(interval.start) for interval in intervals[1:])
        return sum(times) + (self.microbatches - 1) * max(times) + cuts

    def may_be(self, interval: range, mesh: int) -> bool:
        """Whether an interval may be on a mesh, by its memory and the layers that are pinned."""
        pinned = self.pinned or {}
        if any(pinned.get(layer, mesh) != mesh for layer in interval):
            return False
        return self.memory is None or self.nbytes(interval, mesh) <= self.memory


@dataclass(frozen=True, slots=True)
class Boundaries:
    """The layers of each mesh.

    Attributes:
        intervals: for each mesh the numbers of its layers.
        total: the seconds of a step by the model.
    """

    intervals: tuple[range, ...]
    total: float


def best_boundaries(chain: Chain, most: int = MOST_PLANS) -> list[Boundaries]:
    """Return the best boundaries, the fastest first; see the module.

    Args:
        chain: the layers and meshes.
        most: how many to return, if there are as many.

    Raises:
        UsageError: there are fewer layers than meshes, or none fit into the memory.
    """
    count, meshes = len(chain.layers), len(chain.meshes)
    if count < meshes:
        raise UsageError(error(f"{count} layers can't be on {meshes} meshes, one or more on each"))
    seconds = [
        sorted(
            (chain.seconds(range(first, end), mesh), first, end)
            for first in range(mesh, count)
            for end in range(first + 1, count - (meshes - mesh - 1) + 1)
            if (first == 0) == (mesh == 0) and (end == count) == (mesh == meshes - 1)
            if chain.may_be(range(first, end), mesh)
        )
        for mesh in range(meshes)
    ]
    cuts = [chain.cut_seconds(first) if first else 0.0 for first in range(count)]
    found: dict[tuple[int, ...], float] = {}
    for bound in sorted({time for intervals in seconds for time, _, _ in intervals}):
        worst = heapq.nsmallest(most, found.values())
        if len(worst) == most and (chain.microbatches - 1) * bound >= worst[-1]:
            break
        for starts in _cheapest(seconds, cuts, bound, count, most):
            found[starts] = chain.total(_intervals(starts, count))
    if not found:
        raise UsageError(error(_why_none_fits(chain)))
    ranked = sorted(found.items(), key=lambda item: (item[1], item[0]))
    return [Boundaries(_intervals(starts, count), total) for starts, total in ranked[:most]]


def _cheapest(
    seconds: Sequence[Sequence[tuple[float, int, int]]],
    cuts: Sequence[float],
    bound: float,
    count: int,
    most: int,
) -> list[tuple[int, ...]]:
    """Return the first layers of each mesh of the plans with the least sums within a bound."""
    plans: dict[int, list[tuple[float, tuple[int, ...]]]] = {0: [(0.0, ())]}
    for intervals in seconds:
        by_end: dict[int, list[tuple[int, float]]] = {}
        for time, first, end in takewhile(lambda each: each[0] <= bound, intervals):
            if first in plans:
                by_end.setdefault(end, []).append((first, time + cuts[first]))
        plans = {
            end: heapq.nsmallest(
                most,
                (
                    (total + time, (*starts, first))
                    for first, time in options
                    for total, starts in plans[first]
                ),
            )
            for end, options in by_end.items()
        }
    return [starts for _, starts in plans.get(count, [])]


def _intervals(starts: Sequence[int], count: int) -> tuple[range, ...]:
    return tuple(map(range, starts, (*starts[1:], count)))


def _why_none_fits(chain: Chain) -> str:
    """Return the error for a chain that no boundaries fit: the least memory that would do."""
    layers, meshes = chain.layers, chain.meshes
    # The least of the largest memory of a mesh over all boundaries, by the same recursion.
    without_limit = replace(chain, memory=None)
    needed: dict[int, tuple[int, tuple[int, ...]]] = {0: (0, ())}
    for mesh in range(len(meshes)):
        options: dict[int, list[tuple[int, tuple[int, ...]]]] = {}
        for first, (before, starts) in needed.items():
            for end in range(first + 1, len(layers) + 1):
                interval = range(first, end)
                if without_limit.may_be(interval, mesh):
                    most = max(before, chain.nbytes(interval, mesh))
                    options.setdefault(end, []).append((most, (*starts, first)))
        needed = {end: min(each) for end, each in options.items()}
    if len(layers) not in needed:
        pins = (f"'{layers[at]}' to '{meshes[on]}'" for at, on in (chain.pinned or {}).items())
        return f"no boundaries agree with the layers that are pinned: {', '.join(pins)}"
    least, starts = needed[len(layers)]
    intervals = _intervals(starts, len(layers))
    worst = max(range(len(meshes)), key=lambda mesh: chain.nbytes(intervals[mesh], mesh))
    first, last = layers[intervals[worst][0]], layers[intervals[worst][-1]]
    names = first if first == last else f"{first} to {last}"
    return (
        f"no boundaries fit into {chain.memory:,} bytes of a device: the best ones need "
        f"{least:,} on mesh '{meshes[worst]}' for {names}; use more meshes, a schedule with fewer "
        "live microbatches, or remat"
    )
