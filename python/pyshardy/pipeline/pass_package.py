# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packages of passes, each a function in a file of the same name."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any


class PassPackage(ModuleType):
    """A package in which the names in `__all__` are functions, not the modules that hold them.

    Passes are imported when first used. Python sets a submodule that it imports as an attribute of
    its package; that of a pass would hide the function.
    """

    __all__: list[str]

    def __getattr__(self, name: str) -> Any:
        if name not in self.__all__:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"{self.__name__}.{name}"), name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self.__all__ or not isinstance(value, ModuleType):
            super().__setattr__(name, value)
