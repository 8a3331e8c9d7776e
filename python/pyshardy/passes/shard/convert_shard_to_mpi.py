# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `convert-shard-to-mpi` of upstream, with errors where it would be incorrect.

Not supported are

1. a collective over no axes, which would include all processes;
2. an ordered one over all axes in another order than theirs, as the order would be ignored;
3. an average, which would become an exclusive or, and a generic reduction;
4. shard shapes of dimensions along several axes, of which only the first would be used.
"""

from __future__ import annotations

from mlir_sdy.host import ir, passmanager
from mlir_sdy.ods.shard_tables import OPERATIONS
from mlir_sdy.shard.reading import (
    grid_axes,
    grid_of,
    grids_of,
    read_sharding,
    reduction_kind,
    shard_operations,
)
from mlir_sdy.shard.values import ReductionKind
from pyshardy.pipeline import register_pass
from pyshardy.shard.errors import refusal

_WHERE = "upstream's 'convert-shard-to-mpi' would generate wrong code"
_FIX = "run 'shard-prepare-for-mpi' first"

_ORDERED = frozenset({"shard.all_gather", "shard.reduce_scatter"})
"""Collectives that it lowers and that depend on the order of a group."""


@register_pass("convert-shard-to-mpi")
def convert_shard_to_mpi(module: ir.Module) -> None:
    """Run upstream's lowering of collectives to MPI if it is correct.

    Runs upstream's pass. Operations that upstream lowers incorrectly are errors: collectives over
    no axes, or over all axes in another order, averages and generic reductions, and shapes of
    shards of dimensions along several axes. `shard-prepare-for-mpi` rewrites most of them.

    Raises:
        PassError: the module contains one of these.
    """
    grids = grids_of(module)
    for operation in shard_operations(module):
        declaration = OPERATIONS[operation.name]
        if "grid_axes" in declaration.attribute_names:
            grid = grids.get(grid_of(operation))
            axes = grid_axes(operation)
            if not axes:
                reason = f"'{operation.name}' over no axes would include all processes; {_FIX}"
                raise refusal(_WHERE, reason, operation)
            is_all = grid is not None and len(axes) == grid.rank
            if is_all and operation.name in _ORDERED and list(axes) != sorted(axes):
                reason = f"the order of the axes {list(axes)} would be ignored; {_FIX}"
                raise refusal(_WHERE, reason, operation)
        if "reduction" in declaration.attribute_names:
            kind = reduction_kind(operation)
            if kind in {ReductionKind.AVERAGE, ReductionKind.GENERIC}:
                reason = f"of a reduction of kind '{kind.keyword}'; {_FIX}"
                raise refusal(_WHERE, reason, operation)
        if operation.name == "shard.sharding":
            _check_sharding(operation)
    passmanager.PassManager.parse("builtin.module(convert-shard-to-mpi)").run(module.operation)


def _check_sharding(operation: ir.Operation) -> None:
    users = {use.owner.operation.name for use in operation.results[0].uses}
    if "shard.shard_shape" in users and any(
        len(axes) > 1 for axes in read_sharding(operation).split_axes
    ):
        reason = "'shard.shard_shape' of a dimension along several axes would use the first only"
        raise refusal(_WHERE, reason, operation)
