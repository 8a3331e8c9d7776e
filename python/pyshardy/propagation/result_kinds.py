# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kinds of results in a program after propagation, from its tables."""

from __future__ import annotations

from mlir_sdy.attributes import AttributeCache
from mlir_sdy.discardable import get_discardable, has_discardable
from mlir_sdy.host import ir
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
    types, state = program.types, engine.state
    read: list[ir.Operation] = []
    simple: dict[tuple[int, int], ir.Operation] = {}
    rows = zip(program.results, program.names, engine.is_erased, program.operations, strict=True)
    for made, name, is_erased, operation in rows:
        if is_erased or name == _CALL:
            continue
        if len(made) == 1 and name not in _READ_IN_IR:
            slot = made.start
            simple.setdefault((state[slot], types[slot]), operation)
        elif has_discardable(operation, SHARDING):
            read.append(operation)
    found = {ResultKind.of(each, get_discardable(each, SHARDING)): None for each in read}
    for (number, _), operation in simple.items():
        sharding = engine.table[number]
        if sharding is not None:
            attribute = cache[TensorShardingPerValue((sharding,))]
            found[ResultKind.of(operation, attribute)] = None
    replace_analysis("result-kinds", program.module.operation, tuple(found))
