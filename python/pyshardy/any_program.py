# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs in any form that functions of the API take: `parse`, and the modules of all others.

| form                                                 | its module                              |
|------------------------------------------------------|-----------------------------------------|
| a module, or what holds one                          | that module                             |
| a text or a file                                     | a new one, by `parse`                   |
| what JAX has traced, lowered or exported             | a new one, by the front end             |
| a function, or a module of PyTorch, with arguments   | a new one, by `traced_module`           |
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

from mlir_sdy import assembly
from mlir_sdy.diagnostics import SourceLocation, UsageError, WrongTypeError, error
from mlir_sdy.discardable import has_discardable
from mlir_sdy.files import file_access
from mlir_sdy.host import ir, location_of
from mlir_sdy.on_demand import has_mpmd
from mlir_sdy.programs import HoldsModule, held_module, wrong_program
from mlir_sdy.suggest import did_you_mean
from pyshardy.irtools.modules import remember_text
from pyshardy.pipeline import declared_options

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class LoweredByJax(Protocol):
    """A function that JAX lowered: `jax.stages.Lowered`. One that it traced is callable."""

    def as_text(self) -> str:
        """Return the program."""
        ...


Program: TypeAlias = "ir.Module | HoldsModule | LoweredByJax | str | os.PathLike[str]"
"""A program that needs no arguments."""

_SUFFIXES = (".mlir", ".mlirbc")


def parse(
    text_or_path: str | os.PathLike[str],
    context: ir.Context | None = None,
    *,
    guard: bool = False,
) -> ir.Module:
    """Read a module in MLIR assembly with custom sdy syntax, or a file of any kind.

    Args:
        text_or_path: the assembly itself; or the file with the program, as a path object or a
            string of one line that ends with ".mlir" or ".mlirbc". The contents determine the
            kind: text, MLIR bytecode, or a portable artifact of StableHLO.
        context: a context with the dialect (see `Context`); a new one by default.
        guard: parse untrusted text in a forked process first, so that a crash of MLIR's parser
            raises an exception and does not end this process. This costs about 9 ms and one
            more parse; see docs/guide/errors.md.

    Raises:
        UsageError: the file can't be read; the system has no `fork` for a guard.
        WrongTypeError: it is neither a text nor a path.
        ParseError: the text has a syntax error.
        VerificationError: an operation or attribute is invalid.
        HostCrashError: the MLIR host would crash on it; only with `guard`.
    """
    context = context or _new_context()
    if guard:
        from pyshardy.processes.fork import raise_if_crashing  # noqa: PLC0415 (few need it)

        raise_if_crashing(lambda: parse(text_or_path, _context_for_child(context)))
    if not isinstance(text_or_path, str | os.PathLike):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise wrong_program("parse", "the text or the file of a program", text_or_path)
    if isinstance(text_or_path, str) and not _is_path(text_or_path):
        _check_no_path(text_or_path)
        module = assembly.parse(text_or_path, context)
        remember_text(module, text_or_path)
        return module
    from pyshardy.frontends.files import load  # noqa: PLC0415 (only files need it)

    path = Path(text_or_path)
    with file_access("read the file", SourceLocation(str(path), 0, 0)):
        data = path.read_bytes()
    return load(data, context, str(path))


def _context_for_child(context: ir.Context) -> ir.Context:
    """Return a context for a forked process, which has no threads to wait for."""
    if context.get_num_threads() == 1:
        return context
    return _new_context(allow_unregistered=context.allow_unregistered_dialects)


def _new_context(*, allow_unregistered: bool = False) -> ir.Context:
    from mlir_sdy.dialect import Context  # noqa: PLC0415 (loads the host)

    return Context(allow_unregistered=allow_unregistered)


def _is_path(text: str) -> bool:
    return "\n" not in text and text.endswith(_SUFFIXES)


def _check_no_path(text: str) -> None:
    """Raise a `UsageError` for a word that looks like a path with another suffix."""
    if re.fullmatch(r"[^\s\"#!%(){}<>]*[/\\][^\s\"(){}<>]*|[\w~-]+\.[\w.-]*", text):
        message = f"'{text}' looks like a path: pass pathlib.Path('{text}') to read that file"
        raise UsageError(error(message))


# --- Modules of programs -------------------------------------------------------------------------

_FORMS = "a module, a traced program, or the text or file of one"
_FORMS_OR_FUNCTION = f"a function or a module of PyTorch with arguments, {_FORMS}"


def module_of(
    function: str, program: Program | Any, *, partitioned: bool = False, expected: str = _FORMS
) -> ir.Module:
    """Return the module of a program that needs no arguments.

    Args:
        function: the name of the function in the API, for errors.
        program: the program. The module of one that holds it is not copied.
        partitioned: whether it may be partitioned.
        expected: what the function takes.

    Raises:
        WrongTypeError: it is of another type, or needs arguments; the error says what to write.
        UsageError: it is partitioned, and must not be; it can't be read.
    """
    if not partitioned and _is(program, "pyshardy.program", "PartitionedProgram"):
        message = f"'sdy.{function}' takes no program that is partitioned already"
        raise UsageError(error(f"{message}: pass the module that it was made from"))
    is_text = isinstance(program, str | os.PathLike)
    module = parse(cast("str | os.PathLike[str]", program)) if is_text else held_module(program)
    if module is not None:
        if not partitioned and not function.startswith("mpmd."):
            check_one_mesh(f"sdy.{function}", module)
        return module
    if is_staged(program):
        from pyshardy.frontends.jax import from_lowered  # noqa: PLC0415 (loads JAX)

        return from_lowered(_lowered(program))
    if _is(program, "jax.export", "Exported"):
        from pyshardy.frontends.jax import from_exported  # noqa: PLC0415 (loads JAX)

        return from_exported(cast("Any", program))
    raise wrong_program(function, expected, program)


