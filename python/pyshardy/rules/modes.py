# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Context managers for the treatment of operations without a rule."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import NamedTuple

from mlir_sdy.ambient import Ambient


class _Modes(NamedTuple):
    is_strict: bool = False
    is_compatible: bool = False


_modes = Ambient("pyshardy_rules", _Modes())


def strict_rules() -> AbstractContextManager[None]:
    """Make an operation without a rule an error, inside the `with` block."""
    return _modes.bound(_modes.get()._replace(is_strict=True))


def compatible_rules() -> AbstractContextManager[None]:
    """Ignore rules of operations that C++ Shardy does not know, inside the `with` block."""
    return _modes.bound(_modes.get()._replace(is_compatible=True))


def is_strict() -> bool:
    """Whether the code runs inside `strict_rules`."""
    return _modes.get().is_strict


def is_compatible() -> bool:
    """Whether the code runs inside `compatible_rules`."""
    return _modes.get().is_compatible
