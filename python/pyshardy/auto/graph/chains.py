# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Chains of elementwise operations, which share one sharding."""

from __future__ import annotations

from collections.abc import Mapping

from mlir_sdy.fold.pattern import has_one_use
from mlir_sdy.host import ir
from pyshardy.auto.graph.sites import Flow, Graph, Site
from pyshardy.auto.strategies.alternatives import AlternativesOf
from pyshardy.cost.op_work import Work
from pyshardy.irtools.tensor_types import element_bytes, shape_of


class Chains:
    """Elementwise operations that share one sharding.

    An operation joins those that define its operands, if these have no other use and elements of
    the same size: a reshard between them can as well be made before the first or after the last.
    """

    def __init__(self) -> None:
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
        nbytes = element_bytes(operation.results[0].type)
        for operand in operation.operands:
            made = placed.get(operand)
            if made is None or made[0] not in self._operations or not has_one_use(operand):
                continue
            is_result = self._operations[made[0]].results[0] == operand  # not that of a barrier
            if is_result and element_bytes(operand.type) == nbytes:
                self._parents[self._root(made[0])] = site

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
