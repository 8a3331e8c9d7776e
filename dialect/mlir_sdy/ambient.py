# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""State that holds inside of a `with` block, for all that the block calls in its thread or task.

A value is passed as an argument where that is possible. These variables can't be: callbacks of the
host, patterns, rules and passes of users are called between the one who sets a value and the one
who reads it, with arguments that aren't ours.

| variable                    | reason                                                       |
|-----------------------------|--------------------------------------------------------------|
| `diagnostics._sink`         | any code may warn; the tool, a test or the server shows it    |
| `diagnostics._remarks`      | passes compute remarks only for those who read them          |
| `stages._stages`            | a crash of the host, which leaves no stack, names the stage   |
| `symbols._known`            | patterns ask for the meshes of each operation                |
| `assembly.unverified._seen` | the host's verifier calls a trait, which keeps the module    |
| `irtools.analyses._cache`   | an analysis is a function of a module, inside pipelines, too |
| `rules.modes._modes`        | rules are looked up in passes that have no such option       |
| `propagation.observer`      | pipelines propagate, and take no observers                   |
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Generic, TypeVar

_Value = TypeVar("_Value")


class Ambient(Generic[_Value]):
    """A variable with a value for each `with` block.

    Args:
        name: its name, for debuggers.
        default: its value outside of blocks.

    Attributes:
        get: returns the value.
    """

    def __init__(self, name: str, default: _Value) -> None:
        self._variable = ContextVar(name, default=default)
        self.get: Callable[[], _Value] = self._variable.get

    @contextlib.contextmanager
    def bound(self, value: _Value) -> Iterator[None]:
        """Set the value inside the `with` block."""
        token = self._variable.set(value)
        try:
            yield
        finally:
            self._variable.reset(token)
