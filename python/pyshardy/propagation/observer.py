# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Those who want to know what propagation does, step by step."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Protocol

from pyshardy.propagation.engine import Change, Engine


class Observer(Protocol):
    """Is told of each step that changes something. Without observers nothing is kept."""

    def on_start(self, engine: Engine) -> None:
        """Propagation is about to start."""
        ...

    def on_step(self, change: Change) -> None:
        """A step has changed something."""
        ...

    def on_end(self, engine: Engine) -> None:
        """Nothing changes any more; dead operations are still in the IR."""
        ...


_observers: ContextVar[tuple[Observer, ...]] = ContextVar("pyshardy_observers", default=())


@contextlib.contextmanager
def observed_by(*observers: Observer) -> Iterator[None]:
    """Let observers listen to every propagation inside the `with` block, in pipelines as well."""
    token = _observers.set((*_observers.get(), *observers))
    try:
        yield
    finally:
        _observers.reset(token)


def current_observers() -> tuple[Observer, ...]:
    """Those who listen here."""
    return _observers.get()
