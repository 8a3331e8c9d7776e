# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `shard-prepare-for-mpi`: rewrite collectives that upstream lowers incorrectly.

    %0 = shard.shift %a on @grid grid_axes = [0] shift_axis = 0 offset = 1 : ...

becomes a `shard.all_gather` of a vector along that axis, of which each process takes a slice.

It is `shard-to-stablehlo` with another builder: see `builder`.
"""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.passes.shard.shard_to_stablehlo import lower_collectives
from pyshardy.shard.lowering.mpi_builder import MpiBuilder


def shard_prepare_for_mpi(module: ir.Module) -> None:
    """Rewrite the collectives of a module to those that upstream lowers correctly.

    Raises:
        PassError: an operation can't be expressed by these.
    """
    lower_collectives(module, MpiBuilder)
