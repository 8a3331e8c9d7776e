# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Callbacks of traced functions (`jax.debug.print`, `jax.pure_callback`, `io_callback`).

A program has a numbered custom call for each. This module keeps the Python functions of these
numbers in the process that traced them. The program refers to them by an attribute, which copies
and passes preserve.
"""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from mlir_sdy import sdy
from mlir_sdy.attributes import attribute_of
from mlir_sdy.discardable import (
    get_discardable,
    has_discardable,
    remove_discardable,
    set_discardable,
    text_of,
)
from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, TensorSharding, TensorShardingPerValue
from mlir_sdy.symbols import meshes_of
from mlir_sdy.values import SHARDING
from pyshardy.backends.custom_calls import check_callbacks, has_effect
from pyshardy.frontends.jax.dtypes import dtype_of
from pyshardy.irtools.modules import copy_of
from pyshardy.irtools.stablehlo_views import CustomCallView
from pyshardy.local_program.custom_calls import (
    CALLBACKS,
    CALLBACKS_ON_ONE_DEVICE,
    CustomCall,
    calls_to,
    described,
    takes_token,
    target_of,
)
from pyshardy.local_program.front_end_hooks import implementing_calls
from pyshardy.local_program.tensor_spec import Array, TensorSpec

Callback = Callable[..., Sequence[Any]]
"""Takes an array for each operand, and returns one for each result."""

_ATTRIBUTE = "jax.callbacks"
_CONFIG = "mhlo.backend_config"
"""The attribute with the number of a call that JAX wrote for older versions of StableHLO."""

_TYPED_FFI = 4
"""The version of XLA's interface for custom calls whose configuration is a dictionary."""

_PARTITIONS = "mhlo.num_partitions"
_DEVICE = "callback_device"
_known: dict[str, Sequence[Callback]] = {}


def remember_callbacks(functions: Sequence[Callable[..., Any]], module: ir.Module) -> None:
    """Register functions as the callbacks of a module and of programs derived from it.

    Args:
        functions: the functions, indexed by the number of the call. They take and return arrays,
            after a token if the call has one.
        module: the traced module.
    """
    if not functions:
        return
    with_token = {number_of(call) for call in calls_to(CALLBACKS, module) if takes_token(call)}
    # They live as long as the process, as programs compiled by JAX may.
    name = f"{_process()}.{len(_known)}"
    _known[name] = [
        _without_token(function) if number in with_token else function
        for number, function in enumerate(functions)
    ]
    set_discardable(module.operation, _ATTRIBUTE, ir.StringAttr.get(name, module.context))


def callbacks_of(module: ir.Module) -> Sequence[Callback] | None:
    """Return the callbacks of a module by number; None if it was not traced in this process."""
    name = text_of(module.operation, _ATTRIBUTE)
    return None if name is None else _known.get(name)


@implementing_calls(_ATTRIBUTE)
def implementations_of(module: ir.Module) -> dict[str, Callable[..., Any]]:
    """Return functions for the custom calls of a module that are callbacks, by targets.

    They take and return arrays as those of `CompileOptions.custom_calls` do. The result is empty if
    the program was not traced in this process.
    """
    name = text_of(module.operation, _ATTRIBUTE)
    return _implementations(name) if name in _known else {}


@cache
def _implementations(name: str) -> dict[str, Callable[..., Any]]:
    """Return functions that are identical in each call, as they are part of a cache key."""
    callbacks = _known[name]

    def run(*arrays: Array, call: CustomCall) -> list[Array]:
        assert not isinstance(call.config, str), "JAX gives each callback a number"
        given = [
            array.astype(dtype_of(spec.element))
            for array, spec in zip(arrays, call.declared_operands, strict=True)
        ]
        returned = callbacks[call.config["index"]](*given)
        return [
            np.asarray(each).astype(spec.dtype)
            for each, spec in zip(returned, call.results, strict=True)
        ]

    return dict.fromkeys(CALLBACKS, run)


def number_of(call: ir.Operation) -> int:
    """Return the number of the callback that a custom call stands for."""
    of_jax = get_discardable(call, _CONFIG)
    config: Any = CustomCallView(call).backend_config if of_jax is None else of_jax
    return ir.DictAttr(config)["index"].value


