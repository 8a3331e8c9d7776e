# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Copies, contents and texts of modules, and the files they are saved to."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from pathlib import Path
from typing import Generic, TypeVar

from mlir_sdy.assembly import asm
from mlir_sdy.diagnostics import emit, warning
from mlir_sdy.discardable import has_discardable, remove_discardable, set_discardable
from mlir_sdy.files import refusal_text
from mlir_sdy.host import ir, location_of
from pyshardy.forms import Form

JAX_STRUCTURE = "jax.structure"
"""The attribute of a module that JAX traced, by which the trees of its arguments are found."""

Value = TypeVar("Value")


def form_of(module: ir.Module) -> Form:
    """Return the form in which the front end of a program writes shardings."""
    return "jax" if has_discardable(module.operation, JAX_STRUCTURE) else "sdy"


class BesideModules(Generic[Value]):
    """Values of modules, kept for as long as these exist.

    Keys are the objects themselves: a `WeakKeyDictionary` loses a module whose attributes change,
    since its hash changes with them.
    """

    def __init__(self) -> None:
        self._values: dict[int, tuple[weakref.ref[ir.Module], Value]] = {}

    def get(self, module: ir.Module) -> Value | None:
        """Return the value of a module; None without one."""
        known = self._values.get(id(module))
        return None if known is None or known[0]() is not module else known[1]

    def set(self, module: ir.Module, value: Value) -> None:
        """Set the value of a module."""
        key, values = id(module), self._values

        def forget(_: weakref.ref[ir.Module]) -> None:
            values.pop(key, None)

        values[key] = weakref.ref(module, forget), value


_texts: BesideModules[str] = BesideModules()


def copy_of(module: ir.Module) -> ir.Module:
    """Copy `module` with its attributes and locations."""
    copy = ir.Module.create(module.operation.location)
    for name, attribute in module.operation.attributes.items():
        set_discardable(copy.operation, name, attribute)
    for operation in module.body.operations:
        copy.body.append(operation.operation.clone(ip=False))
    remember_text(copy, text_of(module))
    return copy


def move_contents(source: ir.Operation, target: ir.Operation) -> None:
    """Replace the attributes and the body of a module by those of another module.

    Args:
        source: the operation of the module whose body is moved; it is empty afterwards.
        target: the operation of the module whose body is replaced.
    """
    for name in list(target.attributes):
        remove_discardable(target, name)
    for name, attribute in source.attributes.items():
        set_discardable(target, name, attribute)
    body = target.regions[0].blocks[0]
    for operation in list(body.operations):
        operation.erase()
    for operation in list(source.regions[0].blocks[0].operations):
        body.append(operation)


def save_module(
    module: ir.Module, *, directory: str = "", name: str = "module", index: int = 0
) -> None:
    """Write `module` to `<directory>/<index>.<name>.mlir`, the index in two digits.

    A file that can't be written causes a warning only, since saved modules are for debugging.

    Args:
        module: the module to save.
        directory: where to write; nothing is written if it is empty.
        name: the name of the stage of the pipeline.
        index: the number of the file in its pipeline.
    """
    if not directory:
        return
    path = Path(directory) / f"{index:02}.{name}.mlir"
    try:
        path.write_text(asm(module), encoding="utf-8")
    except OSError as failure:
        message = refusal_text(f"save the module to '{path}'", failure)
        emit(warning(message, location_of(module.operation.location)))


def remember_text(module: ir.Module, text: str | None) -> None:
    """Associate a module with the text that it was parsed from, for as long as it exists."""
    if text is not None:
        _texts.set(module, text)


def text_of(module: ir.Module) -> str | None:
    """Return the text that a module, or what it is a copy of, was parsed from; None without."""
    return _texts.get(module)


def write_texts(module: ir.Module, name: str, texts: Iterable[str]) -> None:
    """Give a module an attribute with texts."""
    with module.context:
        attribute = ir.ArrayAttr.get(list(map(ir.StringAttr.get, texts)))
    set_discardable(module.operation, name, attribute)
