# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes on whole modules and functions, one a file: `passes.exporting.close_shardings(module)`."""

from __future__ import annotations

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    if name not in ("exporting", "importing"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f"{__name__}.{name}")
