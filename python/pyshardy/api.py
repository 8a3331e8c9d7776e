# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The parts of the public API that put several others together."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from mlir_sdy import assembly
from mlir_sdy.assembly.attribute_text import read_stripped
from mlir_sdy.assembly.source import Cursor, Source
from mlir_sdy.diagnostics import SourceLocation, UsageError, error
from pyshardy.pipeline import run_pipeline

if TYPE_CHECKING:
    from mlir_sdy.host import ir
    from mlir_sdy.model import TensorSharding
    from pyshardy.propagation.record import Propagation


def parse(text_or_path: str | os.PathLike[str], context: ir.Context) -> ir.Module:
    """Read a module in MLIR assembly with custom sdy syntax.

    Args:
        text_or_path: the assembly itself, or the file that holds it: a path object, or a string
            of one line that ends with ".mlir".
        context: a context with the dialect (see `Context`).

    Raises:
        UsageError: the file can't be read.
        ParseError: the text can't be.
        VerificationError: an operation or attribute breaks a rule.
    """
    if isinstance(text_or_path, str) and not _is_path(text_or_path):
        return assembly.parse(text_or_path, context)
    path = Path(text_or_path)
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as reason:
        place = SourceLocation(str(path), 0, 0)
        raise UsageError(error(f"the file can't be read: {reason}", place)) from None
    return assembly.parse(text, context, str(path))


def _is_path(text: str) -> bool:
    return "\n" not in text and text.endswith(".mlir")


def sharding(text: str) -> TensorSharding:
    """Read a sharding, as it is written in a program: `<@mesh, [{"x"}, {?}]>`.

    Args:
        text: the sharding; `#sdy.sharding` may stand in front of it.

    Raises:
        ParseError: the text can't be read.
    """
    cursor = Cursor(Source(text, "sharding"))
    value: TensorSharding = read_stripped("sharding")(cursor)
    cursor.skip_blank()
    if cursor.position < len(text):
        raise cursor.unexpected("the end of the sharding")
    return value


_BEFORE = "sdy-lift-inlined-meshes,sdy-add-func-data-flow-edges"
_AFTER = "sdy-propagate-to-func-results,func.func(sdy-sink-func-data-flow-edges)"


def propagate(module: ir.Module) -> Propagation:
    """Propagate the shardings of a module, through functions and calls.

    Constraints stay where they are; `partition` turns them into reshards.

    Args:
        module: the module, which is changed in place.

    Returns:
        The record of all steps taken, in order.

    Raises:
        PassError: a pass failed.
    """
    from pyshardy.propagation.passes import basic_propagate  # noqa: PLC0415 (loads the host)

    run_pipeline(module, _BEFORE)
    record = basic_propagate(module)
    run_pipeline(module, _AFTER)
    return record
