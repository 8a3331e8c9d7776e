# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What passes find out about a module, kept for the next ones.

While a pipeline runs, an analysis of a module is made once and kept until a pass may have changed
what it says. Any pass may have, but for those that say that they preserve analyses: they only copy,
move and erase operations, or change what analyses leave out, and call `forget_analyses` if they
have changed something else after all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, TypeVar

from mlir_sdy.host import ir

PRESERVING_HOST_PASSES = frozenset({"symbol-dce"})
"""Passes of the host after which all analyses hold."""

Result = TypeVar("Result")
Pass = TypeVar("Pass", bound=Callable[..., None])

_preserving: set[Callable[..., None]] = set()
_Known = dict[Callable[..., Any], tuple[ir.Operation, Any]]
_known: ContextVar[_Known | None] = ContextVar("analyses", default=None)


def module_analysis(analyse: Callable[[ir.Operation], Result]) -> Callable[[ir.Operation], Result]:
    """Let the results of a function of a module be kept as long as they hold."""

    @wraps(analyse)
    def kept(module: ir.Operation) -> Result:
        known = _known.get()
        if known is None:
            return analyse(module)
        made = known.get(analyse)
        if made is None or made[0] != module:  # Modules may be in modules.
            made = known[analyse] = module, analyse(module)
        return made[1]

    return kept


def preserves_analyses(function: Pass) -> Pass:
    """Say of a pass that analyses hold after it, unless it calls `forget_analyses`."""
    _preserving.add(function)
    return function


def are_preserved_by(function: Callable[..., None]) -> bool:
    """Whether a pass has said so."""
    return function in _preserving


@contextmanager
def analyses_kept() -> Iterator[None]:
    """Keep analyses inside the block."""
    token = _known.set({})
    try:
        yield
    finally:
        _known.reset(token)


def forget_analyses() -> None:
    """Say that analyses may not hold any more."""
    known = _known.get()
    if known is not None:
        known.clear()
