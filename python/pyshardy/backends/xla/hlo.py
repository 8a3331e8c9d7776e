# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collectives in the text of XLA's optimised HLO.

>>> text = '''
... ENTRY %main (x: f32[2,8]) -> f32[8,8] {
...   %x = f32[2,8]{1,0} parameter(0)
...   ROOT %gathered = f32[8,8]{1,0} all-gather(%x), replica_groups=[2,4]<=[8], dimensions={0}
... }
... '''
>>> [(c.kind, c.group_size, c.sent_bytes) for c in collectives_of(text, 8)]
[('all-gather', 4, 192.0)]
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

_BITS = {"pred": 8, "token": 0}
_KINDS = (
    "all-gather",
    "all-reduce",
    "reduce-scatter",
    "all-to-all",
    "ragged-all-to-all",
    "collective-permute",
    "collective-broadcast",
)
_COMPUTATION = re.compile(r"^(ENTRY )?%?([\w.\-]+) \(.*\{$")
_INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%?[\w.\-]+ = (.*)$")
_SHAPE = re.compile(r"\b([a-z]+\d*[a-z0-9]*)\[([\d,]*)\]")
_OPCODE = re.compile(r"(?:^|[\s)}\]])([a-z][a-z\-]*)\(")
_CALLED = re.compile(
    r"\b(?:body|to_apply|calls|branch_computations|true_computation|false_computation)="
    r"\{?(%[\w.\-]+(?:, %[\w.\-]+)*)"
)
_TRIP_COUNT = re.compile(r'"known_trip_count":\{"n":"(\d+)"\}')
_LISTED_GROUP = re.compile(r"replica_groups=\{\{([\d,]*)\}")
_IOTA_GROUPS = re.compile(r"replica_groups=\[(\d+),(\d+)\]")
_MESH_GROUPS = re.compile(r"replica_groups=mesh\[(.*?)\].*?\{(.*?)\}")
_MESH_AXIS = re.compile(r"'([^']+)'=(\d+)")
_NAMED_AXIS = re.compile(r"'([^']+)'(?::\(\d+\)(\d+))?")
_PAIR = re.compile(r"\{(\d+),(\d+)\}")


@dataclass(frozen=True, slots=True)
class HloCollective:
    """A collective of an optimised program.

    Attributes:
        kind: its opcode, `all-gather`.
        group_size: the number of devices that exchange data with each other.
        sent_bytes: the bytes that a device sends in one execution, averaged over all devices.
        times: the number of executions: the product of the known trip counts around it, else 1.
            Each branch of a conditional counts.
        source: the name of the original operation.
    """

    kind: str
    group_size: int
    sent_bytes: float
    times: int
    source: str


def collectives_of(text: str, num_devices: int) -> list[HloCollective]:
    """Return the collectives of a program, including those of called computations.

    Bytes are those of ring algorithms, in a group of n devices: (n-1)/n of the output of an
    all-gather, of the input of a reduce-scatter, and of an all-to-all; 2(n-1)/n of an all-reduce;
    for a permute, the bytes that move to another device.
    """
    computations, entry = _computations(text)
    return list(_executed(computations, entry, 1, num_devices))


def _computations(text: str) -> tuple[dict[str, list[str]], str]:
    """Return the right-hand sides of each computation's instructions, and the entry's name."""
    computations: dict[str, list[str]] = {}
    entry = name = ""
    for line in text.splitlines():
        if header := _COMPUTATION.match(line):
            name = header[2]
            computations[name] = []
            if header[1]:
                entry = name
        elif name and (instruction := _INSTRUCTION.match(line)):
            computations[name].append(instruction[1])
    return computations, entry


def _executed(
    computations: dict[str, list[str]], name: str, times: int, num_devices: int
) -> Iterator[HloCollective]:
    for line in computations[name]:
        opcode = _OPCODE.search(line)
        if opcode is None:
            continue
        kind = opcode[1].removesuffix("-start")
        if kind in _KINDS:
            yield _collective(kind, line[: opcode.start(1)], line, times, num_devices)
        elif kind in ("while", "call", "conditional", "fusion", "async"):
            trips = _TRIP_COUNT.search(line) if kind == "while" else None
            for called in _CALLED.findall(line):
                for callee in called.split(", "):
                    inner = times * int(trips[1]) if trips else times
                    yield from _executed(computations, callee.lstrip("%"), inner, num_devices)


def _collective(kind: str, result: str, line: str, times: int, num_devices: int) -> HloCollective:
    nbytes = sum(_nbytes(*shape) for shape in _SHAPE.findall(result))
    source = re.search(r'op_name="([^"]*)"', line)
    name = source[1] if source else ""
    if kind == "collective-permute":
        pairs = _PAIR.findall(line.partition("source_target_pairs=")[2].partition("}}")[0] + "}")
        moved = sum(sender != receiver for sender, receiver in pairs)
        return HloCollective(kind, moved, nbytes * moved / num_devices, times, name)
    size = _group_size(line, num_devices)
    share = (size - 1) / size
    factor = {"all-reduce": 2 * share, "reduce-scatter": share * size}.get(kind, share)
    return HloCollective(kind, size, nbytes * factor, times, name)


def _group_size(line: str, num_devices: int) -> int:
    if listed := _LISTED_GROUP.search(line):
        return len(listed[1].split(","))
    if iota := _IOTA_GROUPS.search(line):
        return int(iota[2])
    if mesh := _MESH_GROUPS.search(line):
        sizes = {name: int(size) for name, size in _MESH_AXIS.findall(mesh[1])}
        return math.prod(int(sub or sizes[name]) for name, sub in _NAMED_AXIS.findall(mesh[2]))
    return num_devices


def _nbytes(element: str, dims: str) -> int:
    digits = re.search(r"\d+", element)
    bits = _BITS[element] if element in _BITS else int(digits[0]) if digits else 8
    count = math.prod(map(int, dims.split(","))) if dims else 1
    return math.ceil(count * bits / 8)
