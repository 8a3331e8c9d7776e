# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What passes find out about a module, kept for the next ones.

While a pipeline runs, an analysis of a module is made once and kept until a pass may have changed
what it says. Most passes may have: only what `PRESERVING` names leaves the analyses valid, and so
does a pass among these that calls `forget_analyses` when it has changed something after all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, TypeVar

from mlir_sdy.host import ir

PRESERVING = frozenset(
    {
        "sdy-lift-inlined-meshes",
        "sdy-call-sharded-composites",
        "sdy-inline-small-functions",
        "symbol-dce",
        "sdy-remove-propagation-barriers",
        "sdy-sharding-constraint-to-reshard",
        "sdy-close-shardings",
        "sdy-update-non-divisible-input-output-shardings",
        "sdy-insert-func-call-reshards",
    }
)
"""Passes after which all analyses hold.

They only copy, move and erase operations, or change those that analyses leave out; otherwise they
say so.
"""

Result = TypeVar("Result")

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