class Failures:
    """The first exception of callbacks while a program runs.

    If a device stopped at an exception, the others would wait at their next collective until XLA
    ends the process. So it continues with zeros, and the exception is raised after the run.
    """

    def __init__(self) -> None:
        self._first: Exception | None = None

    def guarded(self, function: Callback, results: Sequence[TensorSpec]) -> Callback:
        """Return a wrapper that records an exception of a function and returns zeros instead.

        Args:
            function: the function to wrap.
            results: the types of its results.
        """

        def call(*arrays: Any) -> Sequence[Any]:
            if self._first is None:
                try:
                    return function(*arrays)
                except Exception as failure:
                    self._first = failure
            return tuple(np.zeros(spec.shape, dtype_of(spec.element)) for spec in results)

        return call

    def check(self) -> None:
        """Raise the exception since the last check, if there is one."""
        first, self._first = self._first, None
        if first is not None:
            raise first


def functions_in(module: ir.Module, failures: Failures | None = None) -> list[Callback]:
    """Return the functions of the callbacks in a program, by number.

    A function takes and returns a token if its call does.

    Args:
        module: the program.
        failures: records the exceptions of the functions. Without it they are raised to XLA.

    Raises:
        ExecutionError: the program was not traced in this process.
    """
    known = callbacks_of(module)
    check_callbacks(module, () if known is None else CALLBACKS, "JAX")
    calls = calls_to(CALLBACKS, module)
    if not calls:
        return []
    functions = list(known or ())
    by_number = {number_of(call): call for call in calls}
    for number, call in by_number.items():
        if failures is not None:
            functions[number] = failures.guarded(functions[number], described(call).results)
        if takes_token(call):
            functions[number] = _with_token(functions[number])
    return functions


def have_effects(module: ir.Module) -> bool:
    """Whether a callback of a program has effects, so that it must be called."""
    return any(map(has_effect, calls_to(CALLBACKS, module)))


def numbered(module: ir.Module, first: int, platform: str) -> ir.Module:
    """Return a program with other numbers for its callbacks.

    Args:
        module: the program. It isn't changed.
        first: what to add to each number.
        platform: the platform by its name in JAX.
    """
    copy = copy_of(module)
    remove_discardable(copy.operation, _ATTRIBUTE)  # It differs from process to process.
    kind = "cpu" if platform == "cpu" else "gpu"
    for call in calls_to(CALLBACKS, copy):
        target = target_of(call).replace("cpu", kind).replace("gpu", kind)
        with call.context:
            view = CustomCallView(call)
            view.call_target_name = target
            # After serialization only the attribute that StableHLO declares is read.
            config = f"{{index = {first + number_of(call)} : ui64}}"
            view.backend_config = ir.Attribute.parse(config)
            remove_discardable(call, _CONFIG)
            view.api_version = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), _TYPED_FFI)
    return copy


def put_on_one_device(module: ir.Module) -> None:
    """Annotate callbacks with a maximal sharding, so that they run on one device only.

    JAX does so when it traces for several devices. A function traced for one device may be sharded
    afterwards, and its callbacks must not run on each device then.

    Args:
        module: the traced module. It is changed.
    """
    partitions = get_discardable(module.operation, _PARTITIONS)
    if partitions is not None and partitions.value > 1:
        return
    calls = [
        call
        for call in calls_to(CALLBACKS_ON_ONE_DEVICE, module)
        if not has_discardable(call, SHARDING)
    ]
    if not calls:
        return
    with module.context, ir.Location.unknown():
        name = _declare_device(module)
        for call in calls:
            # An operation without results has one sharding as well.
            count = max(1, len(call.results))
            each = TensorShardingPerValue((TensorSharding(name, ()),) * count)
            set_discardable(call, SHARDING, attribute_of(each))


def _declare_device(module: ir.Module) -> str:
    name, count = _DEVICE, 0
    while name in meshes_of(module):
        name, count = f"{_DEVICE}_{count}", count + 1
    place = ir.InsertionPoint.at_block_begin(module.body)
    sdy.mesh(name, attribute_of(Mesh((), (0,))), ip=place)
    return name


def _without_token(function: Callable[..., Any]) -> Callback:
    """Return a callback without the token of its call."""

    def call(*arrays: Any) -> Sequence[Any]:
        return function(None, *arrays)[1:]

    return call


def _with_token(function: Callback) -> Callback:
    def call(token: Any, *arrays: Any) -> Sequence[Any]:
        return (token, *function(*arrays))

    return call


# --- The process that functions are in -----------------------------------------------------------


def name_process(module: ir.Module, attribute: str) -> None:
    """Note in an attribute of a module that it refers to Python functions of this process."""
    set_discardable(module.operation, attribute, ir.StringAttr.get(_process(), module.context))


def is_of_this_process(module: ir.Module, attribute: str) -> bool:
    """Whether `name_process` has noted this process in an attribute of a module."""
    return text_of(module.operation, attribute) == _process()


@cache
def _process() -> str:
    """Return a name of this process that is unique except for forked processes."""
    return uuid.uuid4().hex
