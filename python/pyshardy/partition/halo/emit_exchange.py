# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Building the operations that carry out a route."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlir_sdy.host import ir
from pyshardy.partition.halo.device_axis import DeviceAxis
from pyshardy.partition.halo.exchange_plan import ExchangePlan, Permute
from pyshardy.partition.halo.fill_value import FillValue, PaddingContents


def emit_exchange(
    route: ExchangePlan,
    sources: Mapping[int, ir.Value],
    dim: int,
    lanes: DeviceAxis,
    filling: FillValue,
) -> ir.Value:
    """The buffer that a device gets by a route.

    1. Of each move, a device cuts its segment and sends it, if it isn't its own.
    2. If on each shard the segments that it needs come one behind the other, they are joined, and
       the buffer is cut from that. Positions that nothing fills are overwritten where they may
       hold something else (see `_holds_other_data`).
    3. Otherwise each segment is put into a buffer, and is taken at the positions that it fills.
       The first one may be the buffer itself, with the filling around it.

    Args:
        route: the moves.
        sources: what the device holds of each source.
        dim: the dimension in question.
        lanes: the devices along the axes of the dimension.
        filling: what all other positions of a buffer hold.
    """
    moves = sorted(route.moves, key=lambda move: min(move.places))
    segments = [_segment(move, sources[move.source], dim, lanes) for move in moves]
    if not moves:
        return lanes.spread(filling.scalar, next(iter(sources.values())), {dim: route.length})
    places = joined_places(moves)
    if places is not None:
        buffer = lanes.place(lanes.join(segments, dim), dim, filling, places, route.length)
        if _holds_other_data(route, places, filling.rest):
            buffer = lanes.choose(route.held, buffer, lanes.spread(filling.scalar, buffer), dim)
        return buffer
    buffer = None
    for move, segment in sorted(
        zip(moves, segments, strict=True), key=lambda each: not _is_everywhere(each[0], route)
    ):
        placed = lanes.place(segment, dim, filling, move.places, route.length)
        if buffer is None and _is_everywhere(move, route):
            buffer = placed
        else:
            others = lanes.spread(filling.scalar, placed) if buffer is None else buffer
            buffer = lanes.choose(move.filled, placed, others, dim)
    assert buffer is not None, "there are moves"
    return buffer


def joined_places(moves: Sequence[Permute]) -> tuple[int, ...] | None:
    """Where joined segments begin in the buffer of each shard; None if they can't be joined.

    Each segment that fills a part of a buffer must come where it does if all are joined. A shard
    that needs none of them takes them anywhere.

    Example: a shard of 4 that needs its last 2 elements and the first one of the next shard, and a
    second one that needs its last 3. Both cut 3 elements of their own; joined with 1 of the next
    shard they begin at -1 and 0.
    """
    places: list[int | None] = [None] * len(moves[0].places)
    before = 0
    for move in moves:
        for shard, (place, filled) in enumerate(zip(move.places, move.filled, strict=True)):
            if filled and places[shard] not in (None, place - before):
                return None
            if filled:
                places[shard] = place - before
        before += move.length
    some = next(place for place in places if place is not None)
    return tuple(some if place is None else place for place in places)


def _segment(move: Permute, source: ir.Value, dim: int, lanes: DeviceAxis) -> ir.Value:
    segment = lanes.cut(source, dim, move.begins, move.length)
    return segment if move.is_local else lanes.send(segment, move.pairs)


def _holds_other_data(route: ExchangePlan, places: Sequence[int], rest: PaddingContents) -> bool:
    """Whether joined segments hold what must not be there.

    1. If it must be zero, where a shard has nothing for a segment of its own. What a device gets
       that nobody sends to is zero, and so is what sources are padded with.
    2. If it must be a scalar, where nothing fills a position that is needed.
    """
    if rest is PaddingContents.ZERO:
        return any(move.is_local and not all(map(len, move.filled)) for move in route.moves)
    total = sum(move.length for move in route.moves)
    needed = (
        range(max(place, 0), min(place + total, end))
        for place, end in zip(places, route.needed, strict=True)
    )
    return rest is PaddingContents.SCALAR and any(
        len(there) > 0 and (held.start > there.start or held.stop < there.stop)
        for there, held in zip(needed, route.held, strict=True)
    )


def _is_everywhere(move: Permute, route: ExchangePlan) -> bool:
    """Whether all shards need all of a segment that comes into the buffer."""
    buffer = range(route.length)
    return all(
        filled == buffer[max(place, 0) : max(place + move.length, 0)]
        for place, filled in zip(move.places, move.filled, strict=True)
    )
