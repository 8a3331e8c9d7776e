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
from typing import Literal

from mlir_sdy.diagnostics import (
    PassError,
    UsageError,
    are_remarks_wanted,
    emit,
    error,
    remark,
    warning,
)
from mlir_sdy.discardable import get_discardable
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import Mesh, MeshAxis
from mlir_sdy.symbols import meshes_of
from mlir_sdy.values import ASYNC_DONE, ASYNC_START, argument_shardings, result_shardings
from pyshardy.contracts.contract import bytes_of_text
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE, HardwareOption
from pyshardy.cost.hardware import load_hardware
from pyshardy.irtools.functions import ENTRY, functions_of
from pyshardy.irtools.stablehlo_views import COLLECTIVES, function_type_of, symbol_name
from pyshardy.irtools.walks import operations_named
from pyshardy.local_program.communication import collectives_of
from pyshardy.local_program.process_groups import Layout, process_groups, process_pairs
from pyshardy.partition.types.device_meshes import device_mesh_of
from pyshardy.pipeline import register_pass
from pyshardy.timeline.durations import Durations, resource_use_of
from pyshardy.timeline.operation_table import DONE, RUN, BlockStep, OperationTable
from pyshardy.timeline.run import place_within
from pyshardy.timeline.scheduling import WINDOW

_LOCAL = "sdy.parameters_shardings"
"""The attribute of modules that the partitioner has made local."""

_FUTURE = "!stablehlo.future"


@register_pass("sdy-schedule-collectives", release="pyshardy")
def schedule_collectives(
    module: ir.Module,
    *,
    hardware: HardwareOption = DEFAULT_HARDWARE,
    memory: str = "",
    window: float = WINDOW,
    order: Literal["need", "program"] = "need",
    in_flight: int = 1,
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
    if in_flight < 1:
        raise UsageError(error(f"'in-flight' must be 1 or more, got: {in_flight}"))
    if not window >= 0:
        raise UsageError(error(f"'window' must be 0 or more seconds, got: {window}"))
    limit = bytes_of_text(memory) if memory else 0
    devices = load_hardware(hardware)
    _check_is_local(module)
    starts = _checked_starts(module)
    if not operations_named(COLLECTIVES, module) or (keep and starts):
        return
    use = resource_use_of(module)
    durations = Durations(use, collectives_of(module, _mesh_of(module)), devices)
    if limit and use.memory.peak > limit:
        message = (
            f"the peak memory is {use.memory.peak:,} bytes before any collective is moved, more "
            f"than the limit of {limit:,}: nothing is moved"
        )
        emit(warning(message, location_of(module.operation.location)))
        return
    placement = place_within(use, durations, limit, window=window, order=order, in_flight=in_flight)
    futures: dict[ir.Type, ir.Type] = {}
    for steps in placement.orders.values():
        _carry_out(use.table, steps, futures)
    if are_remarks_wanted():
        _remark_on_variadic(module)


def _carry_out(
    table: OperationTable,
    steps: Sequence[BlockStep],
    futures: dict[ir.Type, ir.Type],
) -> None:
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
            waits[number] = _started(operation, terminator, futures)


def _started(
    collective: ir.Operation, place: ir.Operation, futures: dict[ir.Type, ir.Type]
) -> ir.Operation:
    """Put a collective into an `async_start` before an operation, and return its `async_done`."""
    result = collective.results[0]
    kind = result.type
    if kind not in futures:
        futures[kind] = ir.Type.parse(f"{_FUTURE}<{kind}>", collective.context)
    operand = collective.operands[0]
    with collective.location, ir.InsertionPoint(place):
        start = ir.Operation.create(
            ASYNC_START, results=[futures[kind]], operands=[operand], regions=1
        )
        done = ir.Operation.create(ASYNC_DONE, results=[kind], operands=[start.result])
        result.replace_all_uses_with(done.result)
        body = start.regions[0].blocks.append(operand.type, arg_locs=[collective.location])
        body.append(collective)
        collective.operands[0] = body.arguments[0]
        ir.Operation.create(
            "stablehlo.return", operands=[collective.results[0]], ip=ir.InsertionPoint(body)
        )
    return done


def _remark_on_variadic(module: ir.Module) -> None:
    for operation in operations_named(COLLECTIVES, module):
        if len(operation.operands) > 1:
            kind = operation.name.removeprefix("stablehlo.")
            message = f"{kind} stays synchronous: it has {len(operation.operands)} operands"
            emit(remark(message, location_of(operation.location)))


# --- Checks ---------------------------------------------------------------------------------------


def _check_is_local(module: ir.Module) -> None:
    """Raise an error if the program has shardings, and hasn't been partitioned."""
    if get_discardable(module.operation, _LOCAL) is not None:
        return
    for function in functions_of(module):
        if any((*argument_shardings(function), *result_shardings(function))):
            message = (
                "'sdy-schedule-collectives' comes after the partitioner, for local programs: "
                f"'@{symbol_name(function)}' has shardings, and its types are global"
            )
            raise PassError(error(message, location_of(function.location)))


def _checked_starts(module: ir.Module) -> bool:
    """Return whether there are asynchronous operations, and erase waits and starts in excess.

    Raises:
        PassError: a future leaves its block.
    """
    for function in functions_of(module):
        kinds = function_type_of(function)
        for kind in (*kinds.inputs, *kinds.results):
            if str(kind).startswith(_FUTURE):
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
        other.operation.results[0].replace_all_uses_with(first.operation.results[0])
        other.operation.erase()


def _mesh_of(module: ir.Module) -> Mesh:
    """Return the mesh of a local program; one axis of all devices if it has no mesh any more."""
    main = next((each for each in functions_of(module) if symbol_name(each) == ENTRY), None)
    name = None if main is None else device_mesh_of(main)
    if name is not None:
        return meshes_of(module)[name]
    layout, last = Layout(1, 1 << 30), 0
    for operation in operations_named(COLLECTIVES, module):
        if operation.name == "stablehlo.collective_permute":
            members = [device for pair in process_pairs(operation, layout) for device in pair]
        else:
            members = [device for group in process_groups(operation, layout) for device in group]
        last = max([last, *members])
    return Mesh((MeshAxis("devices", last + 1),))
