# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Upstream's shard dialect: building it, to and from sdy, to StableHLO, and to MPI.

    import pyshardy as sdy

    sdy.shard.grid("grid", [2, 4])
    whole = sdy.shard.all_gather(piece, "grid", 0, grid_axes=[1])

| module                           | what it holds                                        |
|----------------------------------|------------------------------------------------------|
| `to_sdy`, `from_sdy`             | the passes `convert-shard-to-sdy` and its inverse    |
| `shardings_on_grids`             | what of an sdy program the shard dialect can say     |
| `refinement`, `pieces`, `origins`| what both directions have in common                  |
| `lowering`                       | the pass `shard-to-stablehlo`                        |
| `from_stablehlo`, `strides`      | the pass `stablehlo-to-shard`                        |
| `mpi`                            | the pass `shard-prepare-for-mpi`, the backend `mpi`  |
| `upstream`                       | upstream's passes, refused where they are wrong      |

The names below are those of `mlir_sdy.shard`.
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
