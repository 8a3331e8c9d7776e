# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The module in what users pass as a program, and errors that say what to pass instead."""

from __future__ import annotations

import os
from typing import Protocol, TypeAlias

from mlir_sdy.diagnostics import WrongTypeError, wrong_type
from mlir_sdy.host import ir


class HoldsModule(Protocol):
    """A program with a module: traced from PyTorch or partitioned, a plan, or a record."""

    @property
    def module(self) -> ir.Module: ...  # noqa: D102


AnyModule: TypeAlias = ir.Module | HoldsModule


def held_module(program: object) -> ir.Module | None:
    """Return a module, or the module that a program holds; None if it holds none."""
    module = program if isinstance(program, ir.Module) else getattr(program, "module", None)
    return module if isinstance(module, ir.Module) else None


def module_to_change(function: str, program: object) -> ir.Module:
    """Return the module of a program that a function changes in place.

    Raises:
        WrongTypeError: it holds none; the error says how to get one.
    """
    module = held_module(program)
    if module is None:
        raise wrong_program(function, "a module, or a traced program that holds one", program)
    return module


def operation_of(function: str, given: object) -> ir.Operation:
    """Return an operation, or that of the module that a program holds.

    Raises:
        WrongTypeError: it holds none; the error says how to get one.
    """
    if isinstance(given, ir.Operation | ir.OpView):
        return given.operation
    module = held_module(given)
    if module is None:
        raise wrong_program(function, "a module or an operation", given)
    return module.operation


def wrong_program(function: str, expected: str, given: object) -> WrongTypeError:
    """Return the error that a function takes no such program, with what to write instead.

    Args:
        function: the name of the function in the API.
        expected: what it takes.
        given: what it was given.
    """
    return wrong_type(function, expected, given, _remedy(function, given))


def _remedy(function: str, program: object) -> str:
    """Return what to write for a program that holds no module of this project's bindings."""
    bases = [(each.__module__, each.__name__) for each in type(program).__mro__]
    homes = {module.partition(".")[0] for module, _ in bases}
    if held_module(program) is not None:
        return "it has a module already; 'sdy.asm' returns its text"
    if isinstance(program, str | os.PathLike):
        return "read it by 'module = sdy.parse(...)' first"
    if isinstance(program, ir.Operation | ir.OpView):
        return "pass the module that it is in"
    if ("torch.nn.modules.module", "Module") in bases or bases[0][1] == "ExportedProgram":
        return "trace it by 'sdy.torch.trace(module, *inputs, mesh=mesh, ...)' first"
    if not homes.isdisjoint(("jax", "jaxlib", "flax", "equinox")) or callable(program):
        if bases[0][1] in ("Module", "Lowered"):
            return "import programs of JAX by 'sdy.jax.trace' or 'sdy.jax.from_lowered'"
        return "trace it by 'sdy.jax.trace(function, *arguments, mesh=mesh, ...)' first"
    if function == "parse":
        return ""
    return "modules come from 'sdy.parse', 'sdy.jax.trace' and 'sdy.torch.trace'"
