# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The computation that can run between a value and its first use in a large operation.

1. A *large* operation is a product, a convolution or a loop. A value is needed at the time of the
   first large operation that depends on it, at the end of its body if it is returned there, and
   never if nothing depends on it.
2. Its *window* has the large operations of its body after it and before it is needed. They don't
   depend on it, so that a collective can run beside them.

Example: the gradient of a layer has the products `dx = dy w` and `dw = x dy`, and the layer before
goes on with `dx`. The window of `dx` has the product `dw`: so an all-reduce of `dx` can be hidden
by it, but an all-reduce of the activations, which the next product needs at once, can't.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import accumulate

from pyshardy.auto.graph.late_values import HEAVY
from pyshardy.auto.graph.sites import Flow, Graph
from pyshardy.propagation.elementwise import ELEMENTWISE_OPERATIONS

_SUMS = {*HEAVY, *ELEMENTWISE_OPERATIONS, "stablehlo.reduce", "stablehlo.scatter"}
"""The operations whose results, or operands, are completed by sums over devices."""


class Windows:
    """The windows of the values of a program.

    Args:
        graph: the program.
        seconds: the least computation of each site, over all its executions.
    """

    def __init__(self, graph: Graph, seconds: Sequence[float]) -> None:
        self._graph = graph
        self._flows: defaultdict[int, list[Flow]] = defaultdict(list)
        for flow in graph.flows:
            self._flows[flow.producer].append(flow)
        self._needed = [math.inf] * len(graph.sites)
        for site in reversed(range(len(graph.sites))):
            self._needed[site] = min(map(self._needed_at, self._flows[site]), default=math.inf)
        self._times: list[list[int]] = [[] for _ in graph.bodies]
        self._seconds: list[list[float]] = [[0.0] for _ in graph.bodies]
        large = (number for number in range(len(graph.sites)) if self._is_large(number))
        for number in sorted(large, key=lambda each: graph.sites[each].time):
            body = graph.sites[number].body
            self._times[body].append(graph.sites[number].time)
            self._seconds[body].append(self._seconds[body][-1] + seconds[number])

    def of_site(self, site: int) -> tuple[float, float]:
        """Return the start and the end of the window of the results of a site.

        It is empty if the site sums nothing: what slices and updates exchange is needed at once.
        """
        time = self._graph.sites[site].time
        return time, self._needed[site] if self._graph.times[time] in _SUMS else time

    def of_flow(self, flow: Flow) -> tuple[float, float]:
        """Return the start and the end of the window of a value; it is empty without users."""
        made = self._graph.sites[flow.producer].time
        return made, self._needed_at(flow) if flow.users else made

    def seconds(self, body: int, window: tuple[float, float]) -> float:
        """Return the least computation of the large operations of a body in a window."""
        start, end = self._range(body, window)
        return self._seconds[body][end] - self._seconds[body][start] if end > start else 0.0

    def covered(self, body: int, windows: Iterable[tuple[float, float]]) -> set[int]:
        """Return the times of the large operations of a body that are in some window."""
        changes = [0] * (len(self._times[body]) + 1)
        for window in windows:
            start, end = self._range(body, window)
            if end > start:
                changes[start] += 1
                changes[end] -= 1
        return {
            time
            for time, count in zip(self._times[body], accumulate(changes), strict=False)
            if count
        }

    def _range(self, body: int, window: tuple[float, float]) -> tuple[int, int]:
        return bisect_right(self._times[body], window[0]), bisect_left(self._times[body], window[1])

    def _needed_at(self, flow: Flow) -> float:
        """Return the time at which a value is needed."""
        made = self._graph.sites[flow.producer].time
        found = math.inf
        for user, _ in flow.users:
            time = self._graph.sites[user].time
            if time < made:  # the next value of a loop
                time = self._graph.bodies[flow.body].end
            elif not self._is_large(user):
                time = self._needed[user]
            found = min(found, time)
        return found

    def _is_large(self, site: int) -> bool:
        return self._graph.times[self._graph.sites[site].time] in HEAVY
