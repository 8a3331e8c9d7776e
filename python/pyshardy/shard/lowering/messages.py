# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sends and receives that belong together.

One program for all devices has each of them both send and receive. What counts is who waits for
whom:

1. A message goes from device p to device q if p sends it to q, and q waits for it from p. Within a
   group that is a statement about coordinates along the axes of the group.
2. Sends and receives on one grid, of one type, pair up in order, skipping those between which no
   message goes.
3. What is sent and never awaited, or awaited and never sent, would make devices wait forever: it is
   not part of what the pair does.

    %0 = shard.send %a on @grid grid_axes = [0] destination = [1] : ...
    %1 = shard.recv %b on @grid grid_axes = [0] source = [0] : ...

In a grid of 2x2, messages go from 0 to 2 and from 1 to 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mlir_sdy.host import ir
from mlir_sdy.shard.reading import grid_axes, index_list
from mlir_sdy.shard.values import Grid
from mlir_sdy.verify.shard import IN_GROUP_DEVICES
from pyshardy.shard.errors import cannot_lower
from pyshardy.shard.lowering.builder import GridBuilder, check_static
from pyshardy.shard.lowering.device_values import Table

MESSAGES = frozenset({"shard.send", "shard.recv"})


@dataclass(frozen=True)
class Message:
    """A send or a receive.

    Attributes:
        operation: the operation.
        position: where it stands, for the order.
        partners: with which device each one does it.
        takes_part: which devices do it.
    """

    operation: ir.Operation
    position: int
    partners: Table
    takes_part: Table

    @property
    def is_send(self) -> bool:
        """Whether this is the sending side."""
        return self.operation.name == "shard.send"

    @property
    def kind(self) -> tuple[str, str]:
        """What both sides of a pair have in common."""
        end = self.operation.operands[0] if self.is_send else self.operation.results[0]
        return self.operation.attributes["grid"].value, str(end.type)


def read_message(
    operation: ir.Operation, position: int, takes_part: Table, builder: GridBuilder
) -> Message:
    """A send or receive with its partners.

    Raises:
        PassError: they depend on more than the device.
    """
    check_static(operation)
    grid = builder.grids[operation.attributes["grid"].value]
    name = IN_GROUP_DEVICES[operation.name]
    axes = grid_axes(operation)
    coordinates = index_list(operation, name, 1)
    if len(coordinates) != len(axes):
        raise cannot_lower(operation, f"without a {name} it has no partner")
    tables = [builder.device_values.table(coordinate) for coordinate in coordinates]
    known = [table for table in tables if table is not None]
    if len(known) < len(tables):
        reason = f"its {name} must be computed from constants and indices of devices"
        raise cannot_lower(operation, reason)
    return Message(operation, position, _partners(grid, axes, known), takes_part)


def _partners(grid: Grid, axes: Sequence[int], coordinates: Sequence[Table]) -> Table:
    """The device with some coordinates in each device's group; -1 where they are out of range."""
    partners = np.full(grid.size, -1, np.int64)
    for device in range(grid.size):
        place = list(grid.coordinates(device))
        for axis, table in zip(axes, coordinates, strict=True):
            place[axis] = int(table[device])
        if all(0 <= at < size for at, size in zip(place, grid.shape, strict=True)):
            partners[device] = grid.linear_index(place)
    return partners


def pairs_of(send: Message, receive: Message) -> list[tuple[int, int]]:
    """Who sends to whom: what is both sent and awaited."""
    return [
        (source, target)
        for target, source in enumerate(map(int, receive.partners))
        if receive.takes_part[target]
        and source >= 0
        and send.takes_part[source]
        and send.partners[source] == target
    ]


def lower_messages(messages: Sequence[Message], builder: GridBuilder) -> None:
    """Replace sends and receives by a permutation for each pair of them.

    Raises:
        PassError: one has no counterpart, or needs what is sent before that is there.
    """
    sends = [message for message in messages if message.is_send]
    for receive in messages:
        if receive.is_send:
            continue
        found = next(
            (send for send in sends if send.kind == receive.kind and pairs_of(send, receive)), None
        )
        if found is None:
            reason = "no 'shard.send' of this type on this grid sends to those who wait here"
            raise cannot_lower(receive.operation, reason)
        sends.remove(found)
        _lower_pair(found, receive, builder)
    for send in sends:
        raise cannot_lower(send.operation, "no 'shard.recv' waits for what is sent here")


def _lower_pair(send: Message, receive: Message, builder: GridBuilder) -> None:
    last = max(send, receive, key=lambda message: message.position)
    sender, receiver = send.operation, receive.operation
    if sender.block != receiver.block:
        reason = "the 'shard.send' that belongs to it stands in another region"
        raise cannot_lower(receiver, reason)
    if last is send:
        for use in receiver.results[0].uses:
            if not _is_behind(use.owner.operation, sender):
                reason = "what is received is used before it is sent: let the send come first"
                raise cannot_lower(receiver, reason)
    with ir.InsertionPoint(last.operation), receiver.location:
        received = builder.permute(sender.operands[0], pairs_of(send, receive))
    receiver.results[0].replace_all_uses_with(received)
    sender.results[0].replace_all_uses_with(sender.operands[0])


def _is_behind(user: ir.Operation, place: ir.Operation) -> bool:
    """Whether an operation comes after another one of a block, or is inside one that does."""
    while user.block != place.block:
        parent = user.parent
        if parent is None:
            return False
        user = parent.operation
    return place.is_before_in_block(user)
