# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Explained programs as files for other viewers: Chrome's tracing, and Model Explorer.

A trace opens in Perfetto (https://ui.perfetto.dev) and in `chrome://tracing`.

The format of Model Explorer is a list of graphs. A graph is a list of nodes, each with a path of
namespaces that can be expanded, edges from its operands, and attributes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mlir_sdy.host import location_of
from pyshardy.explain.page.data import CollectiveData, PageData, ValueData
from pyshardy.explain.page.groups import Group
from pyshardy.explain.program import ExplainedProgram

# --- Chrome's trace format ------------------------------------------------------------------------


_COMPUTATION = "computation"


def chrome_trace(explained: ExplainedProgram) -> dict[str, Any]:
    """Return the timeline of a program as data of a JSON file in Chrome's trace format.

    Times are in microseconds. Computation is a track, and each lane of links another one. Loops are
    on the track of computation, around what they contain. The counter `memory` has bytes.
    """
    timeline = explained.timeline
    tracks = {name: at for at, name in enumerate([_COMPUTATION, *sorted(timeline.lane_seconds)])}
    named = [
        {"ph": "M", "pid": 0, "name": "process_name", "args": {"name": "each device (estimate)"}},
        *(
            {"ph": "M", "pid": 0, "tid": at, "name": "thread_name", "args": {"name": name}}
            for name, at in tracks.items()
        ),
    ]
    counted = [
        {"ph": "C", "pid": 0, "name": "memory", "ts": start * 1e6, "args": {"bytes": nbytes}}
        for start, nbytes in _changes(timeline.memory)
    ]
    events = [*named, *_complete_events(explained, tracks), *counted]
    return {"traceEvents": events, "displayTimeUnit": "ns"}


def _complete_events(
    explained: ExplainedProgram, tracks: Mapping[str, int]
) -> Iterator[dict[str, Any]]:
    operations, timeline = explained.resource_use.table.operations, explained.timeline
    for event in timeline.events:
        told: dict[str, Any] = {"executions": event.times}
        place = location_of(operations[event.operation].location)
        if place is not None:
            told["location"] = str(place)
        if event.collective is None:
            told["flops"] = event.flops
        else:
            reason, time = (
                explained.collectives[event.collective],
                timeline.collectives[event.collective],
            )
            told |= {
                "axes": ", ".join(reason.collective.axes or ()),
                "bytes sent": reason.nbytes_total,
                "reason": reason.reason,
                "exposed": time.exposed * 1e6,
            }
            if time.reason:
                told["exposed because"] = time.reason
        for lane in event.lane or (_COMPUTATION,):
            yield {
                "ph": "X",
                "pid": 0,
                "tid": tracks[lane],
                "name": event.name,
                "ts": event.start * 1e6,
                "dur": event.seconds * 1e6,
                "args": told,
            }


def _changes(memory: Sequence[tuple[float, int]]) -> Iterator[tuple[float, int]]:
    before = None
    for start, nbytes in memory:
        if nbytes != before:
            yield start, nbytes
        before = nbytes


# --- Model Explorer -------------------------------------------------------------------------------


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
