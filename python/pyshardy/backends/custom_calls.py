# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of Python functions that implement custom calls, and checks of their results."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from mlir_sdy.diagnostics import SdyError, error, note
from pyshardy.irtools.user_files import raised_at
from pyshardy.local_program.custom_calls import CustomCall
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
