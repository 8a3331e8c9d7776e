# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-move-reshards`: compute regions along the dimensions that reshards lead to.

`Regions` states what a region is, and `RegionSearch` when it is changed. Only regions beside
reshards that move axes from one dimension to another are.

The tensors of each operation are compatible, and slices don't have their local forms yet.
"""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.model import lists_overlap
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE, HardwareOption
from pyshardy.cost.hardware import load_hardware
from pyshardy.irtools.analyses import inserts, mark_all_preserved
from pyshardy.irtools.walks import may_occur_at_start, operations_named
from pyshardy.partition.choice.region_search import RegionSearch
from pyshardy.partition.function_context import FunctionContext
from pyshardy.partition.types.steps import AxesPerDim
from pyshardy.pipeline import register_pass
from pyshardy.propagation.elementwise import ELEMENTWISE_OPERATIONS

_RESHARD = "sdy.reshard"
_CHEAP = (
    frozenset(name for name in ELEMENTWISE_OPERATIONS if not name.startswith("sdy."))
    | {
        f"stablehlo.{name}"
        for name in ("broadcast_in_dim", "concatenate", "pad", "reduce", "reshape", "reverse")
    }
    | {"stablehlo.slice", "stablehlo.transpose"}
)
"""The operations in regions. They read and write each element a few times at most."""


@register_pass("sdy-move-reshards", anchor="func.func", release="pyshardy")
@inserts(_RESHARD, where={_RESHARD})
def move_reshards(
    function: ir.Operation | ir.OpView, *, hardware: HardwareOption = DEFAULT_HARDWARE
) -> None:
    """Move reshards across regions.

    Changes the shardings of the operations before or after a reshard that moves axes from one
    dimension to another, if that takes less time, so that the reshard isn't needed there. A region
    consists of elementwise operations, reductions, broadcasts, reshapes, transposes, slices,
    concatenations, paddings and reverses. The cost includes the reshards around it, all-reduces
    and halo exchanges.

    ```mlir
    // %0 is sharded as <@mesh, [{}, {"x"}]>
    %1 = stablehlo.slice %0 [0:8, 0:4] : (tensor<8x8xf32>) -> tensor<8x4xf32>
    %2 = sdy.reshard %1 <@mesh, [{"x"}, {}]> : tensor<8x4xf32>
    %3 = stablehlo.slice %0 [0:8, 4:8] : (tensor<8x8xf32>) -> tensor<8x4xf32>
    %4 = sdy.reshard %3 <@mesh, [{"x"}, {}]> : tensor<8x4xf32>
    ```

    becomes

    ```mlir
    %1 = sdy.reshard %0 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
    %2 = stablehlo.slice %1 [0:8, 0:4] : (tensor<8x8xf32>) -> tensor<8x4xf32>
    %3 = stablehlo.slice %1 [0:8, 4:8] : (tensor<8x8xf32>) -> tensor<8x4xf32>
    ```

    Raises:
        UsageError: there is no such hardware.
    """
    devices = load_hardware(hardware)
    if not may_occur_at_start({_RESHARD}, function):
        mark_all_preserved()
        return
    search = RegionSearch(FunctionContext.of(function), devices, _is_cheap)
    reshards = [
        each for each in operations_named({_RESHARD}, function) if _moves_axes(search.ends(each))
    ]
    if not reshards:
        mark_all_preserved()
        return
    search.visit(reshards)
    for reshard in reversed(reshards):
        if not any(reshard.results[0].uses):
            reshard.erase()


def _is_cheap(operation: ir.Operation) -> bool:
    return operation.name in _CHEAP and len(operation.results) == 1


def _moves_axes(ends: tuple[AxesPerDim, AxesPerDim] | None) -> bool:
    """Whether axes move from one dimension to another."""
    return ends is not None and any(
        at != dim and lists_overlap(axes, others)
        for at, axes in enumerate(ends[0])
        for dim, others in enumerate(ends[1])
    )
