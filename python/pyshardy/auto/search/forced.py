# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cost of the alternatives of an argument's sharding.

For each sharding, the argument is moved to it, and local search improves the choices of all other
values from those of the plan, first around the argument. The cost is that of the plan which is
found so, and thus an upper bound of that of the best one. Arguments of folded places have equal
shardings, so they move together.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pyshardy.auto.problem.arrays import Ints, Problem, evaluate
from pyshardy.auto.search.build import Permitted
from pyshardy.auto.search.memory import with_memory
from pyshardy.auto.search.program_search import Search
from pyshardy.auto.solvers.local_search import LocalSearch
from pyshardy.partition.types.steps import AxesPerDim

DEFAULT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class ForcedSharding:
    """A plan in which an argument has a given sharding.

    Attributes:
        axes: the axes of each dimension.
        cost: the cost of the plan; infinite if none was found within the memory.
    """

    axes: AxesPerDim
    cost: float


def forced_shardings(
    search: Search, choice: Ints, permitted: Permitted, seconds: float = DEFAULT_SECONDS
) -> Mapping[int, tuple[ForcedSharding, ...]]:
    """Return the costs of the other shardings of arguments by their sites, the cheapest first.

    Args:
        search: the program.
        choice: the plan, from which local search starts.
        permitted: the strategies that sites may choose.
        seconds: the time after which no further argument is begun; larger arguments come first.
    """
    end = time.perf_counter() + seconds
    built, limit = search.built, search.options.limit
    searches = [LocalSearch(built.restricted(built.problem, permitted), choice)]
    if limit is not None:
        limited = with_memory(built, limit, len(search.arguments))
        searches.append(LocalSearch(built.restricted(limited, permitted), choice))
    problem = searches[0].problem
    sizes = {flow.producer: flow.nbytes for flow in reversed(built.graph.flows)}
    by_color: dict[int, tuple[ForcedSharding, ...]] = {}
    found: dict[int, tuple[ForcedSharding, ...]] = {}
    for site in sorted(search.argument_sites, key=lambda each: (-sizes.get(each, 0), each)):
        color = built.colors[site]
        if color not in by_color and time.perf_counter() < end:
            axes = built.graph.sites[site].alternatives.results[0]
            others = [
                ForcedSharding(
                    each, _cost_with(searches, choice, color, strategy, end, search.hidden)
                )
                for each, strategy in _other_shardings(problem, choice, color, axes)
            ]
            by_color[color] = tuple(sorted(others, key=lambda each: each.cost))
        if color in by_color:
            found[site] = by_color[color]
    return found


def _other_shardings(
    problem: Problem, choice: Ints, node: int, axes: Sequence[AxesPerDim]
) -> Iterator[tuple[AxesPerDim, int]]:
    """Yield the permitted shardings of an argument that aren't chosen, with their strategies."""
    known = {axes[int(choice[node])]}
    for strategy, cost in enumerate(problem.nodes[node].costs.tolist()):
        if math.isfinite(cost) and axes[strategy] not in known:
            known.add(axes[strategy])
            yield axes[strategy], strategy


def _cost_with(
    searches: Sequence[LocalSearch],
    choice: Ints,
    node: int,
    strategy: int,
    deadline: float,
    hidden: Callable[[Ints], float],
) -> float:
    """Return the cost of a plan in which a node has a strategy.

    Args:
        searches: local search without the memory limit, and with it if there is one, which counts
            only if the plan that is found without it exceeds it.
        choice: the plan to start from.
        node: the node.
        strategy: its strategy.
        deadline: the time to stop at.
        hidden: returns the seconds of a choice that are hidden.
    """
    limited = searches[-1].problem
    for search in searches:
        search.reset(choice)
        search.fixed = frozenset({node})
        search.move(node, strategy)
        if search.fits or (search.repair(deadline) and search.choice[node] == strategy):
            search.improve(deadline, search.neighbors(node))
            found = evaluate(limited, search.choice)
            if found.fits(limited.limit):
                return found.cost - hidden(np.array(search.choice, np.int64))
    return math.inf
