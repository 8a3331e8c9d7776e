# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-verify-stage-merging`."""

from __future__ import annotations

from mlir_sdy.diagnostics import PassError, error, note
from mlir_sdy.discardable import has_discardable
from mlir_sdy.host import ir, location_of
from mlir_sdy.mpmd.reading import (
    CALL_COUNTER,
    FRAGMENT,
    REMAT,
    integer_of,
    mesh_name_of,
    origins_of,
)
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.rewriting.functions import mpmd_functions
from pyshardy.mpmd.rewriting.merging import DROPS_TRANSFERRED, KEEPS_TRANSFERRED, STAGE
from pyshardy.pipeline import register_pass


@register_pass("mpmd-verify-stage-merging", release="0.10.2")
def verify_stage_merging(module: ir.Module) -> None:
    """Check that the fragments of a stage have been merged.

    Raises:
        PassError: two fragments agree in mesh, stage, transpose count, half of a split fragment,
            `remat` and call counter.
    """
    for function in mpmd_functions(module):
        first: dict[tuple[object, ...], list[ir.Operation]] = {}
        for fragment in operations_named({FRAGMENT}, function):
            stage = integer_of(fragment, STAGE)
            if stage is None:
                continue
            counts = tuple(sorted({origin.transpose_count for origin in origins_of(fragment)}))
            marks = [has_discardable(fragment, each) for each in _MARKS]
            key = (mesh_name_of(fragment), stage, counts, *marks)
            for other in first.setdefault(key, []):
                counters = integer_of(other, CALL_COUNTER), integer_of(fragment, CALL_COUNTER)
                if None in counters or counters[0] == counters[1]:
                    raise _not_merged(fragment, other)
            first[key].append(fragment)


_MARKS = (KEEPS_TRANSFERRED, DROPS_TRANSFERRED, REMAT)


def _not_merged(fragment: ir.Operation, other: ir.Operation) -> PassError:
    counts = sorted({origin.transpose_count for origin in origins_of(fragment)})
    marks = [each for each in _MARKS if has_discardable(fragment, each)]
    message = (
        f"Fragments of stage {integer_of(fragment, STAGE)} on mesh {mesh_name_of(fragment)} are "
        f"not merged: both have transpose count {', '.join(map(str, counts))}, call counter "
        f"{integer_of(fragment, CALL_COUNTER)} and the marks {', '.join(marks) or 'none'}"
    )
    place = location_of(other.location)
    return PassError(
        error(message, location_of(fragment.location), [note("the other fragment is here", place)])
    )
