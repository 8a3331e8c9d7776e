# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packages of passes: `close_shardings.py` holds the pass `sdy-close-shardings`."""

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

MPMD_STAGES = ("importing", "inference", "common", "optimizing", "propagating", "exporting")
"""The packages of `pyshardy.mpmd.passes`, in the order of the pipelines."""

_PREFIXES = {
    **{f"pyshardy.passes.{stage}": "" if stage == "shard" else "sdy-" for stage in STAGES},
    **{f"pyshardy.mpmd.passes.{stage}": "mpmd-" for stage in MPMD_STAGES},
}
"""The beginning of the names of passes, by their packages."""


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
    `passes/shard/shard_partition.py`, and `mpmd-unroll-for-loops` in
    `mpmd/passes/importing/unroll_for_loops.py`.
    """
    modules: dict[str, str] = {}
    for name, prefix in _PREFIXES.items():
        package = importlib.import_module(name)
        for module in pkgutil.iter_modules(package.__path__):
            argument = prefix + module.name.replace("_", "-")
            modules[argument] = f"{package.__name__}.{module.name}"
    return modules


def summary_in_source(argument: str) -> str:
    """Return the summary of a pass of the project; importing all passes would take a second."""
    module = pass_modules()[argument]
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    text = Path(spec.origin).read_text(encoding="utf-8")
    function = module.rpartition(".")[2]
    found = re.search(rf'^def {function}\(.*?"""(.+?)(\.|""")?$', text, re.MULTILINE | re.DOTALL)
    assert found is not None, f"{module} has no function of its name"
    return found[1].removesuffix(".")
