# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Marks on operations that survive passes, as parts of their locations.

A mark is a named location around the original location of an operation; `location_of` skips it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mlir_sdy.host import inner_locations, ir

_TAG = re.compile(r"pyshardy\.(\w+)#(\d+)")


def tagged(location: ir.Location, kind: str, number: int) -> ir.Location:
    """Return a location with a mark around it.

    Args:
        location: the location.
        kind: the kind of the mark, one word.
        number: the number.
    """
    name = f"pyshardy.{kind}#{number}"
    return ir.Location.name(name, childLoc=location, context=location.context)


def tags_of(location: ir.Location, kind: str) -> list[int]:
    """Return the numbers of the marks of a kind in a location, the outermost first."""
    return [int(found[2]) for found in _marks(location) if found[1] == kind]


def untagged(location: ir.Location) -> ir.Location:
    """Return a location without the outermost marks."""
    return read_tags(location, "")[1]


def read_tags(location: ir.Location, kind: str) -> tuple[list[int], ir.Location]:
    """Return the numbers of the outermost marks of a kind, and the location without any of these.

    The marks inside of fused locations are neither read nor removed.
    """
    numbers: list[int] = []
    while True:
        name, inner = inner_locations(location)
        found = None if name is None else _TAG.fullmatch(name)
        if found is None:
            return numbers, location
        if found[1] == kind:
            numbers.append(int(found[2]))
        (location,) = inner


def without_tags(location: ir.Location, kind: str) -> ir.Location:
    """Return a location without the marks of a kind, also inside of fused locations."""
    name, inner = inner_locations(location)
    found = None if name is None else _TAG.fullmatch(name)
    if found is not None and found[1] == kind:
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


def _marks(location: ir.Location) -> Iterator[re.Match[str]]:
    name, inner = inner_locations(location)
    if name is not None and (found := _TAG.fullmatch(name)) is not None:
        yield found
    for each in inner:
        yield from _marks(each)
