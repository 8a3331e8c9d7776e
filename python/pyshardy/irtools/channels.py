# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The channels by which collectives are told apart."""

from __future__ import annotations

from mlir_sdy.host import ir, stablehlo
from pyshardy.irtools.walks import operations_with

_HANDLE = "channel_handle"


def channel_of(operation: ir.Operation) -> int:
    """The channel id of a collective; 0 for operations without a channel."""
    if _HANDLE not in operation.attributes:
        return 0
    try:
        return stablehlo.ChannelHandle(operation.attributes[_HANDLE]).handle
    except ValueError:
        return 0  # another attribute of that name, on another operation


def set_channel(operation: ir.Operation, channel: int) -> None:
    """Give a collective that has a channel another one, negative if it has a negative one."""
    old = stablehlo.ChannelHandle(operation.attributes[_HANDLE])
    channel = -channel if old.handle < 0 else channel
    operation.attributes[_HANDLE] = stablehlo.ChannelHandle.get(
        channel, old.channel_type, operation.context
    )


def first_free_channel(module: ir.Module) -> int:
    """The least channel id, from 1, such that it and all above it are free, negative ones alike."""
    channels = map(channel_of, operations_with(_HANDLE, module))
    return 1 + max(map(abs, channels), default=0)