def check_one_mesh(caller: str, module: ir.Module, remedy: str = "sdy.mpmd.partition") -> None:
    """Check that a module has no function with a topology, and no operations of mpmd.

    Args:
        caller: the function or the tool that needs such a module.
        module: the module.
        remedy: the function or the tool for others.

    Raises:
        UsageError: it has.
    """
    if has_mpmd(module.context) and any(  # others have no such operations, and needn't be read
        has_discardable(function, "topology")
        or any(
            each.operation.name.startswith("mpmd.")
            for region in function.regions
            for block in region.blocks
            for each in block.operations
        )
        for view in module.body.operations
        if (function := view.operation).name == "func.func"
    ):
        message = f"'{caller}' takes no program for several meshes (MPMD): use '{remedy}'"
        raise UsageError(error(message, location_of(module.operation.location)))


def _lowered(program: Any) -> Any:
    """Return what JAX has traced or lowered as lowered; without devices, for a CPU."""
    if not hasattr(program, "lower"):
        return program
    try:
        return program.lower()
    except ValueError as refusal:
        if "lowering_platforms" not in str(refusal):
            raise
        return program.lower(lowering_platforms=("cpu",))


def traced_module(
    function: str, program: Any, args: tuple[Any, ...], keywords: Mapping[str, Any]
) -> tuple[ir.Module, str]:
    """Return the module of a program, which may be a function with its arguments, and a title.

    Args:
        function: the name of the function in the API, for errors.
        program: the program.
        args: the positional arguments of a function, or the inputs of a module of PyTorch.
        keywords: `mesh`, `in_shardings`, `out_shardings`, `kwargs` and `static_argnames`.

    Raises:
        UsageError: the arguments don't fit the program, or it is none.
    """
    if is_of_torch(program):
        from pyshardy.frontends.torch import trace  # noqa: PLC0415 (loads PyTorch)

        others = {name: keywords.get(name) for name in ("mesh", "kwargs")}
        traced = trace(program, *args, shardings=keywords.get("in_shardings"), **others)
        return traced.module, type(program).__name__
    if is_function(program):
        from pyshardy.frontends.jax import trace as trace_by_jax  # noqa: PLC0415 (loads JAX)

        module = trace_by_jax(program, *args, **keywords)
        return module, getattr(program, "__name__", "program")
    module = module_of(function, program, partitioned=True, expected=_FORMS_OR_FUNCTION)
    check_one_mesh(f"sdy.{function}", module)
    check_no_arguments(args, keywords)
    is_file = isinstance(program, os.PathLike) or (isinstance(program, str) and _is_path(program))
    return module, Path(cast("str", program)).name if is_file else "program"


def check_no_arguments(args: tuple[Any, ...], keywords: Mapping[str, Any]) -> None:
    """Check that a program that is traced already got no arguments.

    Raises:
        UsageError: it got some.
    """
    given = [name for name, value in keywords.items() if value is not None and value != ()]
    if args or given:
        names = ", ".join(["the positional arguments"] * bool(args) + given)
        message = "the program is traced already, so it takes no arguments and shardings: drop"
        raise UsageError(error(f"{message} {names}"))


TRACING_KEYWORDS = ("kwargs", "static_argnames", "mesh", "in_shardings", "out_shardings")
"""The arguments by which functions and modules of PyTorch are traced."""

EXPLAIN_KEYWORDS = (*TRACING_KEYWORDS, "hardware", "report_hardware")
"""The keyword arguments of `explain` and `whatif`, besides options of propagation."""


def check_keywords(
    function: str, given: Iterable[str], own: Iterable[str], pipeline: str = ""
) -> None:
    """Check the names of keyword arguments that a function passes on as options of a pipeline.

    Args:
        function: the name of the function in the API.
        given: the names that are no parameters of the function.
        own: the names of its parameters.
        pipeline: the pipeline.

    Raises:
        WrongTypeError: there is no such argument.
    """
    options = [each.keyword for each in declared_options(pipeline) or ()]
    for name in given:
        if name not in options and name not in own:
            near = did_you_mean(name, [*own, *options]) or f"; it has {', '.join(own)}"
            if options and "mean" not in near:
                near += f", and the options {', '.join(options)}"
            raise WrongTypeError(error(f"'sdy.{function}' has no argument '{name}'{near}"))


def is_staged(program: object) -> bool:
    """Whether JAX has traced or lowered a program, which keeps its arguments."""
    stages = _loaded("jax.stages")
    return stages is not None and isinstance(program, stages.Traced | stages.Lowered)


def is_of_torch(program: object) -> bool:
    """Whether a program is a module of PyTorch, or one that `torch.export` has exported."""
    is_exported = _is(program, "torch.export", "ExportedProgram")
    return is_exported or _is(program, "torch.nn", "Module")


def is_function(program: object) -> bool:
    """Whether a program is a function, which is traced by JAX; or a pair of them, of haiku.

    Tracing refuses a pair, and says what to write instead.
    """
    is_pair = type(program).__module__.startswith("haiku.")
    return (callable(program) or is_pair) and not is_of_torch(program) and not is_staged(program)


def _is(value: object, module: str, name: str) -> bool:
    """Whether a value is of a class of a module, which is loaded only if there are such values."""
    loaded = _loaded(module)
    return loaded is not None and isinstance(value, getattr(loaded, name))


def _loaded(name: str) -> Any:
    """Return a module of Python if it is loaded: without it, no value is of its classes."""
    return sys.modules.get(name)
