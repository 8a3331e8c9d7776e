# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pipelines as values, made from names, options and other pipelines.

    pipeline_of("sdy-close-shardings", on_functions("cse"), use("inline", max_iterations=2))

is `builtin.module(sdy-close-shardings,func.func(cse),inline{max-iterations=2})`.
"""

from __future__ import annotations

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.suggest import did_you_mean
from pyshardy.pipeline.options import OptionValue, option_text
from pyshardy.pipeline.registry import passes, pipelines
from pyshardy.pipeline.syntax import MODULE_ANCHOR, OptionText, PassPipeline, PassUse

Element = str | PassUse | PassPipeline
"""A pass by its name, a pass with options, or passes on operations inside of the current one."""


def use(argument: str, /, **options: OptionValue) -> PassUse:
    """Return a pass, or a named pipeline, with options by their keywords, underscores for dashes.

    Options that equal their default are omitted; a pass of the host keeps all options.

    Example: `use("a-pass", keep_rules=True, directory="")` is `a-pass{keep-rules=true}`, if the
    default of `directory` is the empty string.

    Raises:
        UsageError: a pass or pipeline of this project has no such option.
    """
    info = (passes().get(argument) or pipelines().get(argument)) if options else None
    declared = None if info is None else info.options
    defaults = {} if declared is None else {each.keyword: each.default for each in declared}
    for keyword in options if declared is not None else ():
        if keyword not in defaults:
            listed = f"; the options are {', '.join(sorted(defaults))}" if defaults else ""
            advice = did_you_mean(keyword.replace("-", "_"), defaults) or listed
            raise UsageError(error(f"'{argument}' has no option '{keyword}'{advice}"))
    written = tuple(
        OptionText(keyword.replace("_", "-"), option_text(value))
        for keyword, value in options.items()
        if keyword not in defaults or defaults[keyword] != value
    )
    return PassUse(argument, written)


def on_functions(*elements: Element) -> PassPipeline:
    """Return passes to run on each function."""
    return PassPipeline("func.func", tuple(map(_element, elements)))


def pipeline_of(*elements: Element) -> PassPipeline:
    """Return passes to run on the module.

    A pipeline on the module among the elements is replaced by its passes.
    """
    found: list[PassUse | PassPipeline] = []
    for element in map(_element, elements):
        if isinstance(element, PassPipeline) and element.anchor == MODULE_ANCHOR:
            found += element.elements
        else:
            found.append(element)
    return PassPipeline(MODULE_ANCHOR, tuple(found))


def _element(element: Element) -> PassUse | PassPipeline:
    return PassUse(element) if isinstance(element, str) else element
