# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Analyses of a module, cached between passes.

While a pipeline runs, an analysis of a module is computed once and kept until a pass makes it
stale. The value that a pass returns says what it has changed:

- `UNCHANGED`: nothing that an analysis depends on;
- `Changes(inserted, stale)`: it may have inserted operations of some names, and some analyses are
  stale. What it has erased, moved or copied needs no mention: analyses may have more than there is;
- None: anything, as for passes of users that return nothing.

`note_analysis` replaces a result by the one after the pass, where the pass knows it.

An analysis that is declared to be stale without need costs time only. `sdy-opt --verify-analyses`
finds those that are stale undeclared: after each pass, it computes them again and compares.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Literal, NamedTuple, Protocol, TypeVar, get_args

from mlir_sdy.ambient import Ambient
from mlir_sdy.host import ir
from mlir_sdy.traversal import names_among

AnalysisName = Literal[
    "device-meshes", "interface-shardings", "operation-names", "result-kinds", "sharding-rules"
]

OF_INTERFACE: frozenset[AnalysisName] = frozenset({"device-meshes", "interface-shardings"})
"""The analyses that are stale after new shardings of functions, calls and sdy operations."""

OF_SHARDINGS: frozenset[AnalysisName] = OF_INTERFACE | frozenset[AnalysisName]({"result-kinds"})
"""The analyses that are stale after new shardings of any operations."""


class Changes(NamedTuple):
    """Changes of a pass to a module, as far as analyses depend on them.

    Attributes:
        inserted: the names of the operations that it may have inserted; None if they are unknown.
        stale: the analyses that may not hold any more. Which mesh a function runs on may depend on
            an operation that was erased.
    """

    inserted: AbstractSet[str] | None = frozenset()
    stale: AbstractSet[AnalysisName] = frozenset({"device-meshes"})

    @classmethod
    def all_of(cls, several: Iterable[object]) -> Changes:
        """Return the changes of several runs of a pass, given what they have returned."""
        inserted, stale = frozenset[str](), frozenset[AnalysisName]()
        for each in several:
            if not isinstance(each, Changes) or each.inserted is None:
                return UNKNOWN
            inserted, stale = inserted | each.inserted, stale | each.stale
        return cls(inserted, stale)


UNCHANGED = Changes(stale=frozenset())
"""Nothing that an analysis depends on."""

UNKNOWN = Changes(None, frozenset(get_args(AnalysisName)))
"""Anything: all analyses are stale."""

Result = TypeVar("Result")


class AnalysisObserver(Protocol):
    """Callbacks around the computation of analyses."""

    def before_analysis(self, name: AnalysisName, module: ir.Operation) -> None:
        """Called before an analysis is computed."""

    def after_analysis(self, name: AnalysisName, module: ir.Operation) -> None:
        """Called after an analysis has been computed, or has failed."""


class _Analysis(NamedTuple):
    """A declared analysis.

    Attributes:
        compute: the function that computes it.
        holds: whether a cached result is valid, given it and a recomputed one.
    """

    compute: Callable[[ir.Operation], Any]
    holds: Callable[[Any, Any], bool]


class _Computed(NamedTuple):
    """A cached result, and its module, since modules may be nested."""

    module: ir.Operation
    result: Any


@dataclass(slots=True)
class _Cache:
    """The analyses of a pipeline.

    Attributes:
        observers: those that are told when an analysis is computed.
        verifies: whether to recompute the analyses that are kept after a pass.
        computed: the results, by the name of the analysis.
        tells_changes: whether the current pass tells what it inserts.
    """

    observers: Sequence[AnalysisObserver] = ()
    verifies: bool = False
    computed: dict[AnalysisName, _Computed] = field(default_factory=dict["AnalysisName", _Computed])
    tells_changes: bool = False


_cache = Ambient[_Cache | None]("analyses", None)
_analyses: dict[AnalysisName, _Analysis] = {}


def module_analysis(
    name: AnalysisName, holds: Callable[[Any, Any], bool] = operator.eq
) -> Callable[[Callable[[ir.Operation], Result]], Callable[[ir.Operation], Result]]:
    """Cache the results of a function of a module until they are stale.

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
                    known = _Computed(module, analyze(module))
                finally:
                    for observer in reversed(cache.observers):
                        observer.after_analysis(name, module)
                cache.computed[name] = known
            return known.result

        _analyses[name] = _Analysis(analyze, holds)
        return cached

    return declare


def is_computed(name: AnalysisName, module: ir.Operation) -> bool:
    """Whether the result of an analysis of a module is cached."""
    cache = _cache.get()
    known = None if cache is None else cache.computed.get(name)
    return known is not None and known.module == module


def note_analysis(name: AnalysisName, module: ir.Operation, result: object) -> None:
    """Cache a result that is known without computing it."""
    cache = _cache.get()
    if cache is not None:
        cache.computed[name] = _Computed(module, result)


def analyses_cached(
    observers: Sequence[AnalysisObserver] = (), *, verifies: bool = False
) -> AbstractContextManager[None]:
    """Cache analyses inside the block.

    Args:
        observers: those that are told when an analysis is computed; in reverse order afterwards.
        verifies: whether `end_pass` compares the analyses that are kept with recomputed ones.
    """
    return _cache.bound(_Cache(observers, verifies))


def begin_pass(*, tells_changes: bool) -> None:
    """Prepare the analyses for a pass, which may tell what it inserts."""
    cache = _cache.get()
    if cache is not None:
        cache.tells_changes = tells_changes


def end_pass(changes: Changes) -> list[AnalysisName]:
    """Drop the analyses that are stale after a pass.

    Returns:
        The names of the analyses that differ though they are not declared to be stale, if this is
        verified.
    """
    cache = _cache.get()
    if cache is None:
        return []
    for name in changes.stale:
        cache.computed.pop(name, None)
    if changes.inserted is not None:
        _add_inserted_names(cache, changes.inserted)
    if not cache.verifies:
        return []
    with _cache.bound(None):  # so that analyses of analyses are recomputed as well
        return [
            name
            for name, (module, result) in cache.computed.items()
            if not _analyses[name].holds(result, _analyses[name].compute(module))
        ]


def _add_inserted_names(cache: _Cache, inserted: AbstractSet[str]) -> None:
    """Add the names of operations that the current pass has inserted to `operation-names`.

    To look for those that it may have inserted takes a tenth of the time of reading the names
    again, and saves later passes from looking for operations that aren't there.
    """
    names = cache.computed.get("operation-names")
    if names is not None and not inserted <= names.result:
        found = names_among(inserted - names.result, names.module)
        cache.computed["operation-names"] = names._replace(result=names.result | found)


def names_are_told() -> bool:
    """Whether the current pass tells the names of the operations that it inserts."""
    cache = _cache.get()
    return cache is not None and cache.tells_changes


def verifies_analyses() -> bool:
    """Whether what passes tell of their changes is verified."""
    cache = _cache.get()
    return cache is not None and cache.verifies
