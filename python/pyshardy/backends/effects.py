# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors for side effects that a backend cannot perform."""

from __future__ import annotations

from collections.abc import Collection

from mlir_sdy.diagnostics import Diagnostic, error, note
from mlir_sdy.host import ir, location_of
from pyshardy.irtools.stablehlo_views import CustomCallView
from pyshardy.irtools.walks import operations_named
from pyshardy.local_program.custom_calls import (
    CALLBACKS,
    CUSTOM_CALL,
    CUSTOM_PARTITIONING,
    advice_on,
    calls_to,
    takes_token,
    target_of,
)
from pyshardy.local_program.errors import ExecutionError

TRANSFERS = frozenset(f"stablehlo.{name}" for name in ("infeed", "outfeed", "send", "recv"))
TRANSFER_ADVICE = "pass the data in as an argument and return it as a result"


def check_no_transfers(module: ir.Module, runner: str) -> None:
    """Check that a program does not communicate with a host while it runs.

    There is no host side here: XLA would block or end the process, and an operation whose results
    are unused might be dropped.

    Args:
        module: the program.
        runner: the name of the backend in diagnostics.

    Raises:
        ExecutionError: it does; one diagnostic for each such operation.
    """
    found: list[Diagnostic] = []
    for operation in operations_named(TRANSFERS, module):
        place = location_of(operation.location)
        message = f"{runner} can't run '{operation.name}': there is no host to exchange data with"
        found.append(error(message, place, [note(TRANSFER_ADVICE, place)]))
    if found:
        raise ExecutionError(*found)


def check_callbacks(module: ir.Module, implemented: Collection[str], runner: str) -> None:
    """Check that the host functions that a program of JAX calls are registered.

    Otherwise XLA would end the process at the first call.

    Args:
        module: the program.
        implemented: the targets of custom calls that functions implement.
        runner: the name of the backend in diagnostics.

    Raises:
        ExecutionError: one is not; one diagnostic for each such call.
    """
    unknown = calls_to({*CALLBACKS, CUSTOM_PARTITIONING} - set(implemented), module)
    if unknown:
        raise ExecutionError(*(_unknown_callback(call, runner) for call in unknown))


def _unknown_callback(call: ir.Operation, runner: str) -> Diagnostic:
    place, target = location_of(call.location), target_of(call)
    message = (
        f"{runner} can't run the custom call '@{target}': its function is known only to "
        "the process that has traced the program"
    )
    advice = "trace the program in this process, by sdy.jax.trace or sdy.jax.from_lowered"
    return error(message, place, [note(f"{advice}, or {advice_on(target)}", place)])


def check_effects(module: ir.Module, implemented: Collection[str], runner: str) -> None:
    """Check that the backend performs every side effect of a program.

    Args:
        module: the program.
        implemented: the targets of custom calls that functions implement.
        runner: the name of the backend in diagnostics.

    Raises:
        ExecutionError: it does not; one diagnostic for each such operation.
    """
    check_no_transfers(module, runner)
    check_callbacks(module, implemented, runner)
    found: list[Diagnostic] = []
    for call in operations_named({CUSTOM_CALL}, module):
        target = target_of(call)
        if target not in implemented and has_effect(call):
            place = location_of(call.location)
            message = f"{runner} doesn't support the custom call '@{target}' with a side effect"
            found.append(error(message, place, [note(advice_on(target), place)]))
    if found:
        raise ExecutionError(*found)


def has_effect(call: ir.Operation) -> bool:
    """Whether a custom call has a side effect."""
    return takes_token(call) or CustomCallView(call).has_side_effect
