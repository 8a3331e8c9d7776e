# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Channel ids of collectives."""

from __future__ import annotations

from mlir_sdy.host import ir, stablehlo
from pyshardy.irtools.walks import operations_with

_HANDLE = "channel_handle"


def channel_of(operation: ir.Operation) -> int:
    """Return the channel id of a collective; 0 for operations without a channel."""
    if _HANDLE not in operation.attributes:
        return 0
    try:
        return stablehlo.ChannelHandle(operation.attributes[_HANDLE]).handle
    except ValueError:
        return 0  # an unrelated attribute of another operation


def set_channel(operation: ir.Operation, channel: int) -> None:
    """Set the channel id of a collective with a channel; its sign is kept."""
    old = stablehlo.ChannelHandle(operation.attributes[_HANDLE])
    channel = -channel if old.handle < 0 else channel
    operation.attributes[_HANDLE] = stablehlo.ChannelHandle.get(
        channel, old.channel_type, operation.context
    )


def first_free_channel(module: ir.Module) -> int:
    """Return the least positive channel id above the absolute values of all ids in use."""
    channels = map(channel_of, operations_with(_HANDLE, module))
    return 1 + max(map(abs, channels), default=0)
