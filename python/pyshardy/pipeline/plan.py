# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversion of a textual pipeline to steps: look-up of names, checks of options and anchors.

Named pipelines are expanded. As in upstream's tools, a pass on another operation than the module is
nested implicitly: `builtin.module(close-funcs)` means `builtin.module(func.func(close-funcs))` if
the pass runs on functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from mlir_sdy.diagnostics import UsageError, emit, error, warning, wrong_type
from mlir_sdy.host import ir
from mlir_sdy.suggest import did_you_mean
from pyshardy.pipeline import host_passes
from pyshardy.pipeline.host_pass_names import WELL_KNOWN_HOST_PASSES
from pyshardy.pipeline.options import OptionValue, read_options
from pyshardy.pipeline.registry import PassInfo, display_name, passes, pipelines
from pyshardy.pipeline.syntax import (
    MODULE_ANCHOR,
    OptionText,
    PassPipeline,
    PassUse,
    parse_pipeline,
)


@dataclass(frozen=True, slots=True)
class Step:
    """One pass of a pipeline, ready to run.

    Attributes:
        use: the pass as written.
        nesting: the operations to descend through from the module, often ("func.func",).
        info: the pass, or None for a pass of the host.
        keywords: the options that were set, for a pass written in Python.
        is_inside: whether more passes of the same named pipeline follow.
    """

    use: PassUse
    nesting: tuple[str, ...]
    info: PassInfo | None = None
    keywords: Mapping[str, OptionValue] = field(default_factory=dict[str, OptionValue])
    is_inside: bool = False

    @property
    def argument(self) -> str:
        """The name of the pass in pipelines."""
        return self.use.name

    @property
    def display_name(self) -> str:
        """The name of the pass in IR dumps and timing reports."""
        return display_name(self.use.name) if self.info is None else self.info.display_name

    @property
    def pipeline(self) -> PassPipeline:
        """The pipeline of only this step."""
        element: PassUse | PassPipeline = self.use
        for anchor in reversed(self.nesting):
            element = PassPipeline(anchor, (element,))
        return PassPipeline(MODULE_ANCHOR, (element,))


def operations_at(module: ir.Module, nesting: tuple[str, ...]) -> Iterator[ir.OpView]:
    """Yield the operations that a step at `nesting` runs on, in the order of the text.

    "any" matches operations of every name.
    """
    operations: list[ir.OpView] = [module.operation.opview]
    for anchor in nesting:
        operations = [
            inner
            for outer in operations
            for region in outer.regions
            for block in region.blocks
            for inner in block.operations
            if anchor in ("any", inner.operation.name)
        ]
    yield from operations


def plan_pipeline(pipeline: str | PassPipeline) -> tuple[Step, ...]:
    """Return the steps of `pipeline` in the order of execution.

    Raises:
        UsageError: an unknown pass, an invalid option, or a pass that cannot run on its anchor.
    """
    if isinstance(pipeline, str):
        pipeline = parse_pipeline(pipeline)
    if not isinstance(pipeline, PassPipeline):  # pyright: ignore[reportUnnecessaryIsInstance]
        expected = "a pipeline as text, such as 'sdy-basic-propagate,func.func(cse)'"
        raise wrong_type("run_pipeline", expected, pipeline)
    return tuple(_steps(pipeline, (), ()))


