# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packages of passes: `close_shardings.py` holds the pass `sdy-close-shardings`.

A file of `pyshardy.mpmd.passes` holds the passes of a family, whose decorators name them.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import pkgutil
import re
from pathlib import Path
from types import ModuleType
from typing import Any

STAGES = ("importing", "propagating", "exporting", "partitioning", "shard")
"""The packages of `pyshardy.passes`, in the order of the pipelines."""

MPMD = "pyshardy.mpmd.passes"
"""The package of passes on MPMD programs."""

_DECLARED = re.compile(r'^@register_pass\(\s*"([\w-]+)"', re.MULTILINE)


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


@functools.cache
def pass_modules() -> dict[str, str]:
    """Return the module of each pass of the project, by the name of the pass in pipelines.

    Example: `sdy-close-shardings` is in `passes/exporting/close_shardings.py`, `shard-partition` in
    `passes/shard/shard_partition.py`, and `mpmd-unroll-for-loops` in `mpmd/passes/loops.py`.
    """
    modules: dict[str, str] = {}
    for stage in STAGES:
        name = f"pyshardy.passes.{stage}"
        prefix = "" if stage == "shard" else "sdy-"
        for module in pkgutil.iter_modules(importlib.import_module(name).__path__):
            modules[prefix + module.name.replace("_", "-")] = f"{name}.{module.name}"
    for module in pkgutil.iter_modules(importlib.import_module(MPMD).__path__):
        name = f"{MPMD}.{module.name}"
        modules |= dict.fromkeys(_DECLARED.findall(_source(name)), name)
    return modules


def _source(module: str) -> str:
    """Return the text of a module, which isn't imported."""
    spec = importlib.util.find_spec(module)
    assert spec is not None and spec.origin is not None  # noqa: PT018
    return Path(spec.origin).read_text(encoding="utf-8")


def summary_in_source(argument: str) -> str:
    """Return the summary of a pass of the project; importing all passes would take a second."""
    module = pass_modules()[argument]
    function = argument.removeprefix("sdy-").removeprefix("mpmd-").replace("-", "_")
    text = _source(module)
    found = re.search(rf'^def {function}\(.*?"""(.+?)(\.|""")?$', text, re.MULTILINE | re.DOTALL)
    assert found is not None, f"{module} has no function '{function}'"
    return found[1].removesuffix(".")
