# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kinds of results in a program after propagation, from its tables."""

from __future__ import annotations

from mlir_sdy.attributes import AttributeCache
from mlir_sdy.discardable import get_discardable
from mlir_sdy.model import TensorShardingPerValue
from mlir_sdy.values import (
    ASYNC_DONE,
    ASYNC_START,
    COMPUTATIONS,
    DATA_FLOW_OPERATIONS,
    OWN_SHARDING,
    SHARDING,
)
from pyshardy.irtools.analyses import replace_analysis
from pyshardy.irtools.shardings import ResultKind
from pyshardy.propagation.engine import Engine

_CALL = "func.call"
_READ_IN_IR = frozenset(
    {ASYNC_DONE, ASYNC_START, *COMPUTATIONS, *DATA_FLOW_OPERATIONS, *OWN_SHARDING}
)
"""The operations whose results may have their shardings in other slots, or other attributes."""


def keep_result_kinds(engine: Engine, cache: AttributeCache) -> None:
    """Keep the analysis `result-kinds` for the passes after propagation.

    Programs with modules inside are left out, since their operations are in no table.

    Args:
        engine: the engine, after its results have been written to the IR.
        cache: makes attributes.
    """
    program = engine.program
    if program.inner_modules:
        return
    results, names, types, state = program.results, program.names, program.types, engine.state
    found: dict[ResultKind, None] = {}
    seen: set[tuple[int, int]] = set()
    for number, operation in engine.live_operations():
        made = results[number]
        if len(made) != 1 or names[number] in _READ_IN_IR:
            attribute = get_discardable(operation, SHARDING)
            if attribute is not None and names[number] != _CALL:
                found[ResultKind.of(operation, attribute)] = None
            continue
        slot = made.start
        key = state[slot], types[slot]
        if key not in seen and names[number] != _CALL:
            seen.add(key)
            sharding = engine.sharding(slot)
            if sharding is not None:
                attribute = cache[TensorShardingPerValue((sharding,))]
                found[ResultKind.of(operation, attribute)] = None
    replace_analysis("result-kinds", program.module.operation, tuple(found))
