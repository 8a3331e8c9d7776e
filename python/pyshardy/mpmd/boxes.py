# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transfers between layouts: which device sends which part of a tensor to which device.

The *box* of a device is the part of the global tensor that it holds. A device of the target gets
each part of its box that lies in one box of the source in one message, from one of the devices that
hold it: these send in turn. So equal layouts give one message for each device, from its own number.
For example, `[0, 4)` on both devices of a mesh goes from device 0 to the first device of a target
that needs any of it, and from device 1 to the second one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from mlir_sdy.model import Mesh, TensorSharding
from pyshardy.backends.arrays.sharded_arrays import (
    Column,
    OwnPart,
    Part,
    ShardedArray,
    parts_of,
    scatter,
)
from pyshardy.cost.hardware import Link
from pyshardy.local_program.tensor_spec import Array
from pyshardy.program_interface import Port


class BoxMessage(NamedTuple):
    """A part of a tensor that goes from a device to another one.

    Attributes:
        source: the number of the device in its mesh.
        target: the number of the device in its mesh.
        box: the range of indices in each dimension.
    """

    source: int
    target: int
    box: Part

    @property
    def num_elements(self) -> int:
        """The number of elements."""
        return int(np.prod([stop - start for start, stop in self.box], dtype=np.int64))


class Pieces(NamedTuple):
    """The messages of a transfer, with the elements."""

    messages: tuple[BoxMessage, ...]
    elements: Sequence[Array]


@lru_cache(maxsize=4096)
def box_plan(
    shape: tuple[int, ...],
    source: TensorSharding | None,
    source_mesh: Mesh,
    target: TensorSharding | None,
    target_mesh: Mesh,
) -> tuple[BoxMessage, ...]:
    """Return the messages by which a tensor goes from a layout to another one, in order."""
    holders: dict[Part, list[int]] = {}
    for device, box in enumerate(parts_of(shape, source, source_mesh)):
        holders.setdefault(box, []).append(device)
    found: list[BoxMessage] = []
    sent: Counter[Part] = Counter()
    for device, wanted in enumerate(parts_of(shape, target, target_mesh)):
        for held, devices in holders.items():
            common = tuple(
                (max(first, start), min(last, stop))
                for (first, last), (start, stop) in zip(held, wanted, strict=True)
            )
            if all(start < stop for start, stop in common):
                found.append(BoxMessage(devices[sent[held] % len(devices)], device, common))
                sent[held] += 1
    return tuple(sorted(found))


def plan_of(source: Port | ShardedArray, target: Port) -> tuple[BoxMessage, ...]:
    """Return the messages by which a value goes to a layout."""
    return box_plan(source.spec.shape, source.sharding, source.mesh, target.sharding, target.mesh)


def transfer_seconds(messages: Sequence[BoxMessage], nbytes: int, link: Link) -> float:
    """Return the time of messages with elements of some bytes, by the device with most of them."""
    moved: Counter[tuple[str, int]] = Counter()
    for each in messages:
        moved["sends", each.source] += each.num_elements * nbytes
        moved["gets", each.target] += each.num_elements * nbytes
    return link.seconds_to_start + max(moved.values(), default=0) / link.bytes_per_second


def read(value: ShardedArray, messages: Sequence[BoxMessage]) -> Pieces:
    """Return messages with copies of the elements."""
    boxes = parts_of(value.spec.shape, value.sharding, value.mesh)
    return Pieces(
        tuple(messages),
        [_cut(value.parts[each.source], boxes[each.source], each.box).copy() for each in messages],
    )


def write(pieces: Pieces, target: Port, device: int | None = None) -> ShardedArray:
    """Return the value that messages have brought to a layout, or to a device of it."""
    shape, dtype = target.local_spec.shape, target.spec.dtype
    devices = range(target.mesh.total_size) if device is None else [device]
    parts = {each: np.zeros(shape, dtype) for each in devices}
    boxes = parts_of(target.spec.shape, target.sharding, target.mesh)
    for message, elements in zip(*pieces, strict=True):
        _cut(parts[message.target], boxes[message.target], message.box)[...] = elements
    return laid_out(list(parts.values()) if device is None else parts[device], target, device)


def laid_out(parts: Column | Array | None, port: Port, device: int | None = None) -> ShardedArray:
    """Return the array of the shards of all devices, or of the only one that this process has."""
    held = parts if isinstance(parts, Sequence) else OwnPart(port.mesh.total_size, device, parts)
    return ShardedArray(port.name, port.spec, port.sharding, port.mesh, port.local_spec, held)


def placed(array: Array, target: Port, device: int | None = None) -> ShardedArray:
    """Return a global array in a layout, or its shard of a device."""
    parts = scatter(array, target.sharding, target.mesh, target.local_spec.shape)
    return laid_out(parts if device is None else parts[device], target, device)


def _cut(shard: Array, held: Part, box: Part) -> Array:
    """Return the view of a box in the shard of a device."""
    within = (
        slice(start - first, stop - first)
        for (first, _), (start, stop) in zip(held, box, strict=True)
    )
    return np.asarray(shard)[(*within, ...)]  # an array for a scalar, too
