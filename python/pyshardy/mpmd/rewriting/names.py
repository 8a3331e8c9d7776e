# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The names of the functions of fragments, which traces of a run show."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mlir_sdy.mpmd.values import UserOrigin

_NUMBERED = re.compile(r"(.*)_(\d+)", re.DOTALL)
_PHASES = {0: "_fwd", 1: "_bwd"}
_LONGEST = 200
_CUT = "<...>"


def function_name(
    index: int,
    origins: Sequence[UserOrigin],
    stage: int | None,
    counters: Sequence[int | None],
    module: str,
    *,
    with_phase: bool,
) -> str:
    """Return the name of the function of some fragments with equal bodies.

    Examples are `p0_s1.main`, `p2_loss..._bwd_calls2from0.step` and `p1_layer_0:3_fwd.step`.

    Args:
        index: the number of the function.
        origins: the origins of the fragments.
        stage: their stage, if they have one.
        counters: the microbatches of the fragments in their order, which the name tells if it
            is ascending or descending without gaps.
        module: the name of the module.
        with_phase: whether to tell forward from backward fragments.
    """
    name = _name(origins) if stage is None else f"stage{stage}"
    if with_phase:
        for count in sorted({each.transpose_count for each in origins}):
            name += _PHASES.get(count, f"_transpose{count}")
    first, last = counters[0], counters[-1]
    if len(counters) == 1 and first is not None:
        name += f"_call{first}"
    elif first is not None and last is not None:
        step, word = (1, "to") if first < last else (-1, "from")
        if list(counters) == list(range(first, last + step, step)):
            name += f"_calls{first}{word}{last}"
    name = f"p{index}_{name}"
    if len(name) > _LONGEST:
        name = name[: _LONGEST - len(_CUT)] + _CUT
    return f"{name}.{module.removeprefix('jit_')}"


def _name(origins: Sequence[UserOrigin]) -> str:
    """Return the most frequent name without numbers at the end, and its numbers."""
    if not origins:
        return "inferred"
    numbers: dict[str, list[int]] = {}
    counts: dict[str, int] = {}
    for name in sorted(each.name for each in origins):
        match = _NUMBERED.fullmatch(name)
        base = name if match is None else match[1]
        counts[base] = counts.get(base, 0) + 1
        numbers.setdefault(base, []).extend([int(match[2])] if match else [])
    base = max(sorted(counts), key=counts.__getitem__)
    name, ends = base, sorted({min(numbers[base]), max(numbers[base])}) if numbers[base] else []
    if ends:
        is_backward = all(each.transpose_count == 1 for each in origins)
        name += "_" + ":".join(map(str, reversed(ends) if is_backward else ends))
    return name if len(counts) == 1 else f"{name}..."
