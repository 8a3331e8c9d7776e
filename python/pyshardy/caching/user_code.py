# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The content of Python functions of users, such as sharding rules and passes.

The content of a function is its file, its code, and the content of the values that its code refers
to: defaults, variables of an enclosing function, and global names. Code of this project and of
installed packages counts by its name and version.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import hashlib
import re
import sys
import types
from collections.abc import Callable, Iterable
from pathlib import Path, PurePath
from typing import Any, cast

from pyshardy.irtools.user_files import is_user_file
from pyshardy.pipeline.registry import added_functions
from pyshardy.rules.registry import RegisteredRule, registered_rules

_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(...), PurePath)
_OWN = ("pyshardy.", "mlir_sdy.")


class UnknownContentError(Exception):
    """The content of a value isn't known; the text describes the value."""


def content_of_user_code() -> bytes:
    """Return a digest of all sharding rules, passes and pipelines that users have registered.

    Raises:
        UnknownContentError: code refers to a value whose content isn't known.
    """
    content = _Content()
    for name, function in added_functions():
        if not _is_own(function):
            content.add_named(f"the pass '{name}'", function)
    without_rule: list[str] = []
    for name, rule in registered_rules():
        if rule.function is None:
            without_rule.append(f"{name} {rule.beyond_shardy}")
        elif not _is_own(rule.function):
            content.add_named(f"the sharding rule of '{name}'", _parts(rule))
    content.add("\n".join(sorted(without_rule)))
    return content.digest()


def _parts(rule: RegisteredRule) -> tuple[object, ...]:
    return tuple(getattr(rule, field.name) for field in dataclasses.fields(rule))


def _is_own(function: Callable[..., Any]) -> bool:
    return str(getattr(function, "__module__", "")).startswith(_OWN)


class _Content:
    """Adds up the content of values, each of which counts once."""

    def __init__(self) -> None:
        self._hash = hashlib.blake2b()
        self._known: dict[int, tuple[int, object]] = {}

    def digest(self) -> bytes:
        return self._hash.digest()

    def add_named(self, name: str, value: object) -> None:
        try:
            self.add((name, value))
        except UnknownContentError as reason:
            raise UnknownContentError(f"{name} refers to {reason}") from None

    def add(self, value: object) -> None:
        """Add the content of a value.

        Raises:
            UnknownContentError: it isn't known.
        """
        self._text(type(value).__qualname__)
        if isinstance(value, enum.Enum):
            self.add((type(value), value.name))
        elif isinstance(value, _PLAIN):
            self._text(repr(value))
        elif isinstance(value, tuple | frozenset):  # which may or may not be the same object
            self._add_new(value)
        elif id(value) in self._known:
            self._text(str(self._known[id(value)][0]))
        else:
            self._known[id(value)] = len(self._known), value  # which keeps the identity in use
            self._add_new(value)

    def _add_new(self, value: Any) -> None:
        if isinstance(value, tuple | list):
            self._all(cast("Iterable[object]", value))
        elif isinstance(value, dict):
            self._all(cast("dict[object, object]", value).items())
        elif isinstance(value, set | frozenset):
            self._all(sorted(cast("Iterable[object]", value), key=repr))
        elif isinstance(value, re.Pattern):
            pattern = cast("re.Pattern[str]", value)
            self.add((pattern.pattern, pattern.flags))
        elif isinstance(value, types.CodeType):
            self._code(value, {})
        elif isinstance(value, types.FunctionType):
            self._function(value)
        elif isinstance(value, functools.partial):
            self.add((value.func, value.args, value.keywords))
        elif isinstance(value, types.MethodType):
            self.add((value.__func__, value.__self__))
        elif isinstance(value, types.ModuleType):
            self._module(value)
        elif isinstance(value, type):
            self._class(value)
        elif hasattr(value, "__wrapped__"):  # a function in a cache
            self.add(value.__wrapped__)
        elif isinstance(value, types.BuiltinFunctionType) or self._is_of_package(value):
            self._package(str(value.__module__), getattr(value, "__qualname__", ""))
        elif dataclasses.is_dataclass(value):
            self.add(type(value))
            self._all(getattr(value, field.name) for field in dataclasses.fields(value))
        else:
            raise UnknownContentError(f"a value of type {type(value).__qualname__}")

    def _text(self, text: str) -> None:
        data = text.encode("utf-8", errors="surrogatepass")
        self._hash.update(b"%d:%b" % (len(data), data))

    def _all(self, values: Iterable[object]) -> None:
        for value in values:
            self.add(value)
        self._text("end")

    def _is_of_package(self, value: object) -> bool:
        """Whether a value is a function or the like with a name in an installed package."""
        module = sys.modules.get(str(getattr(value, "__module__", "")))
        name = getattr(value, "__qualname__", None)
        return module is not None and name is not None and not _is_user_module(module)

    def _package(self, module: str, name: str) -> None:
        top = sys.modules.get(module.partition(".")[0])
        self._text(f"{module} {name} {getattr(top, '__version__', '')}")

    def _function(self, function: types.FunctionType) -> None:
        names = function.__globals__
        filename = str(names.get("__file__") or function.__code__.co_filename)
        if not is_user_file(filename) and not filename.startswith("<"):
            self._package(str(function.__module__), function.__qualname__)
            return
        self._file(filename)
        cells = function.__closure__ or ()
        self.add((function.__defaults__, function.__kwdefaults__))
        self._code(function.__code__, names)
        for cell in cells:
            try:
                self.add(cell.cell_contents)
            except ValueError:  # a variable without a value yet
                self._text("empty")

    def _code(self, code: types.CodeType, names: dict[str, Any]) -> None:
        self._hash.update(code.co_code)
        self._all((code.co_names, code.co_varnames, code.co_freevars))
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self._code(constant, names)
            else:
                self.add(constant)
        for name in code.co_names:
            if name in names:
                self.add(names[name])

    def _class(self, value: type) -> None:
        module = sys.modules.get(value.__module__)
        self._text(f"{value.__module__}.{value.__qualname__}")
        if module is not None and not _is_user_module(module):
            self._package(value.__module__, value.__qualname__)
            return
        self._file(str(getattr(module, "__file__", "")))
        self._all(each for each in value.__bases__)
        for name, member in vars(value).items():
            inner = cast("object", getattr(member, "fget", getattr(member, "__func__", member)))
            if isinstance(inner, types.FunctionType | _PLAIN):
                self.add((name, inner))

    def _module(self, module: types.ModuleType) -> None:
        """Add the file of a module, and those of the modules of users that it imports."""
        if not _is_user_module(module):
            self._package(module.__name__, "")
            return
        self._file(str(getattr(module, "__file__", "")))
        for value in list(vars(module).values()):
            home = value if isinstance(value, types.ModuleType) else None
            if home is None and isinstance(value, types.FunctionType | type):
                home = sys.modules.get(value.__module__)
            if home is not None and home is not module:
                self.add(home)

    def _file(self, filename: str) -> None:
        try:
            self._hash.update(Path(filename).read_bytes())
        except OSError:  # an interactive session
            self._text("")


def _is_user_module(module: types.ModuleType) -> bool:
    filename = getattr(module, "__file__", None)
    return module.__name__ == "__main__" or (filename is not None and is_user_file(filename))
