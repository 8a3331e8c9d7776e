# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Upstream's shard dialect: builders, and conversions from and to sdy, StableHLO, and MPI.

    import pyshardy as sdy

    sdy.shard.grid("grid", [2, 4])
    gathered = sdy.shard.all_gather(shard, "grid", 0, grid_axes=[1])

| module                     | contents                                                     |
|----------------------------|--------------------------------------------------------------|
| `refinement`               | meshes and groups as grids, uneven shards, origins           |
| `lowering`                 | the lowering to StableHLO                                    |
| `errors`                   | errors of the conversions                                    |

The passes are in `pyshardy.passes.shard`. The names below are those of `mlir_sdy.shard`.
"""

from mlir_sdy.shard.building import (
    Number,
    all_gather,
    all_reduce,
    all_slice,
    all_to_all,
    broadcast,
    gather,
    get_sharding,
    grid,
    grid_shape,
    neighbors_linear_indices,
    process_linear_index,
    process_multi_index,
    recv,
    reduce,
    reduce_scatter,
    scatter,
    send,
    shard,
    shard_shape,
    sharding,
    sharding_of,
    shift,
    update_halo,
)
from mlir_sdy.shard.reading import grids_of, read_grid, read_sharding, reduction_kind
from mlir_sdy.shard.values import DYNAMIC, Grid, GridSharding, ReductionKind

__all__ = [
    "DYNAMIC",
    "Grid",
    "GridSharding",
    "Number",
    "ReductionKind",
    "all_gather",
    "all_reduce",
    "all_slice",
    "all_to_all",
    "broadcast",
    "gather",
    "get_sharding",
    "grid",
    "grid_shape",
    "grids_of",
    "neighbors_linear_indices",
    "process_linear_index",
    "process_multi_index",
    "read_grid",
    "read_sharding",
    "recv",
    "reduce",
    "reduce_scatter",
    "reduction_kind",
    "scatter",
    "send",
    "shard",
    "shard_shape",
    "sharding",
    "sharding_of",
    "shift",
    "update_halo",
]
