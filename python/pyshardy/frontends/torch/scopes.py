# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The modules of PyTorch that operations belong to, as names of their locations.

An operation of `model.layers[0].up` gets the location `"layers.0/up/linear"("model.py":40)`, in the
form that JAX has for scopes. The importer takes locations from stack traces only, so that the name
travels there as a further frame.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from mlir_sdy.host import identity, ir
from mlir_sdy.traversal import operations_in

_PREFIX = "pyshardy.scope:"


def frame_of(module_stack: Mapping[str, tuple[str, Any]] | None, operation: str) -> str:
    """Return the frame that names the scopes of an operation; an empty text without any.

    Args:
        module_stack: the paths of the modules around it, the innermost last (see `torch.fx`).
        operation: the name of the operation.
    """
    path = [*module_stack.values()][-1][0] if module_stack else ""
    if not path:
        return ""
    scopes = re.sub(r"\.(?!\d+(?:[.)]|\Z))", "/", path)  # the number of a layer stays at its list
    return f'  File "{_PREFIX}{scopes}/{operation}", line 1, in forward\n    \n'


def name_locations(module: ir.Module) -> None:
    """Replace these frames by names around the locations of operations.

    The locations of arguments, which are those of their first users, lose the frames.
    """
    known: dict[int, tuple[str, ir.Location | None]] = {}

    def parts(location: ir.Location) -> tuple[str, ir.Location | None]:
        key = identity(location.attr)
        if key not in known:
            known[key] = _without_frame(location)
        return known[key]

    for view in operations_in(module.operation):
        operation = view.operation
        name, rest = parts(operation.location)
        if name and rest is not None:
            operation.location = ir.Location.name(name, rest, operation.context)
        for block in (block for region in operation.regions for block in region.blocks):
            for argument in block.arguments:
                name, rest = parts(argument.location)
                if name and rest is not None:
                    argument.set_location(rest)


def _without_frame(location: ir.Location) -> tuple[str, ir.Location | None]:
    """Return the name in a location, or an empty text, and the location without its frame."""
    if isinstance(location, ir.FileLineColLoc):
        filename = str(location.filename).strip('"')
        is_frame = filename.startswith(_PREFIX)
        return (filename.removeprefix(_PREFIX), None) if is_frame else ("", location)
    if isinstance(location, ir.CallSiteLoc):
        inner, outer = _without_frame(location.callee), _without_frame(location.caller)
        if inner[1] is None or outer[1] is None:
            return inner[0] or outer[0], inner[1] or outer[1]
        both = ir.Location.callsite(inner[1], [outer[1]], context=location.context)
        return inner[0] or outer[0], both
    if isinstance(location, ir.FusedLoc):
        parts = [_without_frame(part) for part in location.locations]
        kept = [part for _, part in parts if part is not None]
        name = next((name for name, _ in parts if name), "")
        return name, ir.Location.fused(kept, context=location.context) if kept else None
    return "", location
