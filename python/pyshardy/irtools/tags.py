# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Marks on operations that survive passes, as parts of their locations.

A mark is a named location around the original location of an operation; `location_of` skips it.
"""

from __future__ import annotations

from collections.abc import Iterator

from mlir_sdy.host import inner_locations, ir

_PREFIX = "pyshardy."


def tagged(location: ir.Location, kind: str, number: int) -> ir.Location:
    """Return a location with a mark around it.

    Args:
        location: the location.
        kind: the kind of the mark, one word.
        number: the number.
    """
    name = f"{_PREFIX}{kind}#{number}"
    return ir.Location.name(name, childLoc=location, context=location.context)


def tags_of(location: ir.Location, kind: str) -> list[int]:
    """Return the numbers of the marks of a kind in a location, the outermost first."""
    return [number for of_kind, number in _marks(location) if of_kind == kind]


def untagged(location: ir.Location) -> ir.Location:
    """Return a location without the outermost marks."""
    return read_tags(location, "")[1]


def read_tags(location: ir.Location, kind: str) -> tuple[list[int], ir.Location]:
    """Return the numbers of the outermost marks of a kind, and the location without any of these.

    The marks inside of fused locations are neither read nor removed.
    """
    numbers: list[int] = []
    while True:
        if type(location) is ir.FileLineColLoc:  # most inner ones
            return numbers, location
        name, inner = inner_locations(location)
        mark = _mark_in(name)
        if mark is None:
            return numbers, location
        if mark[0] == kind:
            numbers.append(mark[1])
        (location,) = inner


def without_tags(location: ir.Location, kind: str) -> ir.Location:
    """Return a location without the marks of a kind, also inside of fused locations."""
    name, inner = inner_locations(location)
    mark = _mark_in(name)
    if mark is not None and mark[0] == kind:
        return without_tags(inner[0], kind)
    if not inner:
        return location
    parts = [without_tags(each, kind) for each in inner]
    if all(new == old for new, old in zip(parts, inner, strict=True)):
        return location
    context = location.context
    if name is not None:
        return ir.Location.name(name, childLoc=parts[0], context=context)
    if isinstance(location, ir.CallSiteLoc):
        return ir.Location.callsite(parts[0], parts[1:], context=context)
    return ir.Location.fused(parts, context=context)


def _marks(location: ir.Location) -> Iterator[tuple[str, int]]:
    name, inner = inner_locations(location)
    mark = _mark_in(name)
    if mark is not None:
        yield mark
    for each in inner:
        yield from _marks(each)


def _mark_in(name: str | None) -> tuple[str, int] | None:
    """Return the kind and the number of the mark with a name; None for names of users."""
    if name is None or not name.startswith(_PREFIX):
        return None
    kind, _, number = name.removeprefix(_PREFIX).partition("#")
    return (kind, int(number)) if number.isdecimal() else None
