# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Channel ids of collectives."""

from __future__ import annotations

from collections.abc import Iterable

from mlir_sdy.host import ir, stablehlo
from pyshardy.irtools.stablehlo_views import COLLECTIVES, CollectiveView
from pyshardy.irtools.walks import operations_named

_WITH_CHANNELS = COLLECTIVES | {"stablehlo.recv", "stablehlo.send"}
"""The operations that may have a channel."""


def channel_of(operation: ir.Operation) -> int:
    """Return the channel id of a collective; 0 for operations without a channel."""
    try:
        channel = CollectiveView(operation).channel_handle
    except ValueError:
        return 0  # an unrelated attribute of another operation
    return 0 if channel is None else channel.handle


def set_channel(operation: ir.Operation, channel: int) -> None:
    """Set the channel id of a collective with a channel; its sign is kept.

    A collective without a channel is not changed.
    """
    collective = CollectiveView(operation)
    old = collective.channel_handle
    if old is None:
        return
    channel = -channel if old.handle < 0 else channel
    collective.channel_handle = stablehlo.ChannelHandle.get(
        channel, old.channel_type, operation.context
    )


def first_free_channel(module: ir.Module) -> int:
    """Return the least positive channel id above the absolute values of all ids in use."""
    channels = map(channel_of, operations_named(_WITH_CHANNELS, module))
    return 1 + max(map(abs, channels), default=0)


def with_channels_from(root: ir.Module | ir.Operation, least: int) -> list[ir.Operation]:
    """Return the collectives with channel ids of at least `least`, regardless of the sign."""
    found = operations_named(_WITH_CHANNELS, root)
    return [operation for operation in found if abs(channel_of(operation)) >= least]


def renumber_channels(operations: Iterable[ir.Operation], first: int) -> int:
    """Number the channels of operations from `first` on; return the next free id."""
    for operation in operations:
        if channel_of(operation):
            set_channel(operation, first)
            first += 1
    return first
