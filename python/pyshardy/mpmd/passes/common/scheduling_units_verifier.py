# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-scheduling-units-verifier`."""

from __future__ import annotations

from mlir_sdy.diagnostics import emit, warning
from mlir_sdy.host import ir, location_of
from mlir_sdy.mpmd.reading import (
    CALL_COUNTER,
    FRAGMENT,
    integer_of,
    is_user_fragment,
    mesh_name_of,
    origins_of,
)
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.rewriting.functions import mpmd_functions
from pyshardy.mpmd.rewriting.meshes import topology
from pyshardy.pipeline import register_pass

_DIRECTIONS = ("forward", "backward")


@register_pass("mpmd-scheduling-units-verifier", release="0.10.2")
def scheduling_units_verifier(module: ir.Module) -> None:
    """Warn of meshes with too few or too many units for a schedule.

    A unit is a fragment of the user with a call counter and a single transpose count, 0 or 1. Each
    mesh of the pipeline needs a forward and a backward unit for each microbatch.
    """
    for function in mpmd_functions(module):
        units: list[tuple[str, int]] = []
        counters: list[int] = []
        for fragment in operations_named({FRAGMENT}, function):
            counter = integer_of(fragment, CALL_COUNTER)
            counts = {origin.transpose_count for origin in origins_of(fragment)}
            if is_user_fragment(fragment) and counter is not None and counts in ({0}, {1}):
                counters.append(counter)
                units.append((mesh_name_of(fragment), counts.pop()))
        expected = max(counters, default=0) + (0 in counters)
        for mesh in topology(function).meshes:
            if mesh.is_host:
                continue
            for count, direction in enumerate(_DIRECTIONS):
                found = units.count((mesh.name, count))
                if found != expected:
                    message = (
                        f"mesh {mesh.name} has {found} {direction} scheduling units, but there are "
                        f"{expected} microbatches"
                    )
                    emit(warning(message, location_of(function.location)))
