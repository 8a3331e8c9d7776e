# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Find the communication of a program that can be hidden, before it is sharded.

1. Reshards of arguments, and of slices of those that are stacked, can run ahead of their use. If
   nothing is computed in the body before, only a prefetch hides them: beside the iteration before,
   so that those of the first iteration are exposed.
2. Reshards and completions of values that aren't needed before the end of their body can run late
   (`graph.late_values`).
3. Those of other values can run beside the computation in their windows (`Windows`), and are hidden
   up to its part `hide`.
4. The computation of a body hides them up to a part `hide`: other communication waits for some of
   it. Without prefetches, it counts before the last use of 1, after the first value of 2, and in
   the windows of 3.
5. Each lane of links hides by itself, also beside other communication on other lanes.
6. Where computation is slower beside communication, only a part of the communication is hidden.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import numpy as np

from pyshardy.auto.graph.late_values import HEAVY
from pyshardy.auto.graph.sites import Flow, Graph, LoopBody, Site
from pyshardy.auto.problem.arrays import Floats
from pyshardy.auto.problem.hiding import Hiding, HidingBody
from pyshardy.auto.search.build import Built, FlowGroup
from pyshardy.auto.strategies.alternatives import Alternatives
from pyshardy.auto.strategies.costs import CostModel, HardwareCosts, ReshardCosts
from pyshardy.cost.collectives import PlannedCollective
from pyshardy.cost.op_work import Work
from pyshardy.propagation.elementwise import ELEMENTWISE_OPERATIONS


def hiding_of(built: Built, *, prefetches: bool, hide: float) -> Hiding | None:
    """Return what can be hidden in a program; None if nothing can be, whatever is chosen.

    Args:
        built: the program.
        prefetches: whether collectives of loops run beside another iteration.
        hide: the part of the computation of a body beside which communication can run.
    """
    lanes = _lanes(built.reshards)
    windows = _windows(built)
    spans = _spans(built, windows, prefetches=prefetches)
    parts = [_parts(built, group, prefetches=prefetches) for group in built.groups]
    found: list[HidingBody] = []
    for lane in lanes:
        bodies = [HidingBody(number) for number in range(len(built.graph.bodies))]
        _add_sites(built, lane, bodies, spans, windows, hide)
        for index, (group, by_body) in enumerate(zip(built.groups, parts, strict=True)):
            if group.flow.is_tied:
                continue
            own, others = (built.seconds_of(group, each) for each in (lane.own, lane.others))
            for number, (hidden, rest) in by_body.items():
                if own.any():
                    seconds = hidden * own if hidden else np.zeros_like(own)
                    for flow in group.members if rest else ():
                        if flow.body == number and not flow.can_wait:
                            most = hide * windows.seconds(number, windows.of_flow(flow))
                            times = flow.repetitions / group.flow.repetitions
                            seconds = seconds + np.minimum(times * own, most)
                    if seconds.any():
                        bodies[number].resharded[index] = lane.share * seconds
                if rest and len(lanes) > 1 and others.any():
                    bodies[number].beside[index] = rest * others
        found += [body for body in bodies if not body.is_empty]
    return Hiding(tuple(found)) if found else None


@dataclass(frozen=True, slots=True)
class _Lane:
    """A lane of links.

    Attributes:
        own: the costs of reshards on it, without those of operations.
        others: the costs of those that it isn't busy with.
        share: the part of its communication that computation can hide.
    """

    own: ReshardCosts
    others: ReshardCosts
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class _LaneCosts:
    """The cost of collectives on a lane, or of all that don't occupy it; operations cost nothing.

    A collective on several lanes is one of the first of them.

    Attributes:
        model: the cost of collectives.
        lane: the lane; empty for all of them.
        is_other: whether the others count.
    """

    model: CostModel
    lane: str
    is_other: bool

    def operation(self, name: str, work: Work) -> float:  # noqa: ARG002 (of the protocol)
        """Return zero."""
        return 0.0

    def collective(self, collective: PlannedCollective) -> float:
        """Return the cost on the lane, or zero."""
        lanes = ("",)
        if self.lane and isinstance(self.model, HardwareCosts):
            lanes = self.model.hardware.lanes(collective.axes)
        counts = self.lane not in lanes if self.is_other else self.lane == lanes[0]
        return self.model.collective(collective) if counts else 0.0


def _lanes(reshards: ReshardCosts) -> list[_Lane]:
    """Return the lanes of the mesh."""
    model, names, share = reshards.model, [""], 1.0
    if isinstance(model, HardwareCosts):
        hardware = model.hardware
        share = hardware.compute_while_communicating
        axes = reshards.mesh.axis_names
        names = [*dict.fromkeys(lane for axis in axes for lane in hardware.lanes((axis,)))]
    return [
        _Lane(
            reshards.with_model(_LaneCosts(model, name, is_other=False)),
            reshards.with_model(_LaneCosts(model, name, is_other=True)),
            share,
        )
        for name in names
    ]


