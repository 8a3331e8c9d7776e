# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The graph of a program for the viewer Model Explorer.

The format is a list of graphs. A graph is a list of nodes, each with a path of namespaces that can
be expanded, edges from its operands, and attributes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from pyshardy.explain.page.data import CollectiveData, PageData, ValueData
from pyshardy.explain.page.groups import Group


def model_explorer(data: PageData) -> dict[str, Any]:
    """Return the graph as JSON data.

    Args:
        data: the data of the report.
    """
    return {"graphs": [{"id": data.plan.title, "nodes": list(_Graph(data).nodes())}]}


class _Graph:
    """Writes the nodes of a program, with constants among those of their block."""

    def __init__(self, data: PageData):
        self._data = data.program
        self._collectives: defaultdict[int | None, list[CollectiveData]] = defaultdict(list)
        for collective in data.plan.collectives:
            self._collectives[collective.node].append(collective)
        self._nodes = {node.number: node for node in self._data.nodes}
        self._values = {value.number: value for value in self._data.values}
        self._inputs = [value for value in self._data.values if value.kind == "input"]
        self._makers = {
            result: (str(node.number), str(position))
            for node in self._data.nodes
            for position, result in enumerate(node.results)
        } | {value.number: (f"input {value.number}", "0") for value in self._inputs}

    def nodes(self) -> Iterator[dict[str, Any]]:
        """Yield the inputs, the constants and the operations."""
        for value in self._inputs:
            yield self._node(f"input {value.number}", value.name, "inputs", [], [value], {})
        for number in self._data.folded:
            yield self._operation(number, "constants")
        for group in self._data.groups:
            yield from self._members(group, group.label)

    def _members(self, group: Group, namespace: str) -> Iterator[dict[str, Any]]:
        if group.operation is not None:
            yield self._operation(group.operation, namespace)
        for position, member in enumerate(group.members):
            if isinstance(member, Group):
                # Groups of equal names are distinct.
                inner = f"{namespace}/{member.label.replace('/', ' ')} ({position})"
                yield from self._members(member, inner)
            else:
                yield self._operation(member, namespace)

    def _operation(self, number: int, namespace: str) -> dict[str, Any]:
        node = self._nodes[number]
        edges = [
            {
                "sourceNodeId": self._makers[operand][0],
                "sourceNodeOutputId": self._makers[operand][1],
                "targetNodeInputId": str(index),
            }
            for index, operand in enumerate(node.operands)
            if operand in self._makers
        ]
        reasons = (each.reason for each in self._collectives[number])
        told = {
            "location": str(node.place or ""),
            "refused": "; ".join(node.refused),
            "collectives": "; ".join(reasons),
        }
        values = [self._values[result] for result in node.results if result in self._values]
        return self._node(str(number), node.name, namespace, edges, values, told)

    def _node(
        self,
        identity: str,
        label: str,
        namespace: str,
        edges: list[dict[str, str]],
        values: Sequence[ValueData],
        told: dict[str, str],
    ) -> dict[str, Any]:
        shardings = [self._data.shardings[value.sharding].text for value in values]
        attributes = {"sharding": "; ".join(shardings), **told}
        return {
            "id": identity,
            "label": label,
            "namespace": namespace,
            "incomingEdges": edges,
            "attrs": [{"key": key, "value": value} for key, value in attributes.items() if value],
            "outputsMetadata": [
                {
                    "id": str(position),
                    "attrs": [
                        {"key": "tensor_shape", "value": self._data.types[value.type].text},
                        {"key": "sharding", "value": sharding},
                    ],
                }
                for position, (value, sharding) in enumerate(zip(values, shardings, strict=True))
            ],
        }
