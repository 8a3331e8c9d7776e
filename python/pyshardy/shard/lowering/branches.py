# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Branches on device indices.

    %isfirst = arith.cmpi eq, %index, %zero : index
    scf.if %isfirst { %0 = shard.send ... }

An `scf.if` around a send or a receive distinguishes devices. Its branches are moved before it, and
all devices execute both; the devices that take part in a message, and the result of each device,
are known at compile time.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mlir_sdy.host import ir
from pyshardy.shard.errors import cannot_lower
from pyshardy.shard.lowering.builder import GridBuilder
from pyshardy.shard.lowering.device_values import Table
from pyshardy.shard.lowering.messages import MESSAGES
from pyshardy.shard.lowering.registry import LOWERINGS

_WITHOUT_EFFECTS = frozenset({"stablehlo", "arith", "tensor", "chlo", "shard"})


def flattened(
    block: ir.Block, takes_part: Table, builder: GridBuilder
) -> Iterator[tuple[ir.Operation, Table]]:
    """Yield the operations of a block with the devices that execute each; branches are flattened.

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
