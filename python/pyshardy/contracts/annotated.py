# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The annotated programs of propagated modules.

An explanation, and advice on a violated contract, are about the annotations that the user wrote,
which a propagated module doesn't tell from the shardings that follow from them. So propagation
keeps a copy of each module.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mlir_sdy.host import ir
from pyshardy.contracts.attributes import has_contracts
from pyshardy.irtools.modules import BesideModules, copy_of


@dataclass(frozen=True, slots=True)
class Original:
    """The program that a module was propagated from.

    Attributes:
        module: the annotated module.
        options: the options of its propagation.
    """

    module: ir.Module
    options: Mapping[str, Any]


_originals: BesideModules[Original] = BesideModules()


def copy_with_contracts(module: ir.Module) -> ir.Module | None:
    """Return a copy of a module, with its text; None if it has no contract."""
    return copy_of(module) if has_contracts(module) else None


def remember_annotated(
    module: ir.Module, annotated: ir.Module | None, options: Mapping[str, Any] | None = None
) -> None:
    """Associate a propagated module with the annotated one, for as long as it exists."""
    if annotated is not None:
        _originals.set(module, Original(annotated, dict(options or {})))


def original_of(module: ir.Module) -> Original | None:
    """Return what a module was propagated from; None if it is unknown."""
    return _originals.get(module)


def annotated_of(module: ir.Module) -> ir.Module | None:
    """Return what a module with contracts was propagated from, without options; None if unknown."""
    original = _originals.get(module)
    if original is None or original.options or not has_contracts(original.module):
        return None
    return original.module
