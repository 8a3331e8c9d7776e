# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The graph of a program for the viewer Model Explorer.

The format is a list of graphs. A graph is a list of nodes, each with a path of namespaces that can
be expanded, edges from its operands, and attributes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyshardy.explain.page.data import PageData
from pyshardy.explain.page.scopes import Group


def model_explorer(data: PageData) -> dict[str, Any]:
    """Return the graph as JSON data.

    Args:
        data: the data of the report.
    """
    makers = {
        result: (str(number), str(position))
        for number, node in data.nodes.items()
        for position, result in enumerate(node.results)
    }
    for number, value in data.values.items():
        if value.kind == "input":
            makers[number] = (f"input {number}", "0")
    nodes = [*_inputs(data)]
    for group in data.groups:
        nodes += _nodes(data, group, group.label, makers)
    return {"graphs": [{"id": data.title, "nodes": nodes}]}


def _inputs(data: PageData) -> Iterator[dict[str, Any]]:
    for number, value in data.values.items():
        if value.kind == "input":
            yield _node(data, f"input {number}", value.name, "inputs", [], (number,), {})


def _nodes(
    data: PageData, group: Group, namespace: str, makers: dict[int, tuple[str, str]]
) -> Iterator[dict[str, Any]]:
    for position, member in enumerate(group.members):
        if isinstance(member, Group):
            # Groups of equal names are distinct.
            inner = f"{namespace}/{member.label.replace('/', ' ')} ({position})"
            yield from _nodes(data, member, inner, makers)
            continue
        node = data.nodes[member]
        edges = [
            {
                "sourceNodeId": makers[operand][0],
                "sourceNodeOutputId": makers[operand][1],
                "targetNodeInputId": str(index),
            }
            for index, operand in enumerate(node.operands)
            if operand in makers
        ]
        told = {
            "location": str(node.place or ""),
            "refused": "; ".join(node.refused),
            "collectives": "; ".join(data.collectives[each].reason for each in node.collectives),
        }
        yield _node(data, str(member), node.name, namespace, edges, node.results, told)


def _node(
    data: PageData,
    identity: str,
    label: str,
    namespace: str,
    edges: list[dict[str, str]],
    results: tuple[int, ...],
    told: dict[str, str],
) -> dict[str, Any]:
    values = [data.values[result] for result in results if result in data.values]
    shardings = [data.shardings[value.sharding].text for value in values]
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
                    {"key": "tensor_shape", "value": value.type},
                    {"key": "sharding", "value": sharding},
                ],
            }
            for position, (value, sharding) in enumerate(zip(values, shardings, strict=True))
        ],
    }
