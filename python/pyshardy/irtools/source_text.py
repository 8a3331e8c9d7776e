# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The texts that modules were parsed from."""

from __future__ import annotations

import weakref

from mlir_sdy.host import ir

_texts: weakref.WeakKeyDictionary[ir.Module, str] = weakref.WeakKeyDictionary()


def remember_text(module: ir.Module, text: str | None) -> None:
    """Associate a module with the text that it was parsed from, for as long as it exists."""
    if text is not None:
        _texts[module] = text


def text_of(module: ir.Module) -> str | None:
    """Return the text that a module was parsed from; None if it wasn't, or if it is a copy."""
    return _texts.get(module)
