# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The optimization problem of a program: folded sites, arrays for solvers, and the way back."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mlir_sdy.host import ir
from mlir_sdy.model import AxisTuple, Shape
from pyshardy.auto.graph.sites import Flow, Graph
from pyshardy.auto.problem.arrays import Floats, Ints, Node, Problem, User, Value, evaluate
from pyshardy.auto.strategies.costs import Collectives, ReshardCosts
from pyshardy.partition.types.steps import AxesPerDim

Permitted = Mapping[int, frozenset[int]]
"""The strategies that sites may choose, by their numbers; any for other sites."""

_MOST_UNFOLDED_SITES = 300
"""The number of sites up to which a program is not folded."""


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

    @property
    def is_folded(self) -> bool:
        """Whether some sites have their strategy in common."""
        return len(self.problem.nodes) < len(self.graph.sites)

    def seconds_of(self, group: FlowGroup, reshards: ReshardCosts) -> Floats:
        """Return the costs of the reshards of a value by other costs of reshards."""
        flow = group.flow
        return flow.repetitions * reshards.matrix(
            flow.nbytes, flow.shape, group.sources, group.targets
        )

    def axes_of(self, choice: Sequence[int] | Ints, site: int, result: int) -> AxesPerDim:
        """Return the axes of a result of a site in a choice for the nodes."""
        alternatives = self.graph.sites[site].alternatives
        return alternatives.results[result][int(choice[self.colors[site]])]

    def axes_of_value(self, choice: Sequence[int] | Ints, value: ir.Value) -> AxesPerDim | None:
        """Return the axes of a value in a choice; None for values that each device computes."""
        made = self.graph.placed.get(value)
        return None if made is None else self.axes_of(choice, *made)

    def cost(self, choice: Sequence[int] | Ints) -> float:
        """Return the cost of a choice."""
        return evaluate(self.problem, choice).cost

    def restricted(self, problem: Problem, permitted: Permitted) -> Problem:
        """Return a problem in which nodes have only the permitted strategies.

        Args:
            problem: the problem of the program, or one with other costs or memory.
            permitted: the strategies that sites may choose.
        """
        if not permitted:
            return problem
        nodes = list(problem.nodes)
        for site, kept in permitted.items():
            node = nodes[self.colors[site]]
            is_kept = np.isin(np.arange(len(node.costs)), sorted(kept))
            nodes[self.colors[site]] = Node(node.name, np.where(is_kept, node.costs, np.inf))
        return problem.with_nodes(nodes)

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


def build(graph: Graph, reshards: ReshardCosts, colors: list[int] | None = None) -> Built:
    """Return the optimization problem of a program, without its memory.

    Args:
        graph: the choices of the program.
        reshards: the costs of reshards.
        colors: the node of each site, in the order of their first sites; by default as `fold` says.
    """
    colors = fold(graph) if colors is None else colors
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
        made = sites[flow.producer].alternatives
        given = _marked(made.results[flow.result], made.left)
        source, sources = _classes(given)
        wanted = [
            _marked(user.operands[operand], user.taken[operand] if user.taken else ())
            for user, operand in ((sites[node].alternatives, own) for node, own in flow.users)
        ]
        together, targets = _classes([axes for each in wanted for axes in each])
        ends = np.cumsum([0, *map(len, wanted)])
        users = [
            User(node, together[start:end])
            for (node, _), start, end in zip(flow.users, ends[:-1], ends[1:], strict=True)
        ]
        costs = matrices.of(flow, sources, targets)
        if len(sources) == len(targets) == 1 and not costs.any():
            continue
        classes = (tuple(each.axes for each in end) for end in (sources, targets))
        groups.append(FlowGroup(flow, tuple(members), *classes))
        values.append(Value(flow.producer, source, users, costs))
    problem = Problem(nodes, values)
    return Built(graph, colors, problem, tuple(groups), reshards)


def _grouped(graph: Graph, colors: list[int]) -> list[tuple[Flow, list[Flow]]]:
    """Return the flows between colors, with the flows between sites that they stand for.

    A color that uses its own result has one sharding in all copies, and is no user of the flow.
    """
    found: dict[
        tuple[int, int, Shape, int, bool, bool, tuple[tuple[int, int], ...]], list[Flow]
    ] = {}
    for flow in graph.flows:
        producer = colors[flow.producer]
        users = {(colors[site], operand) for site, operand in flow.users}
        others = tuple(sorted(user for user in users if user[0] != producer))
        if others:
            key = (
                producer,
                flow.result,
                flow.shape,
                flow.nbytes,
                flow.is_tied,
                flow.is_fused,
                others,
            )
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
                is_fused=is_fused,
            ),
            flows,
        )
        for (
            (producer, result, shape, nbytes, is_tied, is_fused, users),
            flows,
        ) in found.items()
    ]


