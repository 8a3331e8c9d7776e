# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Analyses of a module, cached between passes.

While a pipeline runs, an analysis of a module is computed once and kept until a pass invalidates
it. As in MLIR, every pass invalidates all analyses except those that it preserves:

- `@preserves(...)` on the function of a pass names the analyses that it always preserves;
- `@inserts(...)` names the operations that it may insert, which keeps `operation-names`; several
  of them state under which conditions;
- `replace_analysis(...)` gives the result after the pass, where it is known;
- `mark_all_preserved()`, called by a pass for each operation that it runs on, says that it has
  changed nothing there;
- `mark_preserved(...)`, called in the same way, names the analyses that are still valid there.

A declaration that is missing costs time only. `sdy-opt --verify-analyses` finds those that are
wrong: after each pass, it recomputes the analyses that the pass preserves and compares them.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import wraps
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Protocol, TypeVar, get_args

from mlir_sdy.ambient import Ambient
from mlir_sdy.host import ir
from mlir_sdy.traversal import names_among

AnalysisName = Literal[
    "device-meshes",
    "interface-shardings",
    "operation-names",
    "result-kinds",
    "sharding-lists",
    "sharding-rules",
]
ALL_ANALYSES: frozenset[AnalysisName] = frozenset(get_args(AnalysisName))

PRESERVED_BY_HOST_PASSES: Mapping[str, frozenset[AnalysisName]] = MappingProxyType(
    {"symbol-dce": ALL_ANALYSES}
)
"""The analyses that passes of the host preserve, for those that preserve any."""


class Insertions(NamedTuple):
    """Operations that a pass may insert.

    Attributes:
        names: their names.
        where: the operations one of which must occur before the pass; None without a condition.
    """

    names: frozenset[str]
    where: frozenset[str] | None = None


INSERTED_BY_HOST_PASSES: Mapping[str, tuple[Insertions, ...]] = MappingProxyType({"symbol-dce": ()})
"""The operations that passes of the host may insert, where they are known."""

Result = TypeVar("Result")
Pass = TypeVar("Pass", bound=Callable[..., None])


class AnalysisObserver(Protocol):
    """Callbacks around the computation of analyses."""

    def before_analysis(self, name: AnalysisName, module: ir.Operation) -> None:
        """Called before an analysis is computed."""

    def after_analysis(self, name: AnalysisName, module: ir.Operation) -> None:
        """Called after an analysis has been computed, or has failed."""


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
    """The analyses of a pipeline.

    Attributes:
        observers: those that are told when an analysis is computed.
        computed: the results, by the name of the analysis.
        inserted: the names of the operations that the current pass may insert; None if unknown.
        num_unchanged: the number of operations on which the current pass has changed nothing.
        marked: for each analysis, the number of operations on which it has preserved it.
        replaced: the analyses whose results the current pass has replaced.
    """

    observers: Sequence[AnalysisObserver] = ()
    computed: dict[str, _Computed] = field(default_factory=dict[str, _Computed])
    inserted: frozenset[str] | None = None
    num_unchanged: int = 0
    marked: Counter[AnalysisName] = field(default_factory=Counter[AnalysisName])
    replaced: set[str] = field(default_factory=set[str])


_cache = Ambient[_Cache | None]("analyses", None)
_analyses: dict[str, tuple[Callable[[ir.Operation], Any], Callable[[Any, Any], bool]]] = {}
_preserved: dict[Callable[..., None], frozenset[AnalysisName]] = {}
_inserted: dict[Callable[..., None], tuple[Insertions, ...]] = {}


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
                for observer in cache.observers:
                    observer.before_analysis(name, module)
                try:
                    known = _Computed(module, analyze(module), analyze, holds)
                finally:
                    for observer in reversed(cache.observers):
                        observer.after_analysis(name, module)
                cache.computed[name] = known
            return known.result

        _analyses[name] = analyze, holds
        return cached

    return declare


def is_computed(name: AnalysisName, module: ir.Operation) -> bool:
    """Whether the result of an analysis of a module is cached."""
    cache = _cache.get()
    known = None if cache is None else cache.computed.get(name)
    return known is not None and known.module == module


def note_analysis(name: AnalysisName, module: ir.Operation, result: object) -> None:
    """Cache a result that the computation of another analysis has found on the way."""
    cache = _cache.get()
    if cache is not None:
        cache.computed[name] = _Computed(module, result, *_analyses[name])


def replace_analysis(name: AnalysisName, module: ir.Operation, result: object) -> None:
    """Keep a result that the current pass knows for the module as it leaves it."""
    cache = _cache.get()
    if cache is not None:
        analyze, holds = _analyses[name]
        cache.computed[name] = _Computed(module, result, analyze, holds)
        cache.replaced.add(name)


