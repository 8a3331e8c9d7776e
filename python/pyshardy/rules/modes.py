# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Context managers for the treatment of operations without a rule."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

_strict: ContextVar[bool] = ContextVar("pyshardy_strict_rules", default=False)
_compatible: ContextVar[bool] = ContextVar("pyshardy_compatible_rules", default=False)


@contextlib.contextmanager
def strict_rules() -> Iterator[None]:
    """Make an operation without a rule an error, inside the `with` block."""
    token = _strict.set(True)
    try:
        yield
    finally:
        _strict.reset(token)


@contextlib.contextmanager
def compatible_rules() -> Iterator[None]:
    """Ignore rules of operations that C++ Shardy does not know, inside the `with` block."""
    token = _compatible.set(True)
    try:
        yield
    finally:
        _compatible.reset(token)


def is_strict() -> bool:
    """Whether the code runs inside `strict_rules`."""
    return _strict.get()


def is_compatible() -> bool:
    """Whether the code runs inside `compatible_rules`."""
    return _compatible.get()
