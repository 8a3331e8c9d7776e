# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The parts of the public API that put several others together."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlir_sdy import assembly
from mlir_sdy.assembly.attribute_text import read_stripped
from mlir_sdy.assembly.source import Cursor, Source
from mlir_sdy.diagnostics import SourceLocation, UsageError, error
from pyshardy.pipeline import run_pipeline
from pyshardy.pipeline.propagation_pipeline import propagation_stages

if TYPE_CHECKING:
    from mlir_sdy.host import ir
    from mlir_sdy.model import TensorSharding
    from pyshardy.propagation.passes import StrategyName
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


def propagate(
    module: ir.Module,
    *,
    propagation_strategy: StrategyName = "aggressive",
    run_op_priority_propagation: bool = True,
    conservative_propagation: bool = False,
    compatible: bool = False,
    **stages: Any,
) -> Propagation:
    """Propagate the shardings of a module: what `sdy-propagation-pipeline` does.

    Args:
        module: the module, which is changed in place.
        propagation_strategy: "aggressive", "basic", or "basic-then-aggressive".
        run_op_priority_propagation: whether operations through which shardings pass unchanged
            come first.
        conservative_propagation: whether to propagate full axes only, and not along the
            dimensions of windows and padding.
        compatible: whether to do as C++ Shardy does also where that is wrong or has no rule.
        stages: the options of the pipeline that concern what is done before and after.

    Returns:
        The record of all steps taken, in order.

    Raises:
        PipelineError: a pass failed; the module is as it was before that pass.
    """
    from pyshardy.propagation import passes  # noqa: PLC0415 (loads the host)
    from pyshardy.propagation.record import Propagation  # noqa: PLC0415

    record = Propagation()
    around = propagation_stages(**stages)
    run_pipeline(module, around.before)
    hierarchy = passes.Hierarchy(
        passes.STRATEGIES[propagation_strategy], run_op_priority_propagation, by_user=True
    )
    options = passes.PropagationOptions(
        keep_sharding_rules=conservative_propagation or bool(stages.get("keep_sharding_rules")),
        conservative_propagation=conservative_propagation,
        compatible=compatible,
    )
    passes.propagate(module, hierarchy, options, [record])
    run_pipeline(module, around.after)
    return record
