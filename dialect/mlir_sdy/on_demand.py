# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The mpmd dialect, which is loaded only for programs that mention it."""

from __future__ import annotations

import importlib
from typing import Any

from mlir_sdy.host import ir

NAME = "mpmd"
_PACKAGE = "mlir_sdy.mpmd"


def has_mpmd(context: ir.Context) -> bool:
    """Whether the mpmd dialect is registered with a context."""
    return context.is_dialect_loaded(NAME)


def register_if_mentioned(text: str | bytes, context: ir.Context) -> None:
    """Register the mpmd dialect with a context if a program mentions it."""
    is_mentioned = NAME in text if isinstance(text, str) else NAME.encode() in text
    if is_mentioned and not has_mpmd(context):
        module_of_mpmd("dialect").register(context)


def module_of_mpmd(name: str) -> Any:
    """Import a module of the dialect."""
    return importlib.import_module(f"{_PACKAGE}.{name}")
