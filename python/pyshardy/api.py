# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions of the public API that combine several packages."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Literal, cast

from mlir_sdy import assembly
from mlir_sdy.files import write_file
from mlir_sdy.host import ir
from pyshardy.any_program import Program, check_keywords, module_of
from pyshardy.caching.store import CacheFolder, Store
from pyshardy.irtools.named_values import NamedValues, has_named_arguments
from pyshardy.pipeline import pipeline_of, run_pipeline, use
from pyshardy.sizes.signature import takes_sizes

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from pyshardy.pipeline.options import OptionValue
    from pyshardy.pipelines.propagation import PropagationOptions
    from pyshardy.propagation.debugging.explanation import Propagation


def asm(
    module: Program | ir.Operation | ir.OpView,
    *,
    generic: bool = False,
    debug_info: bool | None = None,
    large_elements_limit: int | None = None,
    assume_verified: bool = False,
) -> str:
    """Return the text of a module or an operation, in custom sdy syntax.

    Args:
        module: the operation to print, or a program in any form; of a partitioned one, the local
            program.
        generic: print every operation in generic form.
        debug_info: print locations. By default, they are printed for modules whose arguments have
            names, such as those traced from JAX and PyTorch: `sdy-explain --value="params['w']"`
            finds the argument in such a text. They make it about half as long again.
        large_elements_limit: elide constants with more elements than this.
        assume_verified: don't verify first. Printing an invalid operation in its custom syntax
            can crash, so MLIR verifies and falls back to the generic form.

    Raises:
        WrongTypeError: it is no program.
        SdyError: operations of the dialect are nested too deeply.
    """
    if not isinstance(module, ir.Operation | ir.OpView):
        module = module_of("asm", module, partitioned=True)
    return assembly.asm(
        module,
        generic=generic,
        debug_info=has_named_arguments(module) if debug_info is None else debug_info,
        large_elements_limit=large_elements_limit,
        assume_verified=assume_verified,
    )


def write(
    module: Program,
    path: str | os.PathLike[str],
    kind: Literal["text", "bytecode", "portable"] = "text",
    version: str = "current",
    *,
    debug_info: bool | None = None,
) -> None:
    """Write a module to a file, from which `parse` reads it again.

        sdy.write(program.module, "local.mlirbc", "portable", version="1.15.0")

    Args:
        module: the module, or a program in any form; of a partitioned one, the local program is
            written. It isn't changed.
        path: the file.
        kind: `text`; `bytecode` for this version of MLIR; or `portable` for an artifact of
            StableHLO that other tools read as well, such as `jax.export` and XLA.
        version: the version of StableHLO that must be able to read the artifact: `current`,
            `minimum` or `1.2.3`.
        debug_info: whether a text has locations, as in `asm`; the other kinds always do.

    Raises:
        UsageError: the file can't be written; there is no such kind or version; it is no program.
        PassError: the program has an operation or attribute that an artifact can't represent.
    """
    from pyshardy.frontends.files import dump, kind_named  # noqa: PLC0415

    module = module_of("write", module, partitioned=True)
    locations = has_named_arguments(module) if debug_info is None else debug_info
    data = dump(module, kind_named(kind), version, debug_info=locations)
    write_file(path, data)


def values(module: Program) -> NamedValues:
    """Return the values of a module by their names.

        hidden = sdy.values(module)["%hidden"]
        sdy.get_sharding(hidden)

    The names are those of the text (`%hidden`, `%x`, `%3#1`), of the arguments of a traced function
    (`params['w']`), `arg2` and `result[0]`. Passes may have changed the module since it was read.

    Args:
        module: the module, or a program in any form; of a partitioned one, the local values.

    Raises:
        WrongTypeError: it is no program.
    """
    return NamedValues(module_of("values", module, partitioned=True))


def propagate(
    module: Program,
    *,
    cache: CacheFolder = None,
    hints: Mapping[str, int] | None = None,
    **options: Unpack[PropagationOptions],
) -> Propagation:
    """Propagate the shardings of a module by `sdy-propagation-pipeline`, and record the steps.

        record = sdy.propagate(module, conservative_propagation=True)
        print(record.explain("%hidden"))

    Args:
        module: the module, or a traced program that holds it, which is changed in place. Of a text
            or a file, the module is that of the record: `sdy.propagate("p.mlir").module`.
        cache: a folder in which the result is kept, and looked up if the program and all that its
            propagation depends on are equal; True for the default one. See docs/guide/pipelines.md.
        hints: for a program with dynamic sizes, values of its symbols, for which the shardings are
            found; see docs/guide/dynamic_shapes.md.
        options: the options of the pipeline, which `sdy-opt --help=sdy-propagation-pipeline`
            lists, with underscores for dashes.

    Returns:
        The record of all steps taken, in order. If the result comes from a cache, the propagation
        is repeated on a copy when the record is first asked for steps.

    Raises:
        UsageError: there is no such option, or hint; the program is partitioned already.
        WrongTypeError: it is no program.
        PipelineError: a pass failed; the module is as it was before.
    """
    check_keywords("propagate", options, ("cache", "hints"), "sdy-propagation-pipeline")
    module = module_of("propagate", module)
    if takes_sizes(module, {"hints": hints}):
        from pyshardy.contracts.attributes import remember_annotated  # noqa: PLC0415
        from pyshardy.dynamic.plan import propagate_dynamic  # noqa: PLC0415 (few programs are)
        from pyshardy.irtools.modules import copy_of  # noqa: PLC0415

        annotated, given = copy_of(module), cast("Mapping[str, OptionValue]", options)
        run = partial(propagate_with, options=given, is_temporary=True)
        record = propagate_dynamic(module, hints or {}, run)
        remember_annotated(module, annotated, given)
        return record
    return propagate_with(module, cast("Mapping[str, OptionValue]", options), cache=cache)


def propagate_with(
    module: ir.Module,
    options: Mapping[str, OptionValue],
    *,
    is_temporary: bool = False,
    cache: CacheFolder = False,
) -> Propagation:
    """Propagate as `propagate` does.

    Args:
        module: the module, which is changed in place.
        options: the options of the pipeline.
        is_temporary: whether the caller drops the module after a failure: it isn't restored
            then, and the caller has to verify the result.
        cache: the folder of stored results, as in `propagate`, for a module that isn't temporary.
            The record of a stored result is about a copy of the module.

    Raises:
        UsageError: there is no such option.
        PipelineError: a pass failed; the module is as it was before, unless it is temporary.
    """
    from pyshardy.caching.programs import run_or_restore  # noqa: PLC0415 (loads the host)
    from pyshardy.contracts.attributes import remember_annotated  # noqa: PLC0415
    from pyshardy.irtools.modules import copy_of  # noqa: PLC0415
    from pyshardy.propagation.debugging.explanation import Propagation  # noqa: PLC0415
    from pyshardy.propagation.observer import observed_by  # noqa: PLC0415

    pipeline = pipeline_of(use("sdy-propagation-pipeline", **options))
    annotated = None if is_temporary else copy_of(module)
    record = Propagation()

    def run() -> None:
        with observed_by(record):
            run_pipeline(
                module, pipeline, verify_each=not is_temporary, restore_on_failure=not is_temporary
            )

    store = None if is_temporary else Store.at(cache)
    is_restored = run_or_restore(store, module, pipeline, run)
    remember_annotated(module, annotated, options)
    if is_restored and annotated is not None:
        from pyshardy.propagation.debugging.replayed import (  # noqa: PLC0415
            ReplayedPropagation,
        )

        return ReplayedPropagation(module, lambda: run_pipeline(copy_of(annotated), pipeline))
    return record
