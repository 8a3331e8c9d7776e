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

import numpy as np
import numpy.typing as npt

from mlir_sdy.model import AxisRef, Mesh, SubAxisInfo, replica_groups
from pyshardy.local_program.process_groups import Groups

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
_LISTED_GROUPS = re.compile(r"replica_groups=\{(\{[\d,{}]*\})\}")
_LISTED_GROUP = re.compile(r"\{([\d,]*)\}")
_IOTA_GROUPS = re.compile(
    r"replica_groups=\[\d+,(?P<size>\d+)\]"
    r"<=\[(?P<dims>[\d,]+)\](?:T\((?P<order>[\d,]+)\))?"
)
_MESH_GROUPS = re.compile(r"replica_groups=mesh\[(.*?)\].*?\{(.*?)\}")
_MESH_AXIS = re.compile(r"'([^']+)'=(\d+)")
_NAMED_AXIS = re.compile(r"'([^']+)'(?::\((\d+)\)(\d+))?")
_PAIR = re.compile(r"\{(\d+),(\d+)\}")
_METADATA = re.compile(r'op_name="(?P<name>[^"]*)"(?:.*?\bstack_frame_id=(?P<frame>\d+))?')
_TABLES = ("FileNames", "FunctionNames", "FileLocations", "StackFrames")
_FILE_LOCATION = re.compile(r"file_name_id=(\d+).*?\bline=(\d+)")
_STACK_FRAME = re.compile(r"file_location_id=(\d+)")


@dataclass(frozen=True, slots=True)
class HloCollective:
    """A collective of an optimised program.

    Attributes:
        kind: its opcode, `all-gather`.
        group_size: the number of devices that exchange data with each other.
        sent_bytes: the bytes that a device sends in one execution, averaged over all devices.
        times: the number of executions: the product of the known trip counts around it, else 1.
            Each branch of a conditional counts.
        source: the name of the original operation; several ones after a combination of
            collectives.
        groups: the groups of devices; none for a permute.
        moves: for a permute, the pairs of different devices that send and receive.
        place: the source line of the original operation: `model.py:12`; empty if unknown.
    """

    kind: str
    group_size: int
    sent_bytes: float
    times: int
    source: str
    groups: Groups = ()
    moves: tuple[tuple[int, int], ...] = ()
    place: str = ""


def collectives_of(text: str, num_devices: int) -> list[HloCollective]:
    """Return the collectives of a program, including those of called computations.

    Bytes are those of ring algorithms, in a group of n devices: (n-1)/n of the output of an
    all-gather, of the input of a reduce-scatter, and of an all-to-all; 2(n-1)/n of an all-reduce;
    for a permute, the bytes that move to another device.
    """
    return list(_Reader(text, num_devices).read())


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


class _Reader:
    """Reads the collectives of a program in the order in which they are executed."""

    def __init__(self, text: str, num_devices: int):
        self._num_devices = num_devices
        self._computations, self._entry = _computations(text)
        self._places = _places(text)

    def read(self) -> Iterator[HloCollective]:
        yield from self._executed(self._entry, 1)

    def _executed(self, name: str, times: int) -> Iterator[HloCollective]:
        for line in self._computations[name]:
            opcode = _OPCODE.search(line)
            if opcode is None:
                continue
            kind = opcode[1].removesuffix("-start")
            if kind in _KINDS:
                yield self._collective(kind, line[: opcode.start(1)], line, times)
            elif kind in ("while", "call", "conditional", "fusion", "async"):
                trips = _TRIP_COUNT.search(line) if kind == "while" else None
                for called in _CALLED.findall(line):
                    for callee in called.split(", "):
                        inner = times * int(trips[1]) if trips else times
                        yield from self._executed(callee.lstrip("%"), inner)

    def _collective(self, kind: str, result: str, line: str, times: int) -> HloCollective:
        nbytes = sum(_nbytes(*shape) for shape in _SHAPE.findall(result))
        metadata = _METADATA.search(line)
        name = metadata["name"] if metadata else ""
        place = self._places.get(metadata["frame"] or "", "") if metadata else ""
        if kind == "collective-permute":
            pairs = _PAIR.findall(
                line.partition("source_target_pairs=")[2].partition("}}")[0] + "}"
            )
            moves = tuple((int(one), int(other)) for one, other in pairs if one != other)
            sent = nbytes * len(moves) / self._num_devices
            return HloCollective(kind, len(moves), sent, times, name, (), moves, place)
        groups = _groups(line, self._num_devices)
        size = len(groups[0])
        share = (size - 1) / size
        factor = {"all-reduce": 2 * share, "reduce-scatter": share * size}.get(kind, share)
        return HloCollective(kind, size, nbytes * factor, times, name, groups, (), place)


def _places(text: str) -> dict[str, str]:
    """Return the source line of each stack frame: that of the function which made an operation."""
    tables: dict[str, dict[str, str]] = {name: {} for name in _TABLES}
    table: dict[str, str] | None = None
    for line in text.splitlines():
        if line in tables:
            table = tables[line]
        elif table is not None:
            number, _, entry = line.partition(" ")
            if number.isdigit():
                table[number] = entry
            else:
                table = None
        if line.startswith(("ENTRY", "%")):
            break
    files, locations = tables["FileNames"], tables["FileLocations"]
    places: dict[str, str] = {}
    for number, frame in tables["StackFrames"].items():
        at = _STACK_FRAME.search(frame)
        found = _FILE_LOCATION.search(locations.get(at[1], "")) if at else None
        if found is not None:
            places[number] = f"{files.get(found[1], '').strip(chr(34))}:{found[2]}"
    return places


def _groups(line: str, num_devices: int) -> Groups:
    """Return the groups of devices of a collective."""
    if listed := _LISTED_GROUPS.search(line):
        found = _LISTED_GROUP.findall(listed[1])
        return tuple(tuple(map(int, group.split(","))) for group in found if group)
    if iota := _IOTA_GROUPS.search(line):
        devices: npt.NDArray[np.int64] = np.arange(math.prod(_numbers(iota["dims"])))
        shaped = devices.reshape(_numbers(iota["dims"]))
        order = _numbers(iota["order"]) if iota["order"] else None
        ordered: npt.NDArray[np.int64] = np.transpose(shaped, order).reshape(-1)
        size = int(iota["size"])
        starts = range(0, len(ordered), size)
        return tuple(tuple(int(each) for each in ordered[at : at + size]) for at in starts)
    if named := _MESH_GROUPS.search(line):
        sizes = {name: int(size) for name, size in _MESH_AXIS.findall(named[1])}
        axes = [
            AxisRef(name, SubAxisInfo(int(pre_size), int(size)) if size else None)
            for name, pre_size, size in _NAMED_AXIS.findall(named[2])
        ]
        return tuple(map(tuple, replica_groups(Mesh.of(sizes), axes)))
    return (tuple(range(num_devices)),)


def _numbers(text: str) -> list[int]:
    return list(map(int, text.split(",")))


def _nbytes(element: str, dims: str) -> int:
    digits = re.search(r"\d+", element)
    bits = _BITS[element] if element in _BITS else int(digits[0]) if digits else 8
    count = math.prod(map(int, dims.split(","))) if dims else 1
    return math.ceil(count * bits / 8)
