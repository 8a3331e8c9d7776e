# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What can be hidden in a program, by its structure, before it is sharded.

1. Reshards of arguments, and of slices of those that are stacked, can run ahead of their use. If
   nothing is computed in the body before, only a prefetch hides them: beside the iteration before,
   so that those of the first iteration are exposed.
2. Reshards and completions of values that aren't needed before the end of their body can run late
   (`graph.late_values`).
3. The computation of a body hides them up to a part `hide`: other communication waits for some of
   it. Without prefetches, it counts before the last use of 1, or after the first value of 2.
4. Where computation is slower beside communication, only a part of the communication is hidden.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from pyshardy.auto.graph.sites import Body, Flow, Site
from pyshardy.auto.problem.arrays import Floats
from pyshardy.auto.problem.hiding import Hiding, HidingBody
from pyshardy.auto.search.build import Built
from pyshardy.auto.strategies.alternatives import Alternatives
from pyshardy.auto.strategies.costs import HardwareCosts


def hiding_of(built: Built, *, prefetches: bool, hide: float) -> Hiding | None:
    """Return what can be hidden in a program; None if nothing can be, whatever is chosen.

    Args:
        built: the program.
        prefetches: whether collectives of loops run beside another iteration.
        hide: the part of the computation of a body beside which communication can run.
    """
    graph, model = built.graph, built.reshards.model
    bodies = [HidingBody() for _ in graph.bodies]
    beside = 1.0
    if isinstance(model, HardwareCosts):
        beside = model.hardware.compute_while_communicating
    spans = _spans(built, prefetches=prefetches)
    completions: dict[int, Floats] = {}
    for site, color in zip(graph.sites, built.colors, strict=True):
        known = completions.get(id(site.alternatives))
        if known is None:
            known = completions[id(site.alternatives)] = _completions(built, site.alternatives)
        own = bodies[site.body]
        if spans[site.body].holds(site.time):
            computed = hide * _computation(site, known)
            own.computed[color] = own.computed.get(color, 0.0) + computed
        if site.is_late and known.any():
            sent = beside * site.repetitions * known
            own.sent[color] = own.sent.get(color, 0.0) + sent
    for index, group in enumerate(built.groups):
        times: defaultdict[int, float] = defaultdict(float)
        for flow in group.members:
            part = hidden_part(flow, graph.bodies[flow.body], prefetches=prefetches)
            times[flow.body] += part * flow.repetitions
        for number, each in times.items():
            if each:
                bodies[number].resharded[index] = beside * each / group.flow.repetitions
    found = tuple(body for body in bodies if not body.is_empty)
    return Hiding(found) if found else None


@dataclass(slots=True)
class _Spans:
    """The times of a body at which computation hides communication.

    Attributes:
        until: the time of the last use of a value that is resharded early.
        since: the time of the first late value.
    """

    until: float = -math.inf
    since: float = math.inf

    def holds(self, time: int) -> bool:
        """Whether a time is one of them."""
        return time < self.until or time > self.since


def _spans(built: Built, *, prefetches: bool) -> list[_Spans]:
    """Return the times at which computation hides communication, by bodies."""
    graph = built.graph
    found = [_Spans() for _ in graph.bodies]
    for flow in graph.flows:
        own, body = found[flow.body], graph.bodies[flow.body]
        if hidden_part(flow, body, prefetches=prefetches):
            if prefetches and body.trips > 1:
                own.until = math.inf
            elif flow.needed < math.inf:
                own.until = max(own.until, flow.needed)
    for site in graph.sites:
        if site.is_late:
            found[site.body].since = min(found[site.body].since, site.time)
    return found


def hidden_part(flow: Flow, body: Body, *, prefetches: bool) -> float:
    """Return the part of the iterations of a body in which a value's reshards can be hidden."""
    if not flow.can_wait or flow.is_tied:
        return 0.0
    if flow.needed > body.first:
        return 1.0
    return (body.trips - 1) / body.trips if prefetches else 0.0


def _completions(built: Built, alternatives: Alternatives) -> Floats:
    """Return the seconds of the collectives that complete results, by the strategies."""
    model = built.reshards.model
    seconds = (sum(map(model.collective, each)) for each in alternatives.collectives)
    return np.array([*seconds], np.float64)


def _computation(site: Site, completions: Floats) -> Floats:
    """Return the seconds of a site without its collectives, by its strategies."""
    costs: Floats = np.array(site.alternatives.costs) - completions
    return site.repetitions * np.where(np.isfinite(costs), np.maximum(costs, 0.0), 0.0)
