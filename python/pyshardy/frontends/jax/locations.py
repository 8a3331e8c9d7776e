# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Source locations of operations: the user's lines, with JAX's scopes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from mlir_sdy.host import identity, inner_locations, ir, location_of
from mlir_sdy.traversal import operations_in
from pyshardy.irtools.call_graph import CallGraph
from pyshardy.irtools.stablehlo_views import callee_of


def locate_by_calls(module: ir.Module) -> None:
    """Locate operations in functions of JAX itself by the first calls of these functions.

    JAX omits its own frames, so operations have no location if a function of `jax.numpy` has become
    a function of the module; but the calls of that function have locations.

    1. Callers are visited before callees.
    2. An operation without a location gets a call-site location at the first call of its function.

    In `def f(x): return jnp.sort(x)`, the operation `stablehlo.sort` in the function `@sort` is
    located at `jnp.sort(x)`.
    """
    graph = CallGraph(module)
    calls: dict[str, ir.Location] = {}
    for name in reversed(graph.post_order):
        if name in calls:
            for operation in operations_in(graph.functions[name]):
                if location_of(operation.location) is None:
                    called = ir.Location.callsite(operation.location, [calls[name]], module.context)
                    operation.operation.location = called
        for call in graph.calls[name]:
            if location_of(call.location) is not None:
                calls.setdefault(callee_of(call), call.location)


def locate_in_user_code(module: ir.Module) -> None:
    """Locate operations at the innermost frame outside of installed packages, within their scopes.

    JAX writes all frames of the stack, the innermost first. An operation of a layer of Flax is
    located at its caller in the user's program:

        loc("jit(step)/layer_0/dot_general"(callsite("flax/linear.py":300:8 at "model.py":12:4)))

    becomes `loc("jit(step)/layer_0/dot_general"("model.py":12:4))`. If all frames are in packages,
    the innermost one is kept.
    """
    known: dict[int, ir.Location] = {}
    for view in operations_in(module.operation):
        operation = view.operation
        location = operation.location
        key = identity(location.attr)
        if key not in known:
            known[key] = _in_user_code(location)
        operation.location = known[key]


def _in_user_code(location: ir.Location) -> ir.Location:
    frames = list(_frames(location))
    if not frames:
        return location
    places = ((frame, location_of(frame)) for frame in frames)
    outside = (frame for frame, place in places if place and not _is_installed(place.filename))
    frame = next(outside, frames[0])
    name = next(_names(location), None)
    if name is None:
        return frame
    return ir.Location.name(name, childLoc=frame, context=location.context)


def _frames(location: ir.Location) -> Iterator[ir.Location]:
    """Yield the file locations inside of a location, the innermost call first."""
    _, inner = inner_locations(location)
    if not inner and location_of(location) is not None:
        yield location
    for each in inner:
        yield from _frames(each)


def _names(location: ir.Location) -> Iterator[str]:
    """Yield the names of a location and of those in it that it is called from."""
    name, inner = inner_locations(location)
    if name is not None:
        yield name
    for each in inner:
        yield from _names(each)


def _is_installed(filename: str) -> bool:
    """Whether a file belongs to an installed package."""
    return not {"dist-packages", "site-packages"}.isdisjoint(PurePath(filename).parts)
