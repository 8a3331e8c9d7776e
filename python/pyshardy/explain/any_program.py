# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The module of a program in any form that `sdy.explain` takes."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, Protocol, cast

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import ir
from pyshardy.api import parse, propagate_with
from pyshardy.contracts.annotated import Original, original_of
from pyshardy.irtools.modules import copy_of


class LoweredByJax(Protocol):
    """A function that JAX lowered: `jax.stages.Lowered`. One that it traced is callable."""

    def as_text(self) -> str:
        """Return the program."""
        ...


class TracingArguments:
    """The arguments of a traced function."""

    def __init__(self, args: tuple[Any, ...], **keywords: Any):
        self.args = args
        self.keywords = keywords

    def check_none(self) -> None:
        """Check that no arguments are given, for a program that is traced already."""
        given = [name for name, value in self.keywords.items() if value not in (None, ())]
        if self.args or given:
            names = ", ".join(["the positional arguments"] * bool(self.args) + given)
            message = "the program is traced already, so it takes no arguments and shardings: drop"
            raise UsageError(error(f"{message} {names}"))


def module_of(program: Any, *args: Any, **keywords: Any) -> tuple[ir.Module, str]:
    """Return the annotated module of a program, which may be changed, and a title.

    Args:
        program: a program that `explain` takes, except a partitioned one.
        args: the positional arguments of a function or a module of PyTorch.
        keywords: `mesh`, `in_shardings`, `out_shardings`, `kwargs` and `static_argnames`.

    Raises:
        UsageError: the arguments don't fit the program.
    """
    arguments = TracingArguments(args, **keywords)
    jax_stages = _loaded("jax.stages")
    torch = _loaded("torch")
    if torch is not None and isinstance(program, torch.nn.Module):
        from pyshardy.frontends.torch import trace  # noqa: PLC0415 (loads PyTorch)

        shardings = arguments.keywords.get("in_shardings")
        others = {name: arguments.keywords.get(name) for name in ("mesh", "kwargs")}
        traced = trace(program, *arguments.args, shardings=shardings, **others)
        return traced.module, type(program).__name__
    is_traced = jax_stages and isinstance(program, jax_stages.Traced | jax_stages.Lowered)
    if callable(program) and not is_traced:
        from pyshardy.frontends.jax import trace as trace_by_jax  # noqa: PLC0415 (loads JAX)

        module = trace_by_jax(program, *arguments.args, **arguments.keywords)
        return module, getattr(program, "__name__", "program")
    arguments.check_none()
    if isinstance(program, ir.Module):
        original = written_by_user(program)
        is_known = original is not None and not original.options
        return copy_of(original.module if is_known and original else program), "program"
    if isinstance(program, str | os.PathLike):
        path = cast("str | os.PathLike[str]", program)
        return parse(path), Path(path).name if "\n" not in str(path) else "program"
    if is_traced:
        from pyshardy.frontends.jax import from_lowered  # noqa: PLC0415 (loads JAX)

        lower = getattr(program, "lower", None)
        return from_lowered(program if lower is None else lower()), "program"
    if isinstance(module := getattr(program, "module", None), ir.Module):
        return copy_of(module), "program"
    got = type(program).__name__
    message = "expected a module, its text or file, a function, or a traced or partitioned program"
    raise UsageError(error(f"{message}, got: {got}"))


def is_of_jax(program: Any) -> bool:
    """Whether a program is a function that JAX traces, or what JAX traced or lowered it to."""
    torch, stages = _loaded("torch"), _loaded("jax.stages")
    if torch is not None and isinstance(program, torch.nn.Module):
        return False
    is_staged = stages is not None and isinstance(program, stages.Traced | stages.Lowered)
    return is_staged or callable(program)


def written_by_user(module: ir.Module) -> Original | None:
    """Return what a module was propagated from; None if it is unknown, or the module has changed.

    The original is propagated again, to see whether the module is still what follows from it.
    """
    original = original_of(module)
    if original is None:
        return None
    again = copy_of(original.module)
    propagate_with(again, original.options, is_temporary=True)
    return original if _text(again) == _text(module) else None


def _text(module: ir.Module) -> str:
    return module.operation.get_asm(enable_debug_info=False)


def _loaded(name: str) -> Any:
    """Return a module of Python if it is loaded: without it, no value is of its classes."""
    return sys.modules.get(name)
