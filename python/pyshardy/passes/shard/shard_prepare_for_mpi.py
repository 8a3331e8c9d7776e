# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `shard-prepare-for-mpi`: rewrite collectives that upstream lowers incorrectly.

    %0 = shard.shift %a on @grid grid_axes = [0] shift_axis = 0 offset = 1 : ...

becomes a `shard.all_gather` of a vector along that axis, of which each process takes a slice.

It is `shard-to-stablehlo` with another builder: see `builder`.
"""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.passes.shard.shard_to_stablehlo import lower_collectives
from pyshardy.pipeline import register_pass
from pyshardy.shard.lowering.mpi_builder import MpiBuilder


@register_pass("shard-prepare-for-mpi")
def shard_prepare_for_mpi(module: ir.Module) -> None:
    """Rewrite collectives into those that convert-shard-to-mpi lowers correctly.

    Upstream's `convert-shard-to-mpi` lowers a part of the dialect, and some of it incorrectly. This
    pass runs before it:

    - Collectives over no axes, or over a single device, are replaced by their operands.
    - If a collective uses all axes, the grid gets an additional axis of size 1, since upstream
      ignores the order of the axes otherwise.
    - `all_to_all`, `broadcast`, `gather`, `reduce`, `scatter` and `shift` become all-gathers and
      all-reduces, with a slice for each process.
    - An average becomes a sum and a division.
    - All other unsupported operations are errors: generic reductions, sends and receives, halos
      along several axes, grids of dynamic size, annotations.

    Raises:
        PassError: an operation can't be expressed by these.
    """
    lower_collectives(module, MpiBuilder)
