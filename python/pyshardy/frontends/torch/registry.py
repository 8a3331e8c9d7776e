# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Registries of definitions for operations of PyTorch.

Operations have names like `aten.topk`, for all overloads, or `aten.squeeze.dims`, for one. The
name of an overload takes precedence.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Generic, TypeVar

Definition = TypeVar("Definition")


class Registry(Generic[Definition]):
    """Definitions by the names of operations."""

    def __init__(self) -> None:
        self._by_name: dict[str, Definition] = {}
        self._found: dict[Any, Definition | None] = {}

    def register(self, *names: str) -> Callable[[Definition], Definition]:
        """Return a decorator that registers a definition for operations.

        Raises:
            ValueError: an operation has a definition already.
        """

        def add(definition: Definition) -> Definition:
            for name in names:
                if name in self._by_name:
                    raise ValueError(f"'{name}' has a definition already")
                self._by_name[name] = definition
            self._found.clear()
            return definition

        return add

    def get(self, operation: Any) -> Definition | None:
        """Return the definition for an operation of PyTorch, or None."""
        if operation not in self._found:
            self._found[operation] = self._find(operation)
        return self._found[operation]

    def _find(self, operation: Any) -> Definition | None:
        name = name_of(operation)
        definition = self._by_name.get(name)
        return self._by_name.get(name.rpartition(".")[0]) if definition is None else definition

    @property
    def by_name(self) -> Mapping[str, Definition]:
        """The definitions by name."""
        return self._by_name


@lru_cache(maxsize=4096)
def name_of(operation: Any) -> str:
    """Return the name of an operation of PyTorch: `aten.sum.dim_IntList`, `cond`.

    Args:
        operation: a `torch._ops.OpOverload`, another operation, or a function.
    """
    if hasattr(operation, "overloadpacket") or hasattr(operation, "_overloadpacket"):
        return str(operation)
    name = getattr(operation, "name", None)
    return str(name() if callable(name) else getattr(operation, "__name__", operation))


def load_definitions(package: str) -> None:
    """Import the modules of a package, which register definitions."""
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
        importlib.import_module(f"{package}.{module.name}")


def short_name(operation: Any) -> str:
    """Return the name of an operation without `default`: `aten.relu`, `aten.sum.dim_IntList`."""
    return name_of(operation).removesuffix(".default")


DECOMPOSITIONS: Registry[Callable[..., Any]] = Registry()

decomposition = DECOMPOSITIONS.register
"""Register a decomposition: a function with the arguments of operations, given by their names."""
