# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The registries of classes for dialects, operations and attributes."""

from collections.abc import Callable
from typing import Any, TypeVar

from torch_mlir import ir

_Class = TypeVar("_Class", bound=Callable[..., Any])

class _Globals:
    def append_dialect_search_prefix(self, module_name: str) -> None: ...
    def register_traceback_file_exclusion(self, path: str) -> None: ...

globals: _Globals

def register_dialect(dialect_class: _Class) -> _Class: ...
def register_operation(
    dialect_class: type[ir.Dialect], *, replace: bool = False
) -> Callable[[_Class], _Class]: ...
def register_type_caster(
    typeid: ir.TypeID, *, replace: bool = False
) -> Callable[[_Class], _Class]: ...
