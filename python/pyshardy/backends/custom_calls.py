# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of Python functions for custom calls, and errors for effects that no function has."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Sequence
from typing import Any, cast

import numpy as np

from mlir_sdy.diagnostics import Diagnostic, SdyError, error, note
from mlir_sdy.host import ir, location_of
from pyshardy.irtools.stablehlo_views import CustomCallView
from pyshardy.irtools.user_files import raised_at
from pyshardy.irtools.walks import operations_named
from pyshardy.local_program.custom_calls import (
    CALLBACKS,
    CUSTOM_CALL,
    CUSTOM_PARTITIONING,
    CustomCall,
    advice_on,
    calls_to,
    takes_token,
    target_of,
)
from pyshardy.local_program.errors import ExecutionError
from pyshardy.local_program.tensor_spec import Array

Function = Callable[..., Any]
"""Takes an array for each operand; see `CompileOptions.custom_calls`."""


def results_of(function: Function, call: CustomCall, arrays: Sequence[Array]) -> list[Array]:
    """Return the results of a custom call on one device, computed by a Python function.

    1. The function takes the arrays by position. They are read-only, since they may be shared.
    2. It takes the call as `call`, if it has a keyword-only parameter of that name.
    3. It returns a tuple or list of arrays, or an array for one result, or None for no results.
    4. Each array has the shape of its result and the NumPy type of its element type.

    Example:
        lambda x, y: x * y
        lambda x, *, call: x + call.config["offset"]

    Raises:
        ExecutionError: the function fails, or returns something else.
    """
    held = [_read_only(array) for array in arrays]
    known = {"call": call} if _wants_call(function) else {}
    try:
        returned = function(*held, **known)
        results = [np.array(each) for each in _several(returned)]
    except SdyError:
        raise
    except Exception as failure:
        what = f"{type(failure).__name__}: {failure}".rstrip(": ")
        message = f"the function for the custom call '@{call.target}' failed: {what}"
        raise ExecutionError(error(message, call.place, raised_at(failure))) from failure
    _check(results, call)
    return results


def _read_only(array: Array) -> Array:
    view: Array = array[...]
    view.flags.writeable = False
    return view


def _wants_call(function: Function) -> bool:
    try:
        parameters = inspect.signature(function).parameters
    except ValueError:  # Some functions that are written in C have no signature.
        return False
    return "call" in parameters and parameters["call"].kind is inspect.Parameter.KEYWORD_ONLY


def _several(returned: Any) -> Sequence[Any]:
    if isinstance(returned, tuple | list):
        return cast(Sequence[Any], returned)
    return () if returned is None else (returned,)


def _check(results: Sequence[Array], call: CustomCall) -> None:
    """Raise an error unless the results are those of the call."""
    named = f"the function for the custom call '@{call.target}'"
    if len(results) != len(call.results):
        message = f"{named} returned {len(results)} arrays, but the results are"
        types = ", ".join(map(str, call.results)) or "none"
        raise ExecutionError(error(f"{message} {len(call.results)}: {types}", call.place))
    for index, (array, spec) in enumerate(zip(results, call.results, strict=True)):
        if array.shape == spec.shape and array.dtype == spec.dtype:
            continue
        message = (
            f"{named} returned {array.dtype} of shape {array.shape} for result {index}, which is "
            f"{spec}: {spec.dtype} of shape {spec.shape}"
        )
        hint = (
            "it computes the shards of one device; a keyword-only parameter 'call' has their types "
            "in 'call.results'"
            if array.shape != spec.shape
            else f"convert it by: .astype(numpy.{spec.dtype})"
        )
        raise ExecutionError(error(message, call.place, [note(hint, call.place)]))


# --- Side effects that a backend cannot perform ---------------------------------------------------


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
