# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scopes, places and marks in the locations of operations.

JAX writes paths such as `jit(step)/transpose(jvp(layer_3))/attention/dot_general`:

| part                    | meaning                                                    |
|-------------------------|------------------------------------------------------------|
| `jit(step)` at first    | the program, which is no scope                             |
| `transpose(jvp(...))`   | the backward pass, as the outermost scope `backward`       |
| `jvp(...)`              | the forward pass, as the outermost scope `forward`         |
| `vmap(...)`, `jit(...)` | the scope in parentheses                                   |
| the last one            | the operation; of a call in a derivative, as               |
|                         | `jvp(jit(norm))`, the pass                                 |

A *mark* survives passes. It is a named location around the original location of an operation, which
`location_of` skips.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence

from mlir_sdy.diagnostics import SourceLocation
from mlir_sdy.host import inner_locations, ir, location_of

# --- Scopes and places, as frameworks write them --------------------------------------------------


FORWARD, BACKWARD = "forward", "backward"

_DERIVATIVES = ("transpose", "jvp")

_FRAMEWORK = re.compile(
    r"(site-packages|dist-packages)/(torch|jax|jaxlib|flax|equinox|haiku|optax|pyshardy)/"
)

_CALL = re.compile(r"([\w.<>-]+)\((.*)\)")


def scopes_of(location: ir.Location) -> tuple[str, ...]:
    """Return the scopes of a location, outer ones first."""
    path = path_of(location)
    return () if path is None else scopes_of_path(path)


@functools.lru_cache(maxsize=4096)
def scopes_of_path(path: str) -> tuple[str, ...]:
    """Return the scopes in a path.

    Of `jit(step)/transpose(jvp(layer_3))/attention/dot_general` these are `backward`, `layer_3` and
    `attention`.
    """
    parts = _split(path)
    first = _CALL.fullmatch(parts[0]) if len(parts) > 1 else None
    if first is not None and first[1] not in _DERIVATIVES:
        parts = parts[1:]
    direction, scopes = None, list[str]()
    for number, part in enumerate(parts, 1):
        inner = part
        while (call := _CALL.fullmatch(inner)) is not None:
            if call[1] == "transpose":
                direction = BACKWARD
            elif call[1] == "jvp":
                direction = direction or FORWARD
            inner = call[2]
        if number < len(parts):
            scopes += [each for each in _split(inner) if each]
    return tuple(scopes if direction is None else [direction, *scopes])


def scope_names(path: str) -> list[str]:
    """Return the names of the scopes of a path, as contracts match them.

    Those of forward and backward passes are also there without the pass: of
    `transpose(jvp(layer_3))/mlp/dot_general` they are `backward/layer_3/mlp` and `layer_3/mlp`.
    """
    scopes = scopes_of_path(path)
    alternatives = [scopes, scopes[1:]] if scopes[:1] in ((FORWARD,), (BACKWARD,)) else [scopes]
    return ["/".join(each) for each in alternatives if each]


def named_in(name: str, scopes: Sequence[str]) -> str | None:
    """Return the name of an operation with its scopes; None if there are none.

    Of a `stablehlo.dot_general` in the scopes `forward`, `layers.3` and `mlp` it is
    `dot_general in forward/layers.3/mlp`.
    """
    return f"{name.rpartition('.')[2]} in {'/'.join(scopes)}" if scopes else None


def user_place(location: ir.Location) -> SourceLocation | None:
    """Return the first place in a location that isn't in a framework; None if all are.

    Files of pyshardy and of installed frameworks say nothing about the user's program; the scope of
    an operation there does.
    """
    name, inner = inner_locations(location)
    if name is None and not inner:
        place = location_of(location)
        return None if place is None or _is_of_framework(place.filename) else place
    return next(filter(None, map(user_place, inner)), None)


@functools.lru_cache(maxsize=1024)
def _is_of_framework(filename: str) -> bool:
    return _FRAMEWORK.search(filename) is not None


def path_of(location: ir.Location) -> str | None:
    """Return the path in a location; None if it has none."""
    name, inner = inner_locations(location)
    if name is not None and "/" in name:
        return name
    return next(filter(None, map(path_of, inner)), None)


def _split(path: str) -> list[str]:
    """Split a path at the slashes that are not in parentheses."""
    parts, depth, part = list[str](), 0, ""
    for character in path:
        if character == "/" and depth == 0:
            parts.append(part)
            part = ""
            continue
        depth += {"(": 1, ")": -1}.get(character, 0)
        part += character
    return [*parts, part]


def names_in(location: ir.Location) -> Iterator[str]:
    """Yield the names of a location and of those in it that it is called from."""
    name, inner = inner_locations(location)
    if name is not None:
        yield name
    for each in inner:
        yield from names_in(each)


# --- Marks on operations that survive passes ------------------------------------------------------


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
    numbers, location = read_tags(location, kind)
    for each in inner_locations(location)[1]:
        numbers += tags_of(each, kind)
    return numbers


def tag_of(location: ir.Location, kind: str) -> int | None:
    """Return the number of the outermost mark of a kind in a location; None if there is none."""
    name, inner = inner_locations(location)
    mark = _mark_in(name)
    if mark is not None and mark[0] == kind:
        return mark[1]
    for each in inner:
        if (number := tag_of(each, kind)) is not None:
            return number
    return None


def untagged(location: ir.Location) -> ir.Location:
    """Return a location without the outermost marks."""
    return read_tags(location, "")[1]


def read_tags(location: ir.Location, kind: str) -> tuple[list[int], ir.Location]:
    """Return the numbers of the outermost marks of a kind, and the location without any of these.

    The marks inside of fused locations are neither read nor removed.
    """
    numbers: list[int] = []
    while type(location) is not ir.FileLineColLoc:  # as most inner ones are
        name, inner = inner_locations(location)
        mark = _mark_in(name)
        if mark is None:
            break
        if mark[0] == kind:
            numbers.append(mark[1])
        (location,) = inner
    return numbers, location


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


def _mark_in(name: str | None) -> tuple[str, int] | None:
    """Return the kind and the number of the mark with a name; None for names of users."""
    if name is None or not name.startswith(_PREFIX):
        return None
    kind, _, number = name.removeprefix(_PREFIX).partition("#")
    return (kind, int(number)) if number.isdecimal() else None
