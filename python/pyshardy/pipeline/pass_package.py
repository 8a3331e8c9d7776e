# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packages of passes: `close_shardings.py` holds the pass `sdy-close-shardings`."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from types import ModuleType
from typing import Any

STAGES = ("importing", "propagating", "exporting", "partitioning", "shard")
"""The packages of `pyshardy.passes`, in the order of the pipelines."""
_PASSES = "pyshardy.passes"


class PassPackage(ModuleType):
    """A package whose attributes are the pass functions in its files instead of the modules.

    Passes are imported when first used. Python sets an imported submodule as an attribute of its
    package, which would hide the pass function of the same name.
    """

    @property
    def __all__(self) -> list[str]:
        """The names of the passes, which are the names of the files."""
        return [module.name for module in pkgutil.iter_modules(self.__path__)]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self.__all__:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"{self.__name__}.{name}"), name)

    def __setattr__(self, name: str, value: Any) -> None:
        if not isinstance(value, ModuleType):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.__all__})


def function_name(argument: str) -> str:
    """Return the name of the function and the file of a pass.

    Example: `sdy-close-shardings` is in `close_shardings.py`, `shard-partition` in
    `shard_partition.py`.
    """
    return argument.removeprefix("sdy-").replace("-", "_")


@functools.cache
def pass_modules() -> dict[str, str]:
    """Return the module of each pass of the project, by the name of its function."""
    found: dict[str, str] = {}
    for stage in STAGES:
        package = importlib.import_module(f"{_PASSES}.{stage}")
        for module in pkgutil.iter_modules(package.__path__):
            found[module.name] = f"{package.__name__}.{module.name}"
    return found
