# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions of the public API that combine several packages."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from mlir_sdy import assembly
from mlir_sdy.assembly.attribute_text import read_stripped
from mlir_sdy.assembly.source import Cursor, SourceText
from mlir_sdy.diagnostics import SourceLocation, UsageError, error
from mlir_sdy.model import AxisRef, DimensionSharding, Mesh, TensorSharding
from pyshardy.irtools.modules import remember_text
from pyshardy.irtools.named_values import NamedValues, has_named_arguments
from pyshardy.pipeline import check_module, pipeline_of, run_pipeline, use

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from mlir_sdy.host import ir
    from pyshardy.pipeline.options import OptionValue
    from pyshardy.pipelines.propagation import PropagationOptions
    from pyshardy.propagation.debugging.explanation import Propagation


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
        ParseError: the text has a syntax error.
        VerificationError: an operation or attribute is invalid.
        HostCrashError: the MLIR host would crash on it; only with `guard`.
    """
    context = context or _new_context()
    if guard:
        from pyshardy.processes.fork import raise_if_crashing  # noqa: PLC0415 (few need it)

        raise_if_crashing(lambda: parse(text_or_path, _context_for_child(context)))
    if isinstance(text_or_path, str) and not _is_path(text_or_path):
        _check_no_path(text_or_path)
        module = assembly.parse(text_or_path, context)
        remember_text(module, text_or_path)
        return module
    from pyshardy.frontends.files import load  # noqa: PLC0415 (only files need it)

    path = Path(text_or_path)
    try:
        data = path.read_bytes()
    except OSError as reason:
        place = SourceLocation(str(path), 0, 0)
        raise UsageError(error(f"cannot read the file: {reason}", place)) from None
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


def asm(
    module: ir.Module | ir.Operation | ir.OpView,
    *,
    generic: bool = False,
    debug_info: bool | None = None,
    large_elements_limit: int | None = None,
    assume_verified: bool = False,
) -> str:
    """Return the text of a module or an operation, in custom sdy syntax.

    Args:
        module: the operation to print.
        generic: print every operation in generic form.
        debug_info: print locations. By default, they are printed for modules whose arguments have
            names, such as those traced from JAX and PyTorch: `sdy-explain --value="params['w']"`
            finds the argument in such a text. They make it about half as long again.
        large_elements_limit: elide constants with more elements than this.
        assume_verified: don't verify first. Printing an invalid operation in its custom syntax
            can crash, so MLIR verifies and falls back to the generic form.

    Raises:
        SdyError: operations of the dialect are nested too deeply.
    """
    return assembly.asm(
        module,
        generic=generic,
        debug_info=has_named_arguments(module) if debug_info is None else debug_info,
        large_elements_limit=large_elements_limit,
        assume_verified=assume_verified,
    )


def write(
    module: ir.Module,
    path: str | os.PathLike[str],
    kind: Literal["text", "bytecode", "portable"] = "text",
    version: str = "current",
    *,
    debug_info: bool | None = None,
) -> None:
    """Write a module to a file, from which `parse` reads it again.

        sdy.write(program.module, "local.mlirbc", "portable", version="1.15.0")

    Args:
        module: the module. It isn't changed.
        path: the file.
        kind: `text`; `bytecode` for this version of MLIR; or `portable` for an artifact of
            StableHLO that other tools read as well, such as `jax.export` and XLA.
        version: the version of StableHLO that must be able to read the artifact: `current`,
            `minimum` or `1.2.3`.
        debug_info: whether a text has locations, as in `asm`; the other kinds always do.

    Raises:
        UsageError: the file can't be written; there is no such kind or version.
        PassError: the program has an operation or attribute that an artifact can't represent.
    """
    from pyshardy.frontends.files import dump, kind_named  # noqa: PLC0415

    locations = has_named_arguments(module) if debug_info is None else debug_info
    data = dump(module, kind_named(kind), version, debug_info=locations)
    try:
        Path(path).write_bytes(data)
    except OSError as reason:
        place = SourceLocation(str(path), 0, 0)
        raise UsageError(error(f"cannot write the file: {reason}", place)) from None


def sharding(
    spec: str | Iterable[str | tuple[str, ...] | None], mesh: str | Mesh = "mesh"
) -> TensorSharding:
    """Return the sharding of a text in assembly syntax, or of the axes of each dimension.

        sdy.sharding('<@mesh, [{"x"}, {?}]>')
        sdy.sharding(PartitionSpec("x", None))
        sdy.sharding((("x", "y"), None))

    Args:
        spec: the text, with or without `#sdy.sharding` in front of it. Or for each dimension the
            name of an axis, a tuple of names, or None, such as a `PartitionSpec` of JAX. Such
            dimensions are closed, except for `PartitionSpec.UNCONSTRAINED`.
        mesh: the mesh, or the name of its symbol; only for axes. A text has a mesh.

    Raises:
        ParseError: the text can't be read.
        UsageError: a dimension is something else.
    """
    if not isinstance(spec, str):
        return _sharding_by_axes(spec, mesh)
    text = spec
    cursor = Cursor(SourceText(text, "sharding"))
    value: TensorSharding = read_stripped("sharding")(cursor)
    cursor.skip_blank()
    if cursor.position < len(text):
        raise cursor.unexpected("the end of the sharding")
    return value


def _sharding_by_axes(spec: Iterable[object], mesh: str | Mesh) -> TensorSharding:
    entries = cast("Iterable[object]", getattr(spec, "partitions", spec))
    unreduced = sorted(cast("Iterable[str]", getattr(spec, "unreduced", ())))
    dims = tuple(map(_dimension, entries))
    return TensorSharding(mesh, dims, unreduced_axes=tuple(map(AxisRef, unreduced)))


def _dimension(entry: object) -> DimensionSharding:
    """Return the sharding of a dimension by an axis, a tuple of axes or None."""
    if type(entry).__name__ == "UnconstrainedSingleton":  # of JAX, which need not be loaded
        return DimensionSharding()
    names: list[object] = [] if entry is None else [entry]
    if isinstance(entry, tuple):
        names = list(cast("tuple[object, ...]", entry))
    if not all(isinstance(name, str) for name in names):
        message = f"expected the name of an axis, a tuple of names or None, got: {entry!r}"
        raise UsageError(error(message))
    return DimensionSharding(tuple(AxisRef(str(name)) for name in names), is_closed=True)


def values(module: ir.Module) -> NamedValues:
    """Return the values of a module by their names.

        hidden = sdy.values(module)["%hidden"]
        sdy.get_sharding(hidden)

    The names are those of the text (`%hidden`, `%x`, `%3#1`), of the arguments of a traced function
    (`params['w']`), `arg2` and `result[0]`. Passes may have changed the module since it was read.

    Args:
        module: the module.
    """
    return NamedValues(module)


def propagate(module: ir.Module, **options: Unpack[PropagationOptions]) -> Propagation:
    """Propagate the shardings of a module by `sdy-propagation-pipeline`, and record the steps.

        record = sdy.propagate(module, conservative_propagation=True)
        print(record.explain("%hidden"))

    Args:
        module: the module, which is changed in place.
        options: the options of the pipeline, which `sdy-opt --help=sdy-propagation-pipeline`
            lists, with underscores for dashes.

    Returns:
        The record of all steps taken, in order.

    Raises:
        UsageError: there is no such option.
        PipelineError: a pass failed; the module is as it was before.
    """
    return propagate_with(module, cast("Mapping[str, OptionValue]", options))


def propagate_with(
    module: ir.Module, options: Mapping[str, OptionValue], *, is_temporary: bool = False
) -> Propagation:
    """Propagate as `propagate` does.

    Args:
        module: the module, which is changed in place.
        options: the options of the pipeline.
        is_temporary: whether the caller drops the module after a failure: it isn't restored
            then, and the caller has to verify the result.

    Raises:
        UsageError: there is no such option.
        PipelineError: a pass failed; the module is as it was before, unless it is temporary.
    """
    from pyshardy.contracts.annotated import (  # noqa: PLC0415 (loads the host)
        remember_annotated,
    )
    from pyshardy.irtools.modules import copy_of  # noqa: PLC0415
    from pyshardy.propagation.debugging.explanation import Propagation  # noqa: PLC0415
    from pyshardy.propagation.observer import observed_by  # noqa: PLC0415

    pipeline = pipeline_of(use("sdy-propagation-pipeline", **options))
    check_module(module)
    annotated = None if is_temporary else copy_of(module)
    record = Propagation()
    with observed_by(record):
        run_pipeline(
            module, pipeline, verify_each=not is_temporary, restore_on_failure=not is_temporary
        )
    remember_annotated(module, annotated, options)
    return record
