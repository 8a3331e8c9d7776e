# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Analyses of a module, cached between passes.

While a pipeline runs, an analysis of a module is computed once and kept until a pass invalidates
it. As in MLIR, every pass invalidates all analyses except those that it preserves:

- `@preserves(...)` on the function of a pass names the analyses that it always preserves;
- `mark_all_preserved()`, called by a pass on the module, says that this run has changed nothing.

A declaration that is missing costs time only. `sdy-opt --verify-analyses` finds those that are
wrong: after each pass, it recomputes the analyses that the pass preserves and compares them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from types import MappingProxyType
from typing import Any, Literal, TypeVar

from mlir_sdy.host import ir

AnalysisName = Literal["device-meshes", "result-kinds"]
ALL_ANALYSES = frozenset[AnalysisName]({"device-meshes", "result-kinds"})

PRESERVED_BY_HOST_PASSES: Mapping[str, frozenset[AnalysisName]] = MappingProxyType(
    {"symbol-dce": ALL_ANALYSES}
)
"""The analyses that passes of the host preserve, for those that preserve any."""

Result = TypeVar("Result")
Pass = TypeVar("Pass", bound=Callable[..., None])


@dataclass(frozen=True, slots=True)
class _Computed:
    """A cached analysis.

    Attributes:
        module: the module, since modules may be nested.
        result: the cached result.
        analyze: the function that computes it.
        holds: whether a cached result is valid, given it and a recomputed one.
    """

    module: ir.Operation
    result: Any
    analyze: Callable[[ir.Operation], Any]
    holds: Callable[[Any, Any], bool]


@dataclass(slots=True)
class _Cache:
    computed: dict[str, _Computed] = field(default_factory=dict[str, _Computed])
    all_preserved: bool = False


_cache: ContextVar[_Cache | None] = ContextVar("analyses", default=None)
_preserved: dict[Callable[..., None], frozenset[AnalysisName]] = {}


def module_analysis(
    name: AnalysisName, holds: Callable[[Any, Any], bool] = operator.eq
) -> Callable[[Callable[[ir.Operation], Result]], Callable[[ir.Operation], Result]]:
    """Cache the results of a function of a module until they are invalidated.

    Args:
        name: the name of the analysis.
        holds: whether a cached result (first argument) is still valid if a recomputation gives
            another one (second argument). By default, they must be equal.
    """

    def declare(analyze: Callable[[ir.Operation], Result]) -> Callable[[ir.Operation], Result]:
        @wraps(analyze)
        def cached(module: ir.Operation) -> Result:
            cache = _cache.get()
            if cache is None:
                return analyze(module)
            known = cache.computed.get(name)
            if known is None or known.module != module:
                known = _Computed(module, analyze(module), analyze, holds)
                cache.computed[name] = known
            return known.result

        return cached

    return declare


def preserves(*names: AnalysisName) -> Callable[[Pass], Pass]:
    """Declare the analyses that a pass preserves, whatever it changes."""

    def declare(function: Pass) -> Pass:
        _preserved[function] = frozenset(names)
        return function

    return declare


def preserved_by(function: Callable[..., None]) -> frozenset[AnalysisName]:
    """Return the analyses that a pass is declared to preserve."""
    return _preserved.get(function, frozenset())


def mark_all_preserved() -> None:
    """Keep all analyses after the current pass, which runs on the module and changed nothing."""
    cache = _cache.get()
    if cache is not None:
        cache.all_preserved = True


@contextmanager
def analyses_cached() -> Iterator[None]:
    """Cache analyses inside the block."""
    token = _cache.set(_Cache())
    try:
        yield
    finally:
        _cache.reset(token)


def invalidate_analyses(preserved: frozenset[AnalysisName], *, verify: bool) -> list[str]:
    """Drop the analyses that the pass that just ran doesn't preserve.

    Args:
        preserved: those that it is declared to preserve; all if it has called
            `mark_all_preserved`.
        verify: recompute those that are kept.

    Returns:
        The names of the analyses that should have been preserved, but differ; none without
        `verify`.
    """
    cache = _cache.get()
    if cache is None:
        return []
    kept = ALL_ANALYSES if cache.all_preserved else preserved
    cache.all_preserved = False
    cache.computed = {name: each for name, each in cache.computed.items() if name in kept}
    if not verify:
        return []
    return [
        name
        for name, each in cache.computed.items()
        if not each.holds(each.result, each.analyze(each.module))
    ]
