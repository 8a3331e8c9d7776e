# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-auto-shard`: choose the shardings with the least cost."""

from __future__ import annotations

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import ir
from pyshardy.auto.search.options import SearchOptions, cost_model
from pyshardy.auto.search.program_search import Search
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE, HardwareOption
from pyshardy.cost.hardware import report_hardware_of
from pyshardy.pipeline import register_pass, run_pipeline


@register_pass("sdy-auto-shard", release="pyshardy")
def auto_shard(
    module: ir.Module,
    *,
    hardware: HardwareOption = DEFAULT_HARDWARE,
    memory: str = "",
    objective: str = "time",
    axes: str = "",
    fixed: bool = True,
    uneven: bool = False,
    sub_axes: bool = False,
    once: bool = False,
    timeout: int = 60,
    gap: str = "0.01",
    solver: str = "combined",
) -> None:
    """Choose the shardings with the least cost.

    Chooses the sharding of each value such that the estimated time of the program, or the bytes
    that devices send, are minimal on some hardware. Writes closed shardings, which propagation
    keeps. The partitioner follows two further attributes: `sdy.factor_axes`, the axes of the
    factors of operations whose operands have to be resharded, and `sdy.partial_sharding`, the
    sharding of partial results that a later operation completes. Functions that are called several
    times are copied. Runs before propagation.

    ```mlir
    sdy.mesh @mesh = <["data"=8]>
    func.func @main(%x: tensor<1024x64xf32>, %w: tensor<64x64xf32>) -> tensor<1024x64xf32>
    ```

    becomes

    ```mlir
    func.func @main(%x: tensor<1024x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
                    %w: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> ...
    ```

    Options:
        memory: memory of a device, such as 16GiB; any amount if empty.
        objective: what is minimized: time, or bytes.
        axes: axes of the mesh that may be used, with commas between them; all if empty.
        fixed: whether to keep the shardings in the program.
        uneven: whether axes may shard dimensions that they don't divide; shards are padded.
        sub_axes: whether a part of an axis may shard a dimension that the whole one doesn't divide.
        once: whether results needn't have the shardings of the arguments that they replace.
        timeout: seconds after which the search ends with the best shardings so far.
        gap: proven fraction of the optimum at which the search ends.
        solver: solver.

    Raises:
        UsageError: the program has no mesh or no entry; an option is invalid; no plan fits.
        MissingPackageError: HiGHS is missing: install the extra `auto`.
    """
    try:
        fraction = float(gap)
    except ValueError:
        raise UsageError(error(f"'gap' must be a number, got: {gap!r}")) from None
    options = SearchOptions(
        memory=memory or None,
        axes=axes.split(",") if axes else None,
        fixed=fixed,
        uneven=uneven,
        sub_axes=sub_axes,
        once=once,
        gap=fraction,
        timeout=float(timeout),
        solver=solver,
    )
    run_pipeline(module, "sdy-flatten-call-graph, symbol-dce")
    search = Search(module, cost_model(objective, report_hardware_of(hardware)), options)
    search.annotate(module, search.check_found(search.solve()))
