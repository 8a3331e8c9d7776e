# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Building the operations that carry out a route."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from mlir_sdy.host import ir
from pyshardy.partition.halo.filling import Filling, Rest
from pyshardy.partition.halo.lanes import Lanes
from pyshardy.partition.halo.route import Move, Route


def transfer(
    route: Route, sources: Mapping[int, ir.Value], dim: int, lanes: Lanes, filling: Filling
) -> ir.Value:
    """The buffer that a device gets by a route.

    1. Of each move, a device cuts its segment and sends it, if it isn't its own.
    2. If the segments come to the same places on all shards, one behind the other, they are
       joined. Positions that nothing fills are overwritten where they may hold something else
       (see `_holds_other_data`).
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
    if moves and _follow_each_other(moves):
        first = moves[0].places[0]
        end = moves[-1].places[0] + moves[-1].length
        buffer = lanes.place(lanes.join(segments, dim), dim, filling, (first,), route.length)
        sent = range(max(first, 0), min(end, route.length))
        if _holds_other_data(route, sent, filling.rest):
            buffer = lanes.choose(route.held, buffer, lanes.spread(filling.scalar, buffer), dim)
        return buffer
    buffer = None
    for move, segment in sorted(
        zip(moves, segments, strict=True), key=lambda each: not _is_everywhere(each[0], route)
    ):
        placed = lanes.place(segment, dim, filling, move.places, route.length)
        if buffer is not None:
            buffer = lanes.choose(move.filled, placed, buffer, dim)
        elif _is_everywhere(move, route):
            buffer = placed
        else:
            buffer = lanes.choose(move.filled, placed, lanes.spread(filling.scalar, placed), dim)
    if buffer is None:
        some = next(iter(sources.values()))
        return lanes.spread(filling.scalar, some, {dim: route.length})
    return buffer


def _segment(move: Move, source: ir.Value, dim: int, lanes: Lanes) -> ir.Value:
    segment = lanes.cut(source, dim, move.begins, move.length)
    return segment if move.is_local else lanes.send(segment, move.pairs)


def _follow_each_other(moves: list[Move]) -> bool:
    """Whether segments come to the same places everywhere, without gaps between them."""
    return all(move.is_aligned for move in moves) and all(
        move.places[0] + move.length == after.places[0] for move, after in itertools.pairwise(moves)
    )


def _holds_other_data(route: Route, joined: range, rest: Rest) -> bool:
    """Whether joined segments hold what must not be there.

    1. If it must be zero, where a shard has nothing for a segment of its own. What a device gets
       that nobody sends to is zero, and so is what sources are padded with.
    2. If it must be a scalar, where nothing fills a position that is needed.
    """
    if rest is Rest.ZERO:
        return any(move.is_local and not all(map(len, move.filled)) for move in route.moves)
    needed = (range(joined.start, min(joined.stop, end)) for end in route.needed)
    return rest is Rest.SCALAR and any(
        len(there) > 0 and (held.start > there.start or held.stop < there.stop)
        for there, held in zip(needed, route.held, strict=True)
    )


def _is_everywhere(move: Move, route: Route) -> bool:
    """Whether all shards need all of a segment that comes into the buffer."""
    buffer = range(route.length)
    return all(
        filled == buffer[max(place, 0) : max(place + move.length, 0)]
        for place, filled in zip(move.places, move.filled, strict=True)
    )
