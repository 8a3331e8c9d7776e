# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The current stage of the process: parsing, a pass, a run on a backend.

A crash of the host leaves no exception with its origin. A supervisor process listens to the stages
and names the last one in its diagnostic.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from mlir_sdy.ambient import Ambient

VERIFYING = "verifying"
"""The stage of the verification of a module."""

Listener = Callable[[tuple[str, ...]], None]

_listeners: list[Listener] = []
_stages = Ambient[tuple[str, ...]]("mlir_sdy_stages", ())


@contextlib.contextmanager
def stage(name: str) -> Iterator[None]:
    """Set the stage inside the `with` block, in words that follow "while": "parsing 'a.mlir'"."""
    stages = (*_stages.get(), name)
    with _stages.bound(stages):
        _tell(stages)
        try:
            yield
        finally:
            _tell(stages[:-1])


def listen(listener: Listener) -> None:
    """Call `listener` with all stages, the outermost first, whenever one begins or ends."""
    _listeners.append(listener)


@contextlib.contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Call `listener`, as `listen` does, inside the `with` block."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def current_depth() -> int:
    """Return the number of stages of the caller."""
    return len(_stages.get())


def _tell(stages: tuple[str, ...]) -> None:
    for listener in _listeners:
        listener(stages)
