# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tactics: functions that assign an axis to dimensions of values."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from mlir_sdy.diagnostics import UsageError, error, wrong_type
from mlir_sdy.programs import held_module
from mlir_sdy.suggest import did_you_mean
from pyshardy.schedules.view import TacticProgram


@dataclass(frozen=True, slots=True)
class Assignment:
    """An axis for a dimension of a value.

    Attributes:
        value: the name of the value, as `sdy.values` takes it.
        dim: the dimension; None to keep the value replicated along the axis.
        axis: the axis.
    """

    value: str
    dim: int | None
    axis: str


@dataclass(frozen=True, slots=True)
class SeparateReshards:
    """An argument that is resharded for each use by itself, instead of once for all of them.

    Attributes:
        value: the name of the argument.
    """

    value: str


TacticFunction = Callable[..., Iterable[Assignment | SeparateReshards]]
"""Returns the effects of a tactic for a `TacticProgram`, and keyword options."""


@dataclass(frozen=True, slots=True)
class Tactic:
    """A tactic with its options.

    Attributes:
        kind: the name under which its function is registered.
        name: the name in tables.
        options: the options of the function.
    """

    kind: str
    name: str
    options: Mapping[str, Any]

    def effects(self, program: TacticProgram) -> list[Assignment | SeparateReshards]:
        """Return the effects on a program.

        Raises:
            UsageError: a pattern matches nothing; the mesh has no such axis.
        """
        return list(tactic_function(self.kind)(program, **self.options))


_functions: dict[str, TacticFunction] = {}


def tactic(function: TacticFunction) -> Callable[..., Tactic]:
    """Register a function as a tactic, and return a function that makes it from its options.

        @sdy.tactic
        def shard_embedding(program, *, table, axis):
            \"\"\"Shard the rows of embedding tables.\"\"\"
            for value in program.arguments_of(table):
                yield sdy.Assignment(value.name, 0, axis)

        schedule = sdy.Schedule([shard_embedding(table="*.embed", axis="model", name="E")])

    The first parameter is the `TacticProgram`; the others are the options. `name` is its name in
    tables, by default that of the function.
    """
    if not callable(function):
        raise wrong_type("tactic", "a function whose first parameter is the program", function)
    kind = function.__name__
    _functions[kind] = function

    @functools.wraps(function)
    def make(*args: Any, name: str | None = None, **options: Any) -> Tactic:
        return Tactic(kind, name or kind, _bound(kind, function, args, options))

    return make


def make_tactic(kind: str, options: Mapping[str, Any], name: str | None = None) -> Tactic:
    """Return the tactic of a kind with options.

    Raises:
        UsageError: there is no such tactic or option, or one is missing.
    """
    function = tactic_function(kind)
    return Tactic(kind, name or kind, _bound(kind, function, (), options))


def tactic_function(kind: str) -> TacticFunction:
    """Return the function of a registered tactic.

    Raises:
        UsageError: there is none.
    """
    if kind not in _functions:
        known = did_you_mean(kind, _functions) or f"; the tactics are {', '.join(_functions)}"
        raise UsageError(error(f"there is no tactic '{kind}'{known}"))
    return _functions[kind]


def _bound(
    kind: str, function: TacticFunction, args: tuple[Any, ...], options: Mapping[str, Any]
) -> dict[str, Any]:
    signature = inspect.signature(function)
    parameters = list(signature.parameters)[1:]
    for option in options:
        if option not in parameters:
            hint = did_you_mean(option, parameters) or f"; it has {', '.join(parameters)}"
            raise UsageError(error(f"tactic '{kind}' has no option '{option}'{hint}"))
    if args and (kind == "auto" or held_module(args[0]) is not None):
        raise wrong_type(kind, "options, since it is a tactic", args[0], _calls(kind))
    try:
        bound = signature.bind(None, *args, **options)
    except TypeError as reason:
        raise UsageError(error(f"tactic '{kind}': {reason}")) from None
    return dict(list(bound.arguments.items())[1:])


def _calls(kind: str) -> str:
    """Return the calls by which a tactic is applied to a program."""
    schedule = f"'sdy.Schedule([sdy.{kind}(...)]).apply(program)' applies it"
    return f"did you mean 'sdy.auto_shard(program)'? {schedule}" if kind == "auto" else schedule