class _Class(NamedTuple):
    """A sharding of a value in a flow.

    Attributes:
        axes: the axes of each dimension.
        partial: the axes along which it is partial.
    """

    axes: AxesPerDim
    partial: AxisTuple = ()


def _marked(axes: Sequence[AxesPerDim], partials: Sequence[AxisTuple]) -> list[_Class]:
    """Return the classes of strategies, some of which leave or take a partial value."""
    if not partials:
        return [*map(_Class, axes)]
    return [*map(_Class, axes, partials)]


def _classes(entries: Sequence[_Class]) -> tuple[Ints, tuple[_Class, ...]]:
    """Return the number of the class of each entry, and the classes."""
    numbers: dict[_Class, int] = {}
    classes = [numbers.setdefault(each, len(numbers)) for each in entries]
    return np.array(classes, np.int64), tuple(numbers)


class _Matrices:
    """The costs of reshards between classes, computed once for equal classes and bytes."""

    def __init__(self, reshards: ReshardCosts):
        self._reshards = reshards
        self._known: dict[tuple[object, ...], Floats] = {}

    def of(self, flow: Flow, given: tuple[_Class, ...], wanted: tuple[_Class, ...]) -> Floats:
        if flow.is_tied:
            same = np.array([[a == b for b in wanted] for a in given])
            return np.where(same, 0.0, np.inf)
        sources, targets = (tuple(each.axes for each in end) for end in (given, wanted))
        costs = self._between(flow, sources, targets)
        if not any(each.partial for each in (*given, *wanted)):
            return costs
        fits = np.array([[a == b or not (a.partial or b.partial) for b in wanted] for a in given])
        return np.where(fits, costs, np.inf)

    def _between(
        self, flow: Flow, sources: tuple[AxesPerDim, ...], targets: tuple[AxesPerDim, ...]
    ) -> Floats:
        """Return the costs of reshards between axes."""
        key = flow.nbytes, flow.shape, sources, targets, flow.is_fused
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._reshards.matrix(
                flow.nbytes, flow.shape, sources, targets, is_fused=flow.is_fused
            )
        return known * flow.repetitions


# --- Folding -------------------------------------------------------------------------------------


def fold(graph: Graph, most: int = _MOST_UNFOLDED_SITES) -> list[int]:
    """Return the number of the color of each site, in the order of their first sites.

    The layers of a model are alike, so that a plan for one of them is one for all. Sites get colors
    by the refinement of Weisfeiler and Leman:

    1. The color of a site is that of its strategies and its kind.
    2. A round of refinement gives different colors to sites that differ in the colors of the sites
       which they use, or which use them.
    3. Refinement ends when nothing changes, or before there would be more colors than a limit.

    After n rounds, sites of one color have equal surroundings up to a distance of n sites. So the
    sites of all layers have one color, but those near the first and the last layer have others. In
    a program without repetition, and in one of few sites, each site has its own color.

    Folding restricts the choices, but not their costs: a choice for the colors is one for the
    sites, with the same cost and memory. The bound of a plan is that for equal choices of equal
    sites; `untied` has bounds for all.

    Args:
        graph: the choices.
        most: the largest number of colors that refinement may lead to.
    """
    if len(graph.sites) <= most:
        return list(range(len(graph.sites)))
    used: list[list[tuple[int, int, int]]] = [[] for _ in graph.sites]
    using: list[list[tuple[int, int, int]]] = [[] for _ in graph.sites]
    for flow in graph.flows:
        for user, operand in flow.users:
            used[user].append((operand, flow.result, flow.producer))
            using[flow.producer].append((flow.result, operand, user))
    colors = _numbered([(id(site.alternatives), site.kind) for site in graph.sites])
    while True:
        refined = _numbered(
            [
                (
                    colors[site],
                    tuple(sorted((a, b, colors[other]) for a, b, other in used[site])),
                    tuple(sorted((a, b, colors[other]) for a, b, other in using[site])),
                )
                for site in range(len(colors))
            ]
        )
        if max(refined) == max(colors) or max(refined) >= most:
            return colors
        colors = refined


def _numbered(keys: list[Hashable] | list[tuple[int, str]]) -> list[int]:
    """Return for each key the number of the first equal key, without gaps."""
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]