def _parts(built: Built, group: FlowGroup, *, prefetches: bool) -> dict[int, tuple[float, float]]:
    """Return the parts of the reshards of a value that can be hidden, and others, by bodies."""
    found: dict[int, tuple[float, float]] = {}
    for flow in group.members:
        hidden, rest = found.get(flow.body, (0.0, 0.0))
        part = hidden_part(flow, built.graph.bodies[flow.body], prefetches=prefetches)
        times = flow.repetitions / group.flow.repetitions
        found[flow.body] = hidden + part * times, rest + (1.0 - part) * times
    return found


def _add_sites(
    built: Built,
    lane: _Lane,
    bodies: list[HidingBody],
    spans: list[_Spans],
    windows: Windows,
    hide: float,
) -> None:
    """Add the computation of sites, and their collectives."""
    seconds: dict[int, tuple[Floats, Floats, Floats]] = {}
    for number, (site, color) in enumerate(zip(built.graph.sites, built.colors, strict=True)):
        alternatives = site.alternatives
        known = seconds.get(id(alternatives))
        if known is None:
            known = seconds[id(alternatives)] = (
                _completions(alternatives, built.reshards.model),
                _completions(alternatives, lane.own.model),
                _completions(alternatives, lane.others.model),
            )
        completing, own, others = known
        body = bodies[site.body]
        if spans[site.body].holds(site.time):
            computed = hide * _computation(site, completing)
            if not site.is_late:
                computed = computed + site.repetitions * others
            body.computed[color] = body.computed.get(color, 0.0) + computed
        if own.any():
            sent = site.repetitions * own
            if not site.is_late:
                most = hide * windows.seconds(site.body, windows.of_site(number))
                sent = np.minimum(sent, most)
            if sent.any():
                body.sent[color] = body.sent.get(color, 0.0) + lane.share * sent


@dataclass(slots=True)
class _Spans:
    """The times of a body at which computation hides communication.

    Attributes:
        until: the time of the last use of a value that is resharded early.
        since: the time of the first late value.
        windows: the times in windows of other values.
    """

    until: float = -math.inf
    since: float = math.inf
    windows: set[int] = field(default_factory=set[int])

    def holds(self, time: int) -> bool:
        """Whether a time is one of them."""
        return time < self.until or time > self.since or time in self.windows


def _windows(built: Built) -> Windows:
    """Return the windows of the values of a program."""
    least: dict[int, float] = {}
    seconds: list[float] = []
    for site in built.graph.sites:
        key = id(site.alternatives)
        if key not in least:
            completing = _completions(site.alternatives, built.reshards.model)
            least[key] = float(_computation(site, completing).min()) / site.repetitions
        seconds.append(least[key] * site.repetitions)
    return Windows(built.graph, seconds)


def _spans(built: Built, windows: Windows, *, prefetches: bool) -> list[_Spans]:
    """Return the times at which computation hides communication, by bodies."""
    graph = built.graph
    found = [_Spans() for _ in graph.bodies]
    beside: list[list[tuple[float, float]]] = [[] for _ in graph.bodies]
    for flow in graph.flows:
        own, body = found[flow.body], graph.bodies[flow.body]
        if not flow.can_wait and not flow.is_tied:
            beside[flow.body].append(windows.of_flow(flow))
        if hidden_part(flow, body, prefetches=prefetches):
            if prefetches and body.trips > 1:
                own.until = math.inf
            elif flow.needed < math.inf:
                own.until = max(own.until, flow.needed)
    for number, site in enumerate(graph.sites):
        if site.is_late:
            found[site.body].since = min(found[site.body].since, site.time)
        elif any(site.alternatives.collectives):
            beside[site.body].append(windows.of_site(number))
    for body, spans in enumerate(found):
        spans.windows = windows.covered(body, beside[body])
    return found


def hidden_part(flow: Flow, body: LoopBody, *, prefetches: bool) -> float:
    """Return the part of the iterations of a body in which a value's reshards can be hidden."""
    if not flow.can_wait or flow.is_tied:
        return 0.0
    if flow.needed > body.first:
        return 1.0
    return (body.trips - 1) / body.trips if prefetches else 0.0


def _completions(alternatives: Alternatives, model: CostModel) -> Floats:
    """Return the seconds of the collectives that complete results, by the strategies."""
    seconds = (sum(map(model.collective, each)) for each in alternatives.collectives)
    return np.array([*seconds], np.float64)


def _computation(site: Site, completions: Floats) -> Floats:
    """Return the seconds of a site without its collectives, by its strategies."""
    costs: Floats = np.array(site.alternatives.costs) - completions
    return site.repetitions * np.where(np.isfinite(costs), np.maximum(costs, 0.0), 0.0)


# --- Windows --------------------------------------------------------------------------------------

# 1. A *large* operation is a product, a convolution or a loop. A value is needed at the time of the
#    first large operation that depends on it, at the end of its body if it is returned there, and
#    never if nothing depends on it.
# 2. Its *window* has the large operations of its body after it and before it is needed. They don't
#    depend on it, so that a collective can run beside them.
#
# Example: the gradient of a layer has the products `dx = dy w` and `dw = x dy`, and the layer
# before goes on with `dx`. The window of `dx` has the product `dw`: so an all-reduce of `dx` can be
# hidden by it, but an all-reduce of the activations, which the next product needs at once, can't.


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
