# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The optimization problem of a program: arrays for solvers, and the way back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pyshardy.auto.costs import Collectives, ReshardCosts
from pyshardy.auto.fold import fold
from pyshardy.auto.problem import Floats, Ints, Node, Problem, User, Value, evaluate
from pyshardy.auto.sites import Flow, Graph
from pyshardy.partition.compatibility.factor_axes import Shape
from pyshardy.partition.resharding.steps import AxesPerDim


@dataclass(frozen=True, slots=True)
class FlowGroup:
    """Equal flows of a folded program.

    Attributes:
        flow: the first of them, between colors instead of sites.
        members: all of them.
        sources: the axes of each dimension, by source class.
        targets: those by target class.
    """

    flow: Flow
    members: tuple[Flow, ...]
    sources: tuple[AxesPerDim, ...]
    targets: tuple[AxesPerDim, ...]


@dataclass(frozen=True, eq=False)
class Built:
    """A program with its optimization problem.

    Attributes:
        graph: the choices of the program.
        colors: the node of each site.
        problem: the problem.
        groups: the flows of the values of the problem.
        reshards: the costs of reshards.
    """

    graph: Graph
    colors: list[int]
    problem: Problem
    groups: tuple[FlowGroup, ...]
    reshards: ReshardCosts

    def axes_of(self, choice: Sequence[int] | Ints, site: int, result: int) -> AxesPerDim:
        """Return the axes of a result of a site in a choice for the nodes."""
        alternatives = self.graph.sites[site].alternatives
        return alternatives.results[result][int(choice[self.colors[site]])]

    def cost(self, choice: Sequence[int] | Ints) -> float:
        """Return the cost of a choice."""
        return evaluate(self.problem, choice).cost

    def collectives(self, choice: Sequence[int] | Ints) -> list[tuple[Collectives, int, str]]:
        """Return the collectives of a choice, how often they run, and the site they belong to."""
        found: list[tuple[Collectives, int, str]] = []
        for site, color in zip(self.graph.sites, self.colors, strict=True):
            completing = site.alternatives.collectives[int(choice[color])]
            if completing:
                found.append((completing, site.repetitions, site.name))
            for inner, times in site.alternatives.inside:
                found.append(((inner,), site.repetitions * times, site.name))
        for group, value in zip(self.groups, self.problem.values, strict=True):
            source = int(value.source[int(choice[value.producer])])
            needed = {int(user.target[int(choice[user.node])]) for user in value.users}
            for target in sorted(needed):
                flow = group.flow
                moved = self.reshards.collectives(
                    flow.nbytes, flow.shape, group.sources[source], group.targets[target]
                )
                if moved:
                    name = self.problem.nodes[value.producer].name
                    found.append((moved, flow.repetitions, f"{name}, resharded"))
        return found


def build(graph: Graph, reshards: ReshardCosts) -> Built:
    """Return the optimization problem of a program, without its memory.

    Args:
        graph: the choices of the program.
        reshards: the costs of reshards.
    """
    colors = fold(graph)
    first: dict[int, int] = {}
    repetitions = [0] * (max(colors, default=-1) + 1)
    for number, color in enumerate(colors):
        first.setdefault(color, number)
        repetitions[color] += graph.sites[number].repetitions
    sites = [graph.sites[first[color]] for color in range(len(first))]
    nodes = [
        Node(site.name, np.array(site.alternatives.costs) * times)
        for site, times in zip(sites, repetitions, strict=True)
    ]
    groups: list[FlowGroup] = []
    values: list[Value] = []
    matrices = _Matrices(reshards)
    for flow, members in _grouped(graph, colors):
        given = sites[flow.producer].alternatives.results[flow.result]
        source, sources = _classes(given)
        wanted = [sites[node].alternatives.operands[operand] for node, operand in flow.users]
        together, targets = _classes([axes for each in wanted for axes in each])
        ends = np.cumsum([0, *map(len, wanted)])
        users = [
            User(node, together[start:end])
            for (node, _), start, end in zip(flow.users, ends[:-1], ends[1:], strict=True)
        ]
        costs = matrices.of(flow, sources, targets)
        if len(sources) == len(targets) == 1 and not costs.any():
            continue
        groups.append(FlowGroup(flow, tuple(members), sources, targets))
        values.append(Value(flow.producer, source, users, costs))
    problem = Problem(nodes, values)
    return Built(graph, colors, problem, tuple(groups), reshards)


def _grouped(graph: Graph, colors: list[int]) -> list[tuple[Flow, list[Flow]]]:
    """Return the flows between colors, with the flows between sites that they stand for.

    A color that uses its own result has one sharding in all copies, and is no user of the flow.
    """
    found: dict[tuple[int, int, Shape, int, bool, tuple[tuple[int, int], ...]], list[Flow]] = {}
    for flow in graph.flows:
        producer = colors[flow.producer]
        users = {(colors[site], operand) for site, operand in flow.users}
        others = tuple(sorted(user for user in users if user[0] != producer))
        if others:
            key = producer, flow.result, flow.shape, flow.nbytes, flow.is_tied, others
            found.setdefault(key, []).append(flow)
    return [
        (
            Flow(
                producer,
                result,
                shape,
                nbytes,
                sum(f.repetitions for f in flows),
                [*users],
                is_tied,
            ),
            flows,
        )
        for (producer, result, shape, nbytes, is_tied, users), flows in found.items()
    ]


def _classes(axes: Sequence[AxesPerDim]) -> tuple[Ints, tuple[AxesPerDim, ...]]:
    """Return the number of the class of each entry, and the classes."""
    numbers: dict[AxesPerDim, int] = {}
    classes = [numbers.setdefault(each, len(numbers)) for each in axes]
    return np.array(classes, np.int64), tuple(numbers)


class _Matrices:
    """The costs of reshards between classes, computed once for equal classes and bytes."""

    def __init__(self, reshards: ReshardCosts):
        self._reshards = reshards
        self._known: dict[tuple[object, ...], Floats] = {}

    def of(
        self, flow: Flow, sources: tuple[AxesPerDim, ...], targets: tuple[AxesPerDim, ...]
    ) -> Floats:
        if flow.is_tied:
            same = np.array([[a == b for b in targets] for a in sources])
            return np.where(same, 0.0, np.inf)
        key = flow.nbytes, flow.shape, sources, targets
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._reshards.matrix(
                flow.nbytes, flow.shape, sources, targets
            )
        return known * flow.repetitions
