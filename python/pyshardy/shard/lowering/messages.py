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

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mlir_sdy.host import ir
from mlir_sdy.shard.reading import grid_axes, grid_of, index_list
from mlir_sdy.shard.values import Grid
from mlir_sdy.shard.verify import IN_GROUP_DEVICES
from mlir_sdy.uses import replace_by
from pyshardy.irtools.stablehlo_views import FunctionView, function_type_of
from pyshardy.shard.errors import cannot_lower
from pyshardy.shard.lowering.builder import LOWERINGS, GridBuilder, check_static
from pyshardy.shard.lowering.device_values import Table

MESSAGES = frozenset({"shard.send", "shard.recv"})
_WITHOUT_EFFECTS = frozenset({"stablehlo", "arith", "tensor", "chlo", "shard"})


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
    """Return the device at the coordinates in each device's group, -1 if out of range."""
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


# --- Branches on device indices ------------------------------------------------------------------


def flattened(
    block: ir.Block, takes_part: Table, builder: GridBuilder
) -> Iterator[tuple[ir.Operation, Table]]:
    """Yield the operations of a block with the devices that execute each; branches are flattened.

        %isfirst = arith.cmpi eq, %index, %zero : index
        scf.if %isfirst { %0 = shard.send ... }

    An `scf.if` around a send or a receive distinguishes devices. Its branches are moved before it,
    and all devices execute both; the devices that take part in a message, and the result of each
    device, are known at compile time.

    Args:
        block: the block. It may be changed after the operation that was yielded last.
        takes_part: the devices that execute the block.
        builder: has the values of conditions, for the operations yielded so far.
    """
    for view in list(block.operations):
        operation = view.operation
        if operation.name == "scf.if" and _holds_messages(operation):
            yield from _flattened_branches(operation, takes_part, builder)
        else:
            yield operation, takes_part


def _holds_messages(operation: ir.Operation) -> bool:
    return any(
        view.operation.name in MESSAGES
        or (view.operation.name == "scf.if" and _holds_messages(view.operation))
        for region in operation.regions
        for block in region.blocks
        for view in block.operations
    )


def _flattened_branches(
    operation: ir.Operation, takes_part: Table, builder: GridBuilder
) -> Iterator[tuple[ir.Operation, Table]]:
    holds = builder.device_values.table(operation.operands[0])
    if holds is None:
        reason = "a condition around sends and receives must depend on the device only"
        raise cannot_lower(operation, reason)
    yielded: list[list[ir.Value]] = []
    for region, taken in zip(operation.regions, (holds != 0, holds == 0), strict=True):
        results: list[ir.Value] = []
        for block in region.blocks:
            for inner, active in flattened(block, takes_part & taken, builder):
                if inner.name == "scf.yield":
                    results = list(inner.operands)
                    continue
                if inner.block == block:
                    _check_movable(inner)
                    inner.move_before(operation)
                yield inner, active
        yielded.append(results)
    with ir.InsertionPoint(operation), operation.location:
        for result, taken, other in zip(operation.results, *yielded, strict=True):
            result.replace_all_uses_with(_chosen(holds != 0, taken, other, builder, operation))
    operation.erase()


def _chosen(
    holds: np.ndarray,
    taken: ir.Value,
    other: ir.Value,
    builder: GridBuilder,
    operation: ir.Operation,
) -> ir.Value:
    if not isinstance(taken.type, ir.RankedTensorType):
        raise cannot_lower(operation, f"its result of type {taken.type} is not a tensor")
    return builder.select_on_devices(holds, taken, other)


def _check_movable(operation: ir.Operation) -> None:
    """Check that all devices may execute an operation of a branch."""
    name = operation.name
    if name in LOWERINGS:
        reason = "devices that don't take this branch must take part: move it out of the branch"
        raise cannot_lower(operation, reason)
    if name not in MESSAGES and (
        name.partition(".")[0] not in _WITHOUT_EFFECTS or len(operation.regions)
    ):
        reason = "it can't be moved out of a branch that sends or receives"
        raise cannot_lower(operation, reason)


# --- Integers -------------------------------------------------------------------------------------

# StableHLO represents scalars by tensors of rank 0. An integer that is known for each device may be
#
# 1. put into a tensor by `tensor.from_elements` or `tensor.splat`;
# 2. returned from a function, whose result type becomes `tensor<i64>`.


_INTO_TENSORS = frozenset({"tensor.from_elements", "tensor.splat"})


def lower_integers(operations: Iterable[ir.Operation], builder: GridBuilder) -> None:
    """Replace the uses of integers that depend on the device.

    Args:
        operations: the operations of the module, in order.
        builder: the builder with the known integers.
    """
    for operation in operations:
        if operation.name in _INTO_TENSORS:
            _into_tensor(operation, builder)
        elif operation.name == "func.return":
            _out_of_function(operation, builder)


def _into_tensor(operation: ir.Operation, builder: GridBuilder) -> None:
    tables = [builder.device_values.table(operand) for operand in operation.operands]
    known = [table for table in tables if table is not None]
    if not known or len(known) < len(tables):
        return
    tensor = ir.RankedTensorType(operation.results[0].type)
    if isinstance(tensor.element_type, ir.IndexType):
        reason = f"{tensor}: StableHLO has no 'index'; cast the elements by 'arith.index_cast'"
        raise cannot_lower(operation, reason)
    with ir.InsertionPoint(operation), operation.location:
        count = math.prod(tensor.shape)
        columns = known * count if operation.name == "tensor.splat" else known
        value = _row(np.stack(columns, axis=1), builder)
        value = builder.convert(builder.reshape(value, tensor.shape), tensor.element_type)
    replace_by(operation, value)


def _row(table: np.ndarray, builder: GridBuilder) -> ir.Value:
    """Build the row of a table for the device that runs the program."""
    columns = table.shape[1]
    if (table == table[0]).all():
        return builder.constant(np.ascontiguousarray(table[0]))
    whole = builder.constant(np.ascontiguousarray(table))
    row = builder.slice_dim_at(whole, 0, builder.device_id(), 1)
    return builder.reshape(row, [columns])


def _out_of_function(operation: ir.Operation, builder: GridBuilder) -> None:
    tables: dict[int, Table] = {}
    for number, operand in enumerate(operation.operands):
        table = builder.device_values.table(operand)
        if table is not None:
            tables[number] = table
    if not tables:
        return
    with ir.InsertionPoint(operation), operation.location:
        for number, table in tables.items():
            operation.operands[number] = builder.scalar(table)
    parent = operation.parent
    assert parent is not None, "a return is in a function"
    function = parent.operation
    function_type = function_type_of(function)
    results = [operand.type for operand in operation.operands]
    FunctionView(function).function_type = ir.FunctionType.get(function_type.inputs, results)
