# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Chains of elementwise operations, which share one sharding, and sums of partial results."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from mlir_sdy.fold.pattern import has_one_use
from mlir_sdy.host import ir
from pyshardy.auto.alternatives import Alternatives, AlternativesOf, Partial
from pyshardy.auto.partial_sums import (
    ADDING,
    common_partials,
    completing_sum,
    leaving_partial,
    may_be_left_partial,
)
from pyshardy.auto.sites import Flow, Graph, Site
from pyshardy.cost.op_work import Work
from pyshardy.irtools.tensor_types import element_bytes, shape_of


class Chains:
    """Elementwise operations that share one sharding.

    An operation joins those that define its operands, if these have no other use and elements of
    the same size: a reshard between them can as well be made before the first or after the last.
    A sum of results that may be partial joins only a larger one.

    Args:
        sites: the sites of the program, as far as they are known.
    """

    def __init__(self, sites: Sequence[Site]) -> None:
        self._sites = sites
        self._made: dict[tuple[Alternatives, tuple[Partial, ...]], Alternatives] = {}
        self._addends: dict[int, tuple[ir.Value, ...]] = {}
        self._works: dict[int, list[tuple[str, Work]]] = {}
        self._operations: dict[int, ir.Operation] = {}
        self._parents: dict[int, int] = {}

    def add(
        self,
        site: int,
        operation: ir.Operation,
        works: list[tuple[str, Work]],
        placed: Mapping[ir.Value, tuple[int, int]],
    ) -> None:
        """Add an elementwise operation without a given sharding."""
        self._works[site] = works
        self._operations[site] = operation
        addends = self._addends_of(operation, placed)
        if addends is not None:
            self._addends[site] = addends
        nbytes = element_bytes(operation.results[0].type)
        for operand in operation.operands:
            made = placed.get(operand)
            if made is None or made[0] not in self._operations or not has_one_use(operand):
                continue
            is_result = self._operations[made[0]].results[0] == operand  # not that of a barrier
            if made[0] in self._addends and addends is None:
                continue
            if is_result and element_bytes(operand.type) == nbytes:
                self._parents[self._root(made[0])] = site

    def _addends_of(
        self, operation: ir.Operation, placed: Mapping[ir.Value, tuple[int, int]]
    ) -> tuple[ir.Value, ...] | None:
        """Return the results that an operation adds up; None if not all of them may be partial."""
        if operation.name not in ADDING:
            return None
        found: list[ir.Value] = []
        for operand in operation.operands:
            made = placed.get(operand)
            if made is None or isinstance(operand, ir.BlockArgument) or not has_one_use(operand):
                return None
            maker = operand.owner.operation
            if maker.block != operation.block or operand != maker.results[0]:
                return None
            if made[0] in self._addends:
                found += self._addends[made[0]]
            elif may_be_left_partial(maker, self._sites[made[0]].alternatives):
                found.append(operand)
            else:
                return None
        return tuple(found)

    def _root(self, site: int) -> int:
        while site in self._parents:
            site = self._parents[site]
        return site

    def merge(self, graph: Graph, of: AlternativesOf) -> None:
        """Merge the sites of a graph."""
        works: dict[int, list[tuple[str, Work]]] = {}
        for site, own in self._works.items():
            works.setdefault(self._root(site), []).extend(own)
        numbers: dict[int, int] = {}
        sites: list[Site] = []
        for old, site in enumerate(graph.sites):
            if old in self._parents:
                continue
            numbers[old] = len(sites)
            sites.append(site)
            if old in works:
                shape = shape_of(self._operations[old].results[0].type)
                site.alternatives = of.of_value(shape, None, 1, works[old])
        for old, addends in self._addends.items():
            if old not in self._parents:
                makers = [graph.sites[graph.placed[each][0]] for each in addends]
                self._complete_together(old, graph.sites[old], makers, works[old], of)
        new = [numbers[self._root(old)] for old in range(len(graph.sites))]
        flows: list[Flow] = []
        for flow in graph.flows:
            flow.producer = new[flow.producer]
            flow.users = list(dict.fromkeys((new[site], operand) for site, operand in flow.users))
            flow.users = [user for user in flow.users if user[0] != flow.producer]
            flows.append(flow)
        graph.sites, graph.flows = sites, flows
        graph.placed = {value: (new[at], number) for value, (at, number) in graph.placed.items()}
        graph.results = {number: new[site] for number, site in graph.results.items()}

    def _complete_together(
        self,
        number: int,
        site: Site,
        makers: Sequence[Site],
        works: Sequence[tuple[str, Work]],
        of: AlternativesOf,
    ) -> None:
        """Add the strategies of a sum by which its addends are completed together."""
        partials = common_partials([each.alternatives for each in makers])
        if not partials:
            return
        value = self._operations[number].results[0]
        shape = shape_of(value.type)
        nbytes = element_bytes(value.type) * math.prod(shape)
        for maker in makers:
            maker.alternatives = self._known(
                (maker.alternatives, partials),
                lambda own=maker.alternatives: leaving_partial(own, partials, of),
            )
        site.alternatives = self._known(
            (site.alternatives, partials),
            lambda: completing_sum(site.alternatives, partials, shape, nbytes, works, of),
        )

    def _known(
        self, key: tuple[Alternatives, tuple[Partial, ...]], make: Callable[[], Alternatives]
    ) -> Alternatives:
        """Return equal alternatives for equal keys, by which equal sites are recognized."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]
