# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Analyses of a module, cached between passes.

While a pipeline runs, an analysis of a module is computed once and kept until a pass invalidates
it. Every pass does, except those that declare that they preserve analyses: they only copy, move and
erase operations, or change properties that no analysis reads, and call `forget_analyses` after any
other change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, TypeVar

from mlir_sdy.host import ir

PRESERVING_HOST_PASSES = frozenset({"symbol-dce"})
"""Passes of the host that preserve all analyses."""

Result = TypeVar("Result")
Pass = TypeVar("Pass", bound=Callable[..., None])

_preserving: set[Callable[..., None]] = set()
_Known = dict[Callable[..., Any], tuple[ir.Operation, Any]]
_known: ContextVar[_Known | None] = ContextVar("analyses", default=None)


def module_analysis(analyse: Callable[[ir.Operation], Result]) -> Callable[[ir.Operation], Result]:
    """Cache the results of a function of a module until they are invalidated."""

    @wraps(analyse)
    def kept(module: ir.Operation) -> Result:
        known = _known.get()
        if known is None:
            return analyse(module)
        made = known.get(analyse)
        if made is None or made[0] != module:  # Modules may be nested.
            made = known[analyse] = module, analyse(module)
        return made[1]

    return kept


def preserves_analyses(function: Pass) -> Pass:
    """Declare that a pass preserves analyses unless it calls `forget_analyses`."""
    _preserving.add(function)
    return function


def are_preserved_by(function: Callable[..., None]) -> bool:
    """Whether a pass preserves analyses."""
    return function in _preserving


@contextmanager
def analyses_kept() -> Iterator[None]:
    """Cache analyses inside the block."""
    token = _known.set({})
    try:
        yield
    finally:
        _known.reset(token)


def forget_analyses() -> None:
    """Invalidate all analyses."""
    known = _known.get()
    if known is not None:
        known.clear()
