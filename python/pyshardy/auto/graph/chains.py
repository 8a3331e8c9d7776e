# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Chains of elementwise operations, which share one sharding."""

from __future__ import annotations

from collections.abc import Mapping

from mlir_sdy.fold.pattern import has_one_use
from mlir_sdy.host import ir
from pyshardy.auto.graph.operation_forms import Tensor
from pyshardy.auto.graph.sites import Flow, Graph, Site
from pyshardy.auto.strategies.alternatives import AlternativesOf
from pyshardy.cost.op_work import Work


class Chains:
    """Elementwise operations that share one sharding.

    An operation joins those that define its operands, if these have no other use and elements of
    the same size: a reshard between them can as well be made before the first or after the last.
    """

    def __init__(self) -> None:
        self._works: dict[int, list[tuple[str, Work]]] = {}
        self._results: dict[int, tuple[ir.Value, Tensor]] = {}
        self._parents: dict[int, int] = {}

    def add(
        self,
        site: int,
        operation: ir.Operation,
        tensor: Tensor,
        works: list[tuple[str, Work]],
        placed: Mapping[ir.Value, tuple[int, int]],
    ) -> None:
        """Add an elementwise operation without a given sharding.

        Args:
            site: its site.
            operation: the operation.
            tensor: the type of its result.
            works: its name and its unsharded work, and those of what it needs.
            placed: the sites and numbers of values.
        """
        self._works[site] = works
        self._results[site] = operation.results[0], tensor
        for operand in operation.operands:
            made = placed.get(operand)
            known = None if made is None else self._results.get(made[0])
            if made is None or known is None or known[1].element_bytes != tensor.element_bytes:
                continue
            # A barrier shares the site of its operand, but not its value.
            if known[0] == operand and has_one_use(operand):
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
                _, tensor = self._results[old]
                site.alternatives = of.of_value(tensor.shape, None, 1, works[old])
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
