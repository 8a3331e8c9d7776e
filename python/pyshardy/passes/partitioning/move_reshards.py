# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-move-reshards`: compute regions along the dimensions that reshards lead to.

    // %0 is sharded as [{}, {"x"}]
    %1 = stablehlo.slice %0 [0:8, 0:4] : (tensor<8x8xf32>) -> tensor<8x4xf32>   // [{}, {"x"}]
    %2 = sdy.reshard %1 <@mesh, [{"x"}, {}]> : tensor<8x4xf32>
    %3 = stablehlo.slice %0 [0:8, 4:8] : (tensor<8x8xf32>) -> tensor<8x4xf32>   // [{}, {"x"}]
    %4 = sdy.reshard %3 <@mesh, [{"x"}, {}]> : tensor<8x4xf32>

becomes

    %1 = sdy.reshard %0 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
    %2 = stablehlo.slice %1 [0:8, 0:4] : (tensor<8x8xf32>) -> tensor<8x4xf32>   // [{"x"}, {}]
    %3 = stablehlo.slice %1 [0:8, 4:8] : (tensor<8x8xf32>) -> tensor<8x4xf32>   // [{"x"}, {}]
"""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE
from pyshardy.cost.hardware import load_hardware
from pyshardy.irtools.analyses import inserts, mark_all_preserved
from pyshardy.irtools.operation_names import may_occur_at_start
from pyshardy.irtools.walks import operations_named
from pyshardy.partition.function_context import FunctionContext
from pyshardy.partition.resharding.move_axes import AxisMover

_RESHARD = "sdy.reshard"


@inserts(_RESHARD, where={_RESHARD})
def move_reshards(function: ir.Operation | ir.OpView, *, hardware: str = DEFAULT_HARDWARE) -> None:
    """Change the shardings of regions before and after reshards.

    `AxisRegions` states what a region is, and `AxisMover` when it is changed. Only regions beside
    reshards that move axes from one dimension to another are.

    Args:
        function: the `func.func`, in which the tensors of each operation are compatible, and whose
            slices don't have their local forms yet.
        hardware: the devices and links that costs are for: a preset, a TOML file, or an inline
            table (see `load_hardware`).

    Raises:
        UsageError: there is no such hardware.
    """
    devices = load_hardware(hardware)
    if not may_occur_at_start({_RESHARD}, function):
        mark_all_preserved()
        return
    mover = AxisMover(FunctionContext.of(function), devices)
    reshards = [each for each in operations_named({_RESHARD}, function) if mover.can_move(each)]
    if not reshards:
        mark_all_preserved()
        return
    for reshard in reshards:
        if any(reshard.results[0].uses):
            mover.visit(reshard)
    for reshard in reversed(reshards):
        if not any(reshard.results[0].uses):
            reshard.erase()
