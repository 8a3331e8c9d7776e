# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Large arrays that a traced function closes over, which become constants."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import contextlib
import functools
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mlir_sdy.diagnostics import emit, warning
from mlir_sdy.host import ir, location_of
from pyshardy.frontends.jax.dtypes import dtype_of
from pyshardy.irtools.constants import large_constants, share_large_constants
from pyshardy.irtools.functions import (
    CallGraph,
    can_be_inlined,
    functions_of,
    must_stay,
    replace_by_body,
)
from pyshardy.irtools.stablehlo_views import ConstantView, callee_of
from pyshardy.irtools.walks import operations_named
from pyshardy.local_program.values import spec_of
from pyshardy.pipeline import run_pipeline

LARGE_BYTES = 64_000_000
"""The bytes of a constant from which a program that has it is worth a warning."""

_MOST_LEVELS = 4
"""The levels of functions, objects and containers in which arrays are looked for."""


def share_constants(module: ir.Module) -> None:
    """Let a program have each large array once that several of its functions close over.

    A function of `jax.jit` that has a large constant of another function is inlined, unless it must
    not be; equal constants of a function are merged.
    """
    graph = CallGraph(module)
    if graph.is_recursive:
        return
    holders: dict[object, set[str]] = {}
    for name in graph.post_order:
        for constant in large_constants(graph.functions[name]):
            holders.setdefault(ConstantView(constant).value, set()).add(name)
    shared = [names for names in holders.values() if len(names) > 1]
    inlined = False
    for name in graph.post_order:
        for call in graph.calls[name]:
            callee = callee_of(call)
            function = graph.functions.get(callee)
            having = [names for names in shared if callee in names]
            if not having or function is None or must_stay(call) or not can_be_inlined(function):
                continue
            copy = function.clone(ip=False).operation
            replace_by_body(call, copy.regions[0].blocks[0])
            for names in having:
                names.add(name)
            inlined = True
    if inlined:
        run_pipeline(module, "builtin.module(symbol-dce)")
    for function in functions_of(module):
        share_large_constants(function)


def warn_of_large_constants(function: Callable[..., Any], module: ir.Module) -> None:
    """Emit a warning, with the variable, for each large array that is a constant of a program.

    Args:
        function: the function that was traced.
        module: its program.
    """
    for constant in operations_named({"stablehlo.constant"}, module):
        spec = spec_of(constant.results[0].type)
        literal = ConstantView(constant).value
        if spec.nbytes < LARGE_BYTES or literal.is_splat:
            continue
        names = _names_of_arrays(function, spec.shape, dtype_of(spec.element))
        what = " or ".join(f"'{name}'" for name in names) or "an array"
        users = [use.owner.operation for use in constant.results[0].uses]
        place = location_of(users[0].location if users else constant.location)
        message = (
            f"the function closes over {what} of type {spec}, {spec.nbytes / 1e6:,.0f} MB: it is "
            "a constant, which each device holds as a whole; pass it as an argument to shard it"
        )
        emit(warning(message, place))


def _names_of_arrays(function: Callable[..., Any], shape: tuple[int, ...], dtype: Any) -> list[str]:
    """Return the variables that a function refers to with an array of a type."""
    import jax  # noqa: PLC0415

    def fits(value: Any) -> bool:
        is_array = isinstance(value, np.ndarray | jax.Array) and value.shape == shape
        return is_array and jax.dtypes.canonicalize_dtype(value.dtype) == dtype

    variables = _variables(function, "self", _MOST_LEVELS, set())
    return list(dict.fromkeys(name for name, value in variables if fits(value)))


def _variables(value: Any, name: str, levels: int, seen: set[int]) -> Iterator[tuple[str, Any]]:
    """Yield what a function, an object or a container refers to, by the names in its code."""
    if id(value) in seen or not levels:
        return
    seen.add(id(value))
    for inner_name, inner in _parts(value, name):
        yield inner_name, inner
        yield from _variables(inner, inner_name, levels - 1, seen)


def _parts(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, functools.partial):
        yield name, value.func
        yield from zip(_parameters_of(value.func), value.args, strict=False)
        yield from value.keywords.items()
    elif isinstance(value, types.MethodType):
        yield "self", value.__self__
        yield name, value.__func__
    elif isinstance(value, types.FunctionType):
        yield from _variables_of(value)
    elif isinstance(value, dict):
        yield from ((f"{name}[{key!r}]", each) for key, each in value.items())
    elif isinstance(value, list | tuple):
        yield from ((f"{name}[{index}]", each) for index, each in enumerate(value))
    elif not isinstance(value, type | types.ModuleType):
        attributes = {**getattr(value, "__dict__", {})}
        if (wrapped := attributes.pop("__wrapped__", None)) is not None:  # by jax.jit
            yield name, wrapped
        yield from ((f"{name}.{key}", each) for key, each in attributes.items())
        call = inspect.getattr_static(type(value), "__call__", None)
        if isinstance(call, types.FunctionType):
            yield name, call


def _parameters_of(function: Callable[..., Any]) -> list[str]:
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # some functions in C have no signature
        return []


def _variables_of(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield the variables of enclosing functions and of the module that a function refers to."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):  # A variable may have no value yet.
            yield name, cell.cell_contents
    for name in _names_in(function.__code__):
        if name in function.__globals__:
            yield name, function.__globals__[name]
    if function.__defaults__:
        yield from zip(
            reversed(function.__code__.co_varnames[: function.__code__.co_argcount]),
            reversed(function.__defaults__),
            strict=False,
        )


def _names_in(code: types.CodeType) -> Iterator[str]:
    """Yield the names in a code, and in the functions that it defines."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names_in(constant)
