# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The annotated programs of propagated modules with contracts.

Advice on a violated contract changes annotations, which a propagated module doesn't have any more.
So propagation keeps a copy of each module with a contract.
"""

from __future__ import annotations

import weakref

from mlir_sdy.host import ir
from pyshardy.contracts.attributes import has_contracts
from pyshardy.irtools.modules import copy_of, remember_text, text_of

_annotated: weakref.WeakKeyDictionary[ir.Module, ir.Module] = weakref.WeakKeyDictionary()


def copy_with_contracts(module: ir.Module) -> ir.Module | None:
    """Return a copy of a module, with its text; None if it has no contract."""
    if not has_contracts(module):
        return None
    copy = copy_of(module)
    remember_text(copy, text_of(module))
    return copy


def remember_annotated(module: ir.Module, annotated: ir.Module | None) -> None:
    """Associate a propagated module with the annotated one, for as long as it exists."""
    if annotated is not None:
        _annotated[module] = annotated


def annotated_of(module: ir.Module) -> ir.Module | None:
    """Return what a module was propagated from; None if it has no contract, or it is unknown."""
    return _annotated.get(module)
