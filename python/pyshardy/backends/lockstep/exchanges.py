# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The groups of the collectives of a program, and their computation in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from mlir_sdy.diagnostics import error
from mlir_sdy.host import ir, location_of
from pyshardy.backends.engines.interface import Engine
from pyshardy.backends.lockstep import collectives
from pyshardy.backends.lockstep.reductions import combination
from pyshardy.irtools.stablehlo_views import (
    AllGatherView,
    AllToAllView,
    CollectiveView,
    ReduceScatterView,
)
from pyshardy.local_program.errors import ExecutionError
from pyshardy.local_program.process_groups import Groups, Layout, process_groups, process_pairs
from pyshardy.local_program.tensor_spec import Array
from pyshardy.local_program.values import spec_of

_REDUCE_TO_ROOT = "stablehlo.collective_reduce"

Exchange = Callable[[Sequence[Array]], "list[Array]"]
"""Returns the results of the processes of a group for their arrays."""


def exchanged(
    operation: ir.Operation, layout: Layout, engine: Engine
) -> tuple[Groups, list[Exchange]]:
    """Return the groups of a collective, and the exchange within each, for every operand.

    Args:
        operation: one of `COLLECTIVES`.
        layout: the replicas and partitions.
        engine: runs reduction bodies that are not a single known operation.
    """
    if operation.name == "stablehlo.collective_permute":
        pairs = process_pairs(operation, layout)
        everybody = (tuple(range(layout.size)),)
        return everybody, [partial(collectives.collective_permute, pairs=pairs)]
    groups = process_groups(operation, layout)
    if operation.name == _REDUCE_TO_ROOT and CollectiveView(operation).has_dynamic_root:
        message = "'stablehlo.collective_reduce' op with a dynamic root can't be run"
        raise ExecutionError(error(message, location_of(operation.location)))
    if operation.name in ("stablehlo.all_reduce", "stablehlo.reduce_scatter", _REDUCE_TO_ROOT):
        return groups, _reductions(operation, engine)
    return groups, [_move(operation)] * len(operation.operands)


def _move(operation: ir.Operation) -> Exchange:
    if operation.name == "stablehlo.all_gather":
        return partial(collectives.all_gather, dim=AllGatherView(operation).all_gather_dim)
    if operation.name == "stablehlo.all_to_all":
        view = AllToAllView(operation)
        return partial(
            collectives.all_to_all,
            split_dim=view.split_dimension,
            concat_dim=view.concat_dimension,
            split_count=view.split_count,
        )
    return collectives.collective_broadcast


def _reductions(operation: ir.Operation, engine: Engine) -> list[Exchange]:
    exchanges: list[Exchange] = []
    place = location_of(operation.location)
    for operand, result in zip(operation.operands, operation.results, strict=True):
        spec = spec_of(operand.type, place).with_element(spec_of(result.type, place).element)
        combine = combination(operation.regions[0], spec, engine)
        if operation.name == "stablehlo.all_reduce":
            exchange = partial(collectives.all_reduce, combine=combine)
        elif operation.name == _REDUCE_TO_ROOT:
            exchange = partial(collectives.collective_reduce, combine=combine)
        else:
            dim = ReduceScatterView(operation).scatter_dimension
            exchange = partial(collectives.reduce_scatter, dim=dim, combine=combine)
        exchanges.append(partial(_after_promotion, exchange, spec.dtype))
    return exchanges


def _after_promotion(
    exchange: Exchange, dtype: np.dtype[np.generic], parts: Sequence[Array]
) -> list[Array]:
    """Convert the operands of a reduction to its result type, which may be wider."""
    return exchange([part.astype(dtype, copy=False) for part in parts])
