# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-schedule-collectives`: start collectives early, and wait for them late.

1. `timeline.scheduling` chooses the order, from what `timeline.durations` says of the operations.
   Both also make the estimates, so the pass places what `Estimate.predicted` foretells.
2. The order is carried out: operations move, a collective with an operand and a result becomes the
   body of an `async_start` at its start, and an `async_done` stands before its first user.
3. A program that has starts already is ordered anew, and stays as it is if that gains nothing. So
   the pass is idempotent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from mlir_sdy.diagnostics import (
    PassError,
    are_remarks_wanted,
    emit,
    error,
    remark,
    warning,
)
from mlir_sdy.host import ir, location_of
from mlir_sdy.uses import replace_by
from mlir_sdy.values import ASYNC_DONE, ASYNC_START
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE, HardwareOption
from pyshardy.cost.hardware import load_hardware
from pyshardy.display import bytes_of_text
from pyshardy.irtools.functions import functions_of
from pyshardy.irtools.stablehlo_views import COLLECTIVES, function_type_of, symbol_name
from pyshardy.irtools.walks import operations_named
from pyshardy.local_program.communication import collectives_of
from pyshardy.pipeline import register_pass
from pyshardy.pipeline.options import Help, Positive
from pyshardy.timeline.async_collectives import (
    FUTURE,
    await_result,
    check_is_local,
    mesh_of_local,
    start_copy,
)
from pyshardy.timeline.durations import Durations, resource_use_of
from pyshardy.timeline.operation_table import DONE, RUN, BlockStep, OperationTable
from pyshardy.timeline.run import place_within
from pyshardy.timeline.scheduling import WINDOW


@register_pass("sdy-schedule-collectives", release="pyshardy")
def schedule_collectives(
    module: ir.Module,
    *,
    hardware: HardwareOption = DEFAULT_HARDWARE,
    memory: str = "",
    window: Annotated[float, Help(least=0)] = WINDOW,
    order: Literal["need", "program"] = "need",
    in_flight: Positive = 1,
    keep: bool = False,
) -> None:
    """Start collectives before what can run beside them, and wait for them before their first use.

    Orders the blocks of a local program that have collectives such that the computation waits
    least, in the estimated time of the hardware. Collectives with one operand and one result become
    asynchronous.

    ```mlir
    %1 = "stablehlo.all_gather"(%a) ...
    %2 = stablehlo.tanh %b
    %3 = stablehlo.add %1, %2
    ```

    becomes

    ```mlir
    %0 = "stablehlo.async_start"(%a) ({ ... "stablehlo.all_gather" ... })
    %2 = stablehlo.tanh %b
    %1 = "stablehlo.async_done"(%0)
    %3 = stablehlo.add %1, %2
    ```

    Operations with effects keep their order, and nothing moves across them. The peak memory doesn't
    exceed the limit if it didn't before.

    Options:
        memory: limit of the peak memory of a device, such as 60GiB; if empty, the larger one of the
            present peak and nine tenths of the device.
        window: seconds of computation before its first use at which a collective may start.
        order: computation that goes first: that with the longest path to the end, or the first one.
        in_flight: number of collectives of a lane that may have started before they can run.
        keep: whether a program that has asynchronous collectives stays as it is.

    Raises:
        UsageError: an option is invalid, or there is no such hardware.
        PassError: the program isn't local yet, or a future is used by other operations than waits
            in its block.
    """
    limit = bytes_of_text(memory, "memory") if memory else 0
    devices = load_hardware(hardware)
    check_is_local(module, "sdy-schedule-collectives")
    starts = _checked_starts(module)
    if not operations_named(COLLECTIVES, module) or (keep and starts):
        return
    use = resource_use_of(module)
    durations = Durations(use, collectives_of(module, mesh_of_local(module)), devices)
    if limit and use.memory.peak > limit:
        message = (
            f"the peak memory is {use.memory.peak:,} bytes before any collective is moved, more "
            f"than the limit of {limit:,}: nothing is moved"
        )
        emit(warning(message, location_of(module.operation.location)))
        return
    placement = place_within(use, durations, limit, window=window, order=order, in_flight=in_flight)
    for steps in placement.orders.values():
        _carry_out(use.table, steps)
    if are_remarks_wanted():
        _remark_on_variadic(module)


def _carry_out(table: OperationTable, steps: Sequence[BlockStep]) -> None:
    """Bring the operations of a block into the order of its steps."""
    operations = table.operations
    *moved, last = steps
    terminator = operations[last.number]
    waits: dict[int, ir.Operation] = {}
    for phase, number, done in moved:
        operation = operations[number]
        if phase == RUN or number != done:
            operations[done if phase == DONE else number].move_before(terminator)
        elif phase == DONE:
            waits[number].move_before(terminator)
        else:
            waits[number] = _started(operation, terminator)


def _started(collective: ir.Operation, place: ir.Operation) -> ir.Operation:
    """Put a collective into an `async_start` before an operation, and return its `async_done`."""
    with ir.InsertionPoint(place):
        done = await_result(start_copy(collective, collective.operands[0]))
    replace_by(collective, done)
    return done.owner.operation


def _remark_on_variadic(module: ir.Module) -> None:
    for operation in operations_named(COLLECTIVES, module):
        if len(operation.operands) > 1:
            kind = operation.name.removeprefix("stablehlo.")
            message = f"{kind} stays synchronous: it has {len(operation.operands)} operands"
            emit(remark(message, location_of(operation.location)))


# --- Checks ---------------------------------------------------------------------------------------


def _checked_starts(module: ir.Module) -> bool:
    """Return whether there are asynchronous operations, and erase waits and starts in excess.

    Raises:
        PassError: a future leaves its block.
    """
    for function in functions_of(module):
        kinds = function_type_of(function)
        for kind in (*kinds.inputs, *kinds.results):
            if str(kind).startswith(FUTURE):
                message = (
                    f"'@{symbol_name(function)}' has a future in its signature, which nothing can "
                    "run: await it in the function that starts it"
                )
                raise PassError(error(message, location_of(function.location)))
    starts = operations_named({ASYNC_START}, module)
    for start in starts:
        waits = [use.owner.operation for use in start.results[0].uses]
        for wait in waits:
            if wait.name != ASYNC_DONE or wait.block != start.block:
                message = (
                    f"a future is used by '{wait.name}' outside of the block of its start: await "
                    "it by a 'stablehlo.async_done' in this block"
                )
                raise PassError(error(message, location_of(start.location)))
        _keep_first_wait(start, waits)
    return bool(starts)


def _keep_first_wait(start: ir.Operation, waits: Sequence[ir.Operation]) -> None:
    """Erase a start without waits, and all waits but the first."""
    if not waits:
        start.erase()
        return
    first, *others = [each for each in start.block.operations if each.operation in waits]
    for other in others:
        replace_by(other.operation, first.operation.results[0])
