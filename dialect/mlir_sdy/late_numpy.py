# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NumPy, loaded when it is used.

It takes a third of the start-up of a tool, and most runs don't use it. The MLIR bindings import it
for a few builders of attributes.
"""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

__all__ = ["np", "numpy_loaded_late"]

_NAME = "numpy"


class _LateNumpy(types.ModuleType):
    """NumPy, loaded when something in it is used."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # The import system asks for these.
            raise AttributeError(name)
        if sys.modules.get(_NAME) is self:  # Another thread uses it before the block ends.
            del sys.modules[_NAME]
        found = getattr(importlib.import_module(_NAME), name)
        self.__dict__[name] = found  # the next look-up finds it without this function
        return found


@contextmanager
def numpy_loaded_late() -> Iterator[None]:
    """Let modules imported in the block load NumPy when they use it, unless it is loaded already.

    Imports after the block load NumPy as usual.
    """
    if _NAME in sys.modules:
        yield
        return
    late = sys.modules[_NAME] = _LateNumpy(_NAME)
    try:
        yield
    finally:
        if sys.modules.get(_NAME) is late:
            del sys.modules[_NAME]


if TYPE_CHECKING:
    import numpy as np
else:
    np = sys.modules.get(_NAME) or _LateNumpy(_NAME)
    """NumPy, for modules that every run imports: `from mlir_sdy.late_numpy import np`."""
