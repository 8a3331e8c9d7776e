# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Observers of propagation steps."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from mlir_sdy.ambient import Ambient
from mlir_sdy.diagnostics import wrong_type
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


_observers = Ambient[tuple[Observer, ...]]("pyshardy_observers", ())


def observed_by(*observers: Observer) -> AbstractContextManager[None]:
    """Notify observers of every propagation inside the `with` block, in pipelines as well.

    Raises:
        WrongTypeError: it isn't an observer.
    """
    for each in observers:
        if not hasattr(each, "on_step"):
            expected = "observers of propagation, such as sdy.Propagation()"
            raise wrong_type("observed_by", expected, each)
    return _observers.bound((*_observers.get(), *observers))


def current_observers() -> tuple[Observer, ...]:
    """Return the active observers."""
    return _observers.get()
