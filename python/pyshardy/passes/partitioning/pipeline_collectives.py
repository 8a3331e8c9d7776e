# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-pipeline-collectives`: run collectives of loops beside another iteration.

1. Functions with collectives that loops call are inlined there.
2. `timeline.loop_collectives` says which can be, by their structure.
3. `timeline.loop_plans` says which gain time within the memory, by the timeline of the body.
4. `timeline.loop_iterations` builds the loops.
"""

from __future__ import annotations

from typing import Annotated, Literal

from mlir_sdy.diagnostics import are_remarks_wanted, emit, remark, warning
from mlir_sdy.host import ir, location_of
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE, HardwareOption
from pyshardy.cost.hardware import load_hardware
from pyshardy.display import bytes_of_text
from pyshardy.irtools.functions import CallGraph, can_be_inlined, must_stay, replace_by_body
from pyshardy.irtools.stablehlo_views import COLLECTIVES, callee_of
from pyshardy.irtools.walks import operations_named
from pyshardy.local_program.communication import collectives_of
from pyshardy.pipeline import register_pass, run_pipeline
from pyshardy.pipeline.options import Help, Natural
from pyshardy.timeline.async_collectives import check_is_local, mesh_of_local
from pyshardy.timeline.durations import Durations, resource_use_of
from pyshardy.timeline.loop_plans import LoopPlanner, carry_out, plans_within
from pyshardy.timeline.run import memory_limit


@register_pass("sdy-pipeline-collectives", release="pyshardy")
def pipeline_collectives(
    module: ir.Module,
    *,
    hardware: HardwareOption = DEFAULT_HARDWARE,
    memory: str = "",
    peel: Literal["auto", "true", "false"] = "auto",
    max_peel: Natural = 500,
    reductions: bool = True,
    min_gain: Annotated[float, Help(least=0)] = 0.02,
) -> None:
    """Run collectives of loops beside the iteration before or after theirs.

    A collective of a slice of stacked weights at the counter of a `stablehlo.while`, as in a scan
    over layers, is started in the iteration before the one that uses it. A sum over devices whose
    result is only written into a value that the loop carries, or added to it, such as a gradient,
    is completed in the iteration after.

    ```mlir
    while i < 6 {
      %w = "stablehlo.all_gather"(%stack[i])
      .. uses %w ..
    }
    ```

    becomes

    ```mlir
    %w = "stablehlo.all_gather"(%stack[0])
    while i < 5 carrying %w {
      %f = "stablehlo.async_start"(%stack[i + 1]) ({ ... "stablehlo.all_gather" ... })
      .. uses %w ..
      return "stablehlo.async_done"(%f)
    }
    .. uses %w ..
    ```

    The collectives of functions that a loop calls are those of the loop: the calls are inlined. A
    loop is changed if it becomes faster in the estimated time of the hardware, and if the values
    that it carries in addition fit the memory.

    Options:
        memory: limit of the peak memory of a device, such as 60GiB; if empty, the larger one of the
            present peak and nine tenths of the device.
        peel: whether the last iteration stands after the loop, and the first one before it if sums
            are completed late, so that nothing is sent in excess; auto unless a loop of 16 or more
            iterations has more than max_peel operations, and sends little.
        max_peel: number of operations of a loop that is always peeled.
        reductions: whether sums are completed an iteration later.
        min_gain: part of its time that a loop must gain.

    Raises:
        UsageError: an option is invalid, or there is no such hardware.
        PassError: the program isn't local yet.
    """
    limit = bytes_of_text(memory, "memory") if memory else 0
    devices = load_hardware(hardware)
    check_is_local(module, "sdy-pipeline-collectives")
    if not operations_named({"stablehlo.while"}, module) or not operations_named(
        COLLECTIVES, module
    ):
        return
    _inline_in_loops(module)
    use = resource_use_of(module)
    collectives = collectives_of(module, mesh_of_local(module))
    durations = Durations(use, collectives, devices)
    if limit and use.memory.peak > limit:
        message = (
            f"the peak memory is {use.memory.peak:,} bytes before any collective is moved, more "
            f"than the limit of {limit:,}: nothing is moved"
        )
        emit(warning(message, location_of(module.operation.location)))
        return
    planner = LoopPlanner(
        durations, peel=peel, max_peel=max_peel, reductions=reductions, min_gain=min_gain
    )
    plans = plans_within(planner, module, memory_limit(use, devices, limit))
    if are_remarks_wanted():
        numbers = {each: number for number, each in enumerate(use.table.operations)}
        for plan in plans:
            for operation, text in plan.remarks():
                one = collectives[durations.transfers[numbers[operation]].index]
                axes = ", ".join(f'"{axis}"' for axis in one.axes or ()) or "other groups"
                message = f"{one.kind} along {axes} {text}"
                emit(remark(message, location_of(operation.location)))
    carry_out(module, plans)


def _inline_in_loops(module: ir.Module) -> None:
    """Inline the calls in loops of functions with collectives, and erase those without calls."""
    graph = CallGraph(module)
    if graph.is_recursive:
        return
    sending: set[str] = set()
    for name in graph.post_order:
        is_calling = not sending.isdisjoint(map(callee_of, graph.calls[name]))
        if is_calling or operations_named(COLLECTIVES, graph.functions[name]):
            sending.add(name)
    while call := next(
        (
            call
            for loop in operations_named({"stablehlo.while"}, module)
            for call in operations_named({"func.call"}, loop)
            if callee_of(call) in sending
            and can_be_inlined(graph.functions[callee_of(call)])
            and not must_stay(call)
        ),
        None,
    ):
        copy = graph.functions[callee_of(call)].clone(ip=False).operation
        replace_by_body(call, copy.regions[0].blocks[0])
    run_pipeline(module, "symbol-dce")
