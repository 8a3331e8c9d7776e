# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Old names of passes and options, accepted with a warning for one release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mlir_sdy.diagnostics import emit, warning
from pyshardy.pipeline.syntax import OptionText, PassUse

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
