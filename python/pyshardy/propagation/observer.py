# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Observers of propagation steps."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Protocol

from pyshardy.propagation.engine import Engine, StepChange


class Observer(Protocol):
    """Callbacks for the steps that change something. Without observers, steps are not recorded."""

    def on_start(self, engine: Engine) -> None:
        """Called before propagation starts."""
        ...

    def on_step(self, change: StepChange) -> None:
        """Called after a step that changed something."""
        ...

    def on_end(self, engine: Engine) -> None:
        """Called at the fixed point, while dead operations are still in the IR."""
        ...


_observers: ContextVar[tuple[Observer, ...]] = ContextVar("pyshardy_observers", default=())


@contextlib.contextmanager
def observed_by(*observers: Observer) -> Iterator[None]:
    """Notify observers of every propagation inside the `with` block, in pipelines as well."""
    token = _observers.set((*_observers.get(), *observers))
    try:
        yield
    finally:
        _observers.reset(token)


def current_observers() -> tuple[Observer, ...]:
    """Return the active observers."""
    return _observers.get()
