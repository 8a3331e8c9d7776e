# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pairs of sends and receives.

In one program for all devices, each of them executes both the send and the receive. They are
matched as follows:

1. Device p sends a message to device q if p's send has the destination q, and q's receive has the
   source p. Sources and destinations are coordinates along the axes of the group.
2. Sends and receives on one grid, of one type, are paired in order, skipping pairs without a
   message.
3. A send without a matching receive, or the reverse, would block a device forever; it is not part
   of the pair.

    %0 = shard.send %a on @grid grid_axes = [0] destination = [1] : ...
    %1 = shard.recv %b on @grid grid_axes = [0] source = [0] : ...

In a grid of 2x2, messages go from 0 to 2 and from 1 to 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mlir_sdy.host import ir
from mlir_sdy.shard.reading import grid_axes, grid_of, index_list
from mlir_sdy.shard.values import Grid
from mlir_sdy.shard.verify import IN_GROUP_DEVICES
from pyshardy.shard.errors import cannot_lower
from pyshardy.shard.lowering.builder import GridBuilder, check_static
from pyshardy.shard.lowering.device_values import Table

MESSAGES = frozenset({"shard.send", "shard.recv"})


@dataclass(frozen=True)
class Message:
    """A send or a receive.

    Attributes:
        operation: the operation.
        position: its position in the order of operations.
        partners: the partner of each device.
        takes_part: the devices that execute it.
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
        """The properties in which both operations of a pair are equal."""
        end = self.operation.operands[0] if self.is_send else self.operation.results[0]
        return grid_of(self.operation), str(end.type)


def read_message(
    operation: ir.Operation, position: int, takes_part: Table, builder: GridBuilder
) -> Message:
    """Return a send or receive with its partners.

    Raises:
        PassError: the partners depend on run-time values.
    """
    check_static(operation)
    grid = builder.grids[grid_of(operation)]
    name = IN_GROUP_DEVICES[operation.name]
    axes = grid_axes(operation)
    coordinates = index_list(operation, name, 1)
    if len(coordinates) != len(axes):
        raise cannot_lower(operation, f"it requires a {name}")
    tables = [builder.device_values.table(coordinate) for coordinate in coordinates]
    known = [table for table in tables if table is not None]
    if len(known) < len(tables):
        reason = f"its {name} must be computed from constants and indices of devices"
        raise cannot_lower(operation, reason)
    return Message(operation, position, _partners(grid, axes, known), takes_part)


def _partners(grid: Grid, axes: Sequence[int], coordinates: Sequence[Table]) -> Table:
    """Return the device at some coordinates in each device's group, -1 if out of range."""
    partners = np.full(grid.size, -1, np.int64)
    for device in range(grid.size):
        place = list(grid.coordinates(device))
        for axis, table in zip(axes, coordinates, strict=True):
            place[axis] = int(table[device])
        if all(0 <= at < size for at, size in zip(place, grid.shape, strict=True)):
            partners[device] = grid.linear_index(place)
    return partners


def pairs_of(send: Message, receive: Message) -> list[tuple[int, int]]:
    """Return the pairs of source and target devices of a send and a receive."""
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
        PassError: one has no counterpart, or a value is used before it is received.
    """
    sends = [message for message in messages if message.is_send]
    for receive in messages:
        if receive.is_send:
            continue
        found = next(
            (send for send in sends if send.kind == receive.kind and pairs_of(send, receive)), None
        )
        if found is None:
            reason = "no 'shard.send' of this type on this grid has these devices as destinations"
            raise cannot_lower(receive.operation, reason)
        sends.remove(found)
        _lower_pair(found, receive, builder)
    for send in sends:
        raise cannot_lower(send.operation, "no matching 'shard.recv' has these devices as sources")


def _lower_pair(send: Message, receive: Message, builder: GridBuilder) -> None:
    last = max(send, receive, key=lambda message: message.position)
    sender, receiver = send.operation, receive.operation
    if sender.block != receiver.block:
        reason = "the matching 'shard.send' is in another region"
        raise cannot_lower(receiver, reason)
    if last is send:
        for use in receiver.results[0].uses:
            if not _is_behind(use.owner.operation, sender):
                reason = "the received value is used before the 'shard.send': move the send up"
                raise cannot_lower(receiver, reason)
    with ir.InsertionPoint(last.operation), receiver.location:
        received = builder.permute(sender.operands[0], pairs_of(send, receive))
    receiver.results[0].replace_all_uses_with(received)
    sender.results[0].replace_all_uses_with(sender.operands[0])


def _is_behind(user: ir.Operation, place: ir.Operation) -> bool:
    """Whether an operation is after another one of a block, or nested in such an operation."""
    while user.block != place.block:
        parent = user.parent
        if parent is None:
            return False
        user = parent.operation
    return place.is_before_in_block(user)
