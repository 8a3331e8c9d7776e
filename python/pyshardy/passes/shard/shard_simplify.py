# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `shard-simplify` of upstream, with errors where it would be incorrect.

It replaces a gather of slices by the operand of the slice. That is valid only if all members of
a group have the same operand, which is unknown: a program with such a pair is an error.
"""

from __future__ import annotations

from mlir_sdy.host import ir, passmanager
from mlir_sdy.shard.reading import grid_axes, grid_name, integer
from pyshardy.irtools.walks import operations_named
from pyshardy.pipeline import register_pass
from pyshardy.shard.errors import refusal

_WHERE = "upstream's 'shard-simplify' would generate wrong code"


@register_pass("shard-simplify")
def shard_simplify(module: ir.Module) -> None:
    """Run upstream's simplification of collectives if it is correct.

    Runs upstream's pass. An all-gather of slices is an error: upstream replaces it by the operand
    of the slices, even if that differs between the devices of a group.

    Raises:
        PassError: there is such a pair.
    """
    for gather in operations_named({"shard.all_gather"}, module):
        made = gather.operands[0].owner
        if isinstance(made, ir.Block) or made.operation.name != "shard.all_slice":
            continue
        cut = made.operation
        same = grid_name(gather) == grid_name(cut) and grid_axes(gather) == grid_axes(cut)
        if same and integer(gather, "gather_axis") == integer(cut, "slice_axis"):
            reason = "a gather of slices is replaced by the operand of the slice, which may differ"
            reason += " between the members of a group; erase the pair if it doesn't"
            raise refusal(_WHERE, reason, gather)
    passmanager.PassManager.parse("builtin.module(shard-simplify)").run(module.operation)