def preserves(*names: AnalysisName) -> Callable[[Pass], Pass]:
    """Declare the analyses that a pass preserves, whatever it changes."""

    def declare(function: Pass) -> Pass:
        _preserved[function] = frozenset(names)
        return function

    return declare


def inserts(*names: str, where: Collection[str] | None = None) -> Callable[[Pass], Pass]:
    """Declare the operations that a pass may insert: those of all its declarations and no others.

    Args:
        names: the names of the operations.
        where: the pass inserts them only if one of these operations occurs before it.
    """
    declared = Insertions(frozenset(names), None if where is None else frozenset(where))

    def declare(function: Pass) -> Pass:
        _inserted[function] = (*_inserted.get(function, ()), declared)
        return function

    return declare


def inserted_by(function: Callable[..., None]) -> tuple[Insertions, ...] | None:
    """Return the operations that a pass may insert; None if they are unknown."""
    return _inserted.get(function)


def inserted_by_current_pass() -> frozenset[str] | None:
    """Return `inserted_by` for the pass that runs; None if it is unknown, or outside pipelines."""
    cache = _cache.get()
    return None if cache is None else cache.inserted


def preserved_by(function: Callable[..., None]) -> frozenset[AnalysisName]:
    """Return the analyses that a pass is declared to preserve."""
    return _preserved.get(function, frozenset())


def mark_all_preserved() -> None:
    """Keep all analyses after the current pass if it calls this for each operation it runs on."""
    cache = _cache.get()
    if cache is not None:
        cache.num_unchanged += 1


def mark_preserved(*names: AnalysisName) -> None:
    """Keep analyses after the current pass if it calls this for all operations it runs on."""
    cache = _cache.get()
    if cache is not None:
        cache.marked.update(names)


def analyses_cached(
    observers: Sequence[AnalysisObserver] = (),
) -> AbstractContextManager[None]:
    """Cache analyses inside the block.

    Args:
        observers: those that are told when an analysis is computed; in reverse order afterwards.
    """
    return _cache.bound(_Cache(observers))


def prepare_analyses(insertions: Collection[Insertions] | None) -> None:
    """Prepare the analyses for a pass.

    Args:
        insertions: the operations that it may insert; None if they are unknown.
    """
    cache = _cache.get()
    if cache is None:
        return
    if insertions is None:
        cache.inserted = None
        return
    known = cache.computed.get("operation-names")
    cache.inserted = frozenset[str]().union(
        *(
            each.names
            for each in insertions
            if each.where is None or known is None or not known.result.isdisjoint(each.where)
        )
    )


def _add_inserted_names(cache: _Cache, inserted: frozenset[str]) -> None:
    """Add the names of operations that the current pass has inserted to `operation-names`.

    To look for those that it may insert takes a tenth of the time of reading the names again, and
    saves later passes from looking for operations that aren't there.
    """
    names = cache.computed.get("operation-names")
    if names is not None and not inserted <= names.result:
        found = names_among(inserted - names.result, names.module)
        cache.computed["operation-names"] = replace(names, result=names.result | found)


def invalidate_analyses(
    preserved: frozenset[AnalysisName], *, num_targets: int = 1, verify: bool
) -> list[str]:
    """Drop the analyses that the pass that just ran doesn't preserve.

    Args:
        preserved: those that it is declared to preserve; all if it has called
            `mark_all_preserved` for each operation that it ran on, and those of `mark_preserved`.
        num_targets: the number of these operations.
        verify: recompute those that are kept.

    Returns:
        The names of the analyses that should have been preserved, but differ; none without
        `verify`.
    """
    cache = _cache.get()
    if cache is None:
        return []
    is_unchanged = cache.num_unchanged >= num_targets
    marked = {
        name for name, count in cache.marked.items() if count + cache.num_unchanged >= num_targets
    }
    kept = ALL_ANALYSES if is_unchanged else preserved | marked
    if cache.inserted is not None:
        kept |= {"operation-names"}
        if not is_unchanged:
            _add_inserted_names(cache, cache.inserted)
    cache.computed = {
        name: each
        for name, each in cache.computed.items()
        if name in kept or name in cache.replaced
    }
    cache.inserted, cache.num_unchanged, cache.replaced = None, 0, set()
    cache.marked.clear()
    if not verify:
        return []
    with _cache.bound(None):  # so that analyses of analyses are recomputed as well
        return [
            name
            for name, each in cache.computed.items()
            if not each.holds(each.result, each.analyze(each.module))
        ]
