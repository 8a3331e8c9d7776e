# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Misspelled names of attributes: MLIR accepts `sdy.shading = ...`, which nothing reads."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mlir_sdy.assembly.source import SourceText
from mlir_sdy.diagnostics import Diagnostic, warning
from mlir_sdy.suggest import nearest

_WRITTEN = (
    "sharding",
    "sharding_rule",
    "propagation_edges",
    "contract",
    "factor_axes",
    "partial_sharding",
    "func_no_inline",
)
"""The attributes that users write."""

_KNOWN = frozenset(
    {
        *_WRITTEN,
        "at_call",
        "axis_names",
        "block_arg_propagation_edges",
        "contracts",
        "func_contract",
        "func_manual_axes",
        "manual_axes",
        "original_func_name",
        "origin",
        "output_shardings",
        "parameters_shardings",
        "result_propagation_edges",
        "sharding_origin_name",
        "sharding_origins",
    }
)
"""All attributes of the project."""

_UNKNOWN = re.compile(rf"(?<![\w.\"])sdy\.(?!(?:{'|'.join(sorted(_KNOWN))})\b)(\w+)(?=\s*=)")
"""Finds unknown names; a name that resembles no known name is of another tool."""


def misspelled_attributes(source: SourceText) -> Iterator[Diagnostic]:
    """Yield a warning for each attribute whose name is almost that of a known attribute.

    Args:
        source: the text of a valid program. Names that resemble none are those of other tools.
    """
    for name in sorted(set(_UNKNOWN.findall(source.text))):
        meant = nearest(name, _WRITTEN)
        if meant is not None:
            found = re.search(rf"(?<![\w.\"])sdy\.{name}\b", source.text)
            assert found is not None, "it was found before"
            message = f"nothing reads the attribute 'sdy.{name}'; did you mean 'sdy.{meant}'?"
            yield warning(message, source.location(found.start()))
