# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operations of an exchange plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlir_sdy.host import ir
from pyshardy.partition.types.device_axis import DeviceAxis, FillValue, PaddingContents
from pyshardy.partition.types.exchange_plan import ExchangePlan, Permute


def emit_exchange(
    plan: ExchangePlan,
    sources: Mapping[int, ir.Value],
    dim: int,
    device_axis: DeviceAxis,
    fill: FillValue,
) -> ir.Value:
    """Build the buffer of a device by an exchange plan.

    1. For each permute, a device slices its segment and sends it, unless it keeps it.
    2. If the segments that each shard needs are contiguous and in order, they are concatenated, and
       the buffer is a slice of that. Positions without a segment are overwritten if they may hold
       other data (see `_holds_other_data`).
    3. Otherwise each segment is written into a buffer, from which the positions that it fills are
       selected. The first one may be the buffer itself, surrounded by the fill value.

    Args:
        plan: the exchange plan.
        sources: the device's shard of each source.
        dim: the dimension.
        device_axis: the devices along the axes of the dimension.
        fill: the contents of all other positions of a buffer.
    """
    permutes = sorted(plan.permutes, key=lambda permute: min(permute.places))
    segments = [
        _segment(permute, sources[permute.source], dim, device_axis) for permute in permutes
    ]
    if not permutes:
        return device_axis.spread(fill.scalar, next(iter(sources.values())), {dim: plan.length})
    places = joined_places(permutes)
    if places is not None:
        buffer = device_axis.place(device_axis.join(segments, dim), dim, fill, places, plan.length)
        if _holds_other_data(plan, places, fill.rest):
            buffer = device_axis.choose(
                plan.held, buffer, device_axis.spread(fill.scalar, buffer), dim
            )
        return buffer
    buffer = None
    for permute, segment in sorted(
        zip(permutes, segments, strict=True), key=lambda each: not _is_everywhere(each[0], plan)
    ):
        placed = device_axis.place(segment, dim, fill, permute.places, plan.length)
        if buffer is None and _is_everywhere(permute, plan):
            buffer = placed
        else:
            others = device_axis.spread(fill.scalar, placed) if buffer is None else buffer
            buffer = device_axis.choose(permute.filled, placed, others, dim)
    assert buffer is not None, "there are permutes"
    return buffer


def joined_places(permutes: Sequence[Permute]) -> tuple[int, ...] | None:
    """Return the positions of joined segments in the buffers; None if they can't be joined.

    Each segment that fills a part of a buffer must have the same position if all are joined. For a
    shard that needs none of them, any position will do.

    Example: a shard of 4 that needs its last 2 elements and the first one of the next shard, and a
    second one that needs its last 3. Both cut 3 elements of their own; joined with 1 of the next
    shard they begin at -1 and 0.
    """
    places: list[int | None] = [None] * len(permutes[0].places)
    before = 0
    for permute in permutes:
        for shard, (place, filled) in enumerate(zip(permute.places, permute.filled, strict=True)):
            if filled and places[shard] not in (None, place - before):
                return None
            if filled:
                places[shard] = place - before
        before += permute.length
    some = next(place for place in places if place is not None)
    return tuple(some if place is None else place for place in places)


def _segment(permute: Permute, source: ir.Value, dim: int, device_axis: DeviceAxis) -> ir.Value:
    segment = device_axis.cut(source, dim, permute.begins, permute.length)
    return segment if permute.is_local else device_axis.send(segment, permute.pairs)


def _holds_other_data(plan: ExchangePlan, places: Sequence[int], rest: PaddingContents) -> bool:
    """Whether joined segments leave other data at positions with given contents.

    1. If they must be zero: where a shard keeps a segment that it doesn't need. A device that
       receives nothing gets zeros, and sources are padded with zeros.
    2. If they must be a scalar: where no segment fills a position that is needed.
    """
    if rest is PaddingContents.ZERO:
        return any(
            permute.is_local and not all(map(len, permute.filled)) for permute in plan.permutes
        )
    total = sum(permute.length for permute in plan.permutes)
    needed = (
        range(max(place, 0), min(place + total, end))
        for place, end in zip(places, plan.needed, strict=True)
    )
    return rest is PaddingContents.SCALAR and any(
        len(there) > 0 and (held.start > there.start or held.stop < there.stop)
        for there, held in zip(needed, plan.held, strict=True)
    )


def _is_everywhere(permute: Permute, plan: ExchangePlan) -> bool:
    """Whether all shards need all elements of a segment that are in the buffer."""
    buffer = range(plan.length)
    return all(
        filled == buffer[max(place, 0) : max(place + permute.length, 0)]
        for place, filled in zip(permute.places, permute.filled, strict=True)
    )
