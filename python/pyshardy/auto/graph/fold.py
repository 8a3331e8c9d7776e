# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Folding: sites in equal surroundings choose one strategy together.

The layers of a model are alike, so that a plan for one of them is one for all. Sites get colors by
the refinement of Weisfeiler and Leman:

1. The color of a site is that of its strategies and its kind.
2. A round of refinement gives different colors to sites that differ in the colors of the sites
   which they use, or which use them.
3. Refinement ends when nothing changes, or before there would be more colors than a limit.

After n rounds, sites of one color have equal surroundings up to a distance of n sites. So the sites
of all layers have one color, but those near the first and the last layer have others. In a program
without repetition, and in one of few sites, each site has its own color.

Folding restricts the choices, but not their costs: a choice for the colors is one for the sites,
with the same cost and memory. The bound of a plan is that for equal choices of equal sites;
`untied` has bounds for all.
"""

from __future__ import annotations

from collections.abc import Hashable

from pyshardy.auto.graph.sites import Graph

MOST_UNFOLDED_SITES = 300
"""The number of sites up to which a program is not folded."""


def fold(graph: Graph, most: int = MOST_UNFOLDED_SITES) -> list[int]:
    """Return the number of the color of each site, in the order of their first sites.

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
