# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The annotated module of a program, which `propagate` may have changed since."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import ir
from mlir_sdy.programs import held_module
from pyshardy.any_program import check_no_arguments, check_one_mesh, traced_module
from pyshardy.api import propagate, propagate_with
from pyshardy.contracts.attributes import Original, original_of
from pyshardy.irtools.modules import copy_of
from pyshardy.program import PartitionedProgram
from pyshardy.sizes.signature import is_dynamic
from pyshardy.sizes.symbols import hint_values, read_symbols, write_symbols


def annotated_module(
    function: str,
    program: Any,
    args: tuple[Any, ...],
    keywords: Mapping[str, Any],
    *,
    with_options: bool = True,
) -> tuple[ir.Module, str, Mapping[str, Any]]:
    """Return the annotated module of a program, which may be changed, a title, and options.

    Args:
        function: the name of the function in the API, for errors.
        program: a program that `explain` takes; of a partitioned one, the module that it was made
            from.
        args: the positional arguments of a function, or the inputs of a module of PyTorch.
        keywords: `mesh`, `in_shardings`, `out_shardings`, `kwargs` and `static_argnames`.
        with_options: whether the caller propagates with the options again. Otherwise, a module that
            was propagated with options is taken as it is.

    Returns:
        The options are those that the program was propagated with; none if it wasn't.

    Raises:
        UsageError: the arguments don't fit the program.
    """
    if isinstance(program, PartitionedProgram):
        if program.origin is None:
            raise UsageError(error("it is unknown what the program was partitioned from"))
        program = program.origin.module
    module = held_module(program)
    if module is None:
        return *traced_module(function, program, args, keywords), {}
    check_one_mesh(f"sdy.{function}", module)
    check_no_arguments(args, keywords)
    original = written_by_user(module)
    if original is None or (original.options and not with_options):
        return copy_of(module), "program", {}
    annotated = copy_of(original.module)
    write_symbols(annotated, read_symbols(module).values())  # with the hints of propagation
    return annotated, "program", original.options


def written_by_user(module: ir.Module) -> Original | None:
    """Return what a module was propagated from; None if it is unknown, or the module has changed.

    The original is propagated again, to see whether the module is still what follows from it.
    """
    original = original_of(module)
    if original is None:
        return None
    again = copy_of(original.module)
    if is_dynamic(again):
        propagate(again, hints=hint_values(read_symbols(module)), **original.options)
    else:
        propagate_with(again, original.options, is_temporary=True)
    return original if _text(again) == _text(module) else None


def _text(module: ir.Module) -> str:
    return module.operation.get_asm(enable_debug_info=False)