def _steps(
    pipeline: PassPipeline, nesting: tuple[str, ...], expanding: tuple[str, ...]
) -> list[Step]:
    found: list[Step] = []
    for element in pipeline.elements:
        if isinstance(element, PassPipeline):
            found += _steps(element, (*nesting, element.anchor), expanding)
            continue
        element = with_current_names(element)  # noqa: PLW2901
        if element.name in pipelines():
            inner = _expanded(element, expanding)
            try:
                steps = _steps(inner, nesting, (*expanding, element.name))
            except UsageError as refusal:
                first = refusal.diagnostics[0]
                if first.location is not None or element.location is None:
                    raise
                # The passes of a named pipeline have no place; the name of the pipeline has.
                message = f"pipeline '{element.name}': {first.message}"
                raise UsageError(error(message, element.location)) from None
            found += [replace(step, is_inside=True) for step in steps[:-1]] + steps[-1:]
        elif (info := passes().get(element.name)) is not None:
            if not info.may_hide and host_passes.knows(element.name):
                message = f"the registered pass '{element.name}' hides the one of MLIR"
                advice = "give it another name, or register it with replace=True"
                emit(warning(f"{message}: {advice}", element.location))
            place = _place(element, nesting, info.anchor)
            found.append(Step(element, place, info, read_options(element, info.options)))
        else:
            found.append(_host_step(element, nesting))
    return found


def _expanded(use: PassUse, expanding: tuple[str, ...]) -> PassPipeline:
    if use.name in expanding:
        raise UsageError(error(f"pipeline '{use.name}' contains itself", use.location))
    info = pipelines()[use.name]
    options = read_options(use, info.options)
    try:
        return info.build(**options)
    except ValueError as refusal:
        raise UsageError(error(f"pipeline '{use.name}': {refusal}", use.location)) from refusal


def _host_step(use: PassUse, nesting: tuple[str, ...]) -> Step:
    if not host_passes.knows(use.name):
        known = [*passes(), *pipelines(), *WELL_KNOWN_HOST_PASSES]
        advice = did_you_mean(use.name, known)
        raise UsageError(error(f"unknown pass '{use.name}'{advice}", use.location))
    current = nesting[-1] if nesting else MODULE_ANCHOR
    required = host_passes.anchor_for(use, current)
    return Step(use, nesting if required == current else _place(use, nesting, required))


def _place(use: PassUse, nesting: tuple[str, ...], required: str) -> tuple[str, ...]:
    """Return the nesting at which a pass on `required` operations runs if written at `nesting`."""
    if not nesting:
        return () if required == MODULE_ANCHOR else (required,)
    # A pass on the module gets an `ir.Module`, which exists only for the outermost one.
    if nesting[-1] == required and required != MODULE_ANCHOR:
        return nesting
    message = f"pass '{use.name}' runs on '{required}', not within '{nesting[-1]}(...)'"
    raise UsageError(error(message, use.location))


# --- Names of former releases ---------------------------------------------------------------------


PASSES: Mapping[str, str] = {"sdy-unshard-short-dimensions": "sdy-unshard-size-one-dims"}
"""The new name of each renamed pass."""

OPTIONS: Mapping[tuple[str, str], Mapping[str, str]] = {
    ("sdy-insert-explicit-reshards", "replicate-without-local-form"): {
        "true": "compatibility=cheapest",
        "false": "compatibility=shardy",
    },
}
"""For each replaced option of a pass, the new option by the old value."""


def with_current_names(use: PassUse) -> PassUse:
    """Return a use of a pass with the current names of the pass and its options.

    Each old name is warned about, at its place in the pipeline.

    Example: `sdy-unshard-short-dimensions` becomes `sdy-unshard-size-one-dims`.
    """
    name = PASSES.get(use.name, use.name)
    if name != use.name:
        _warn(f"pass '{use.name}'", name, use)
    options = tuple(_current_option(name, option, use) for option in use.options)
    return replace(use, name=name, options=options)


def _current_option(name: str, option: OptionText, use: PassUse) -> OptionText:
    replacements = OPTIONS.get((name, option.name))
    if replacements is None:
        return option
    new = replacements.get(option.value or "true")
    if new is None:
        return option
    _warn(f"option '{option.name}' of '{name}'", new, use)
    new_name, _, value = new.partition("=")
    return replace(option, name=new_name, value=value)


def _warn(old: str, new: str, use: PassUse) -> None:
    message = f"{old} is deprecated and will be removed in the next release: use '{new}'"
    emit(warning(message, use.location))
