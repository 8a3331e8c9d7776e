# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes, one per file, by stage: `passes.exporting.close_shardings(module)`."""

from __future__ import annotations

import importlib
from typing import Any

from pyshardy.pipeline.pass_package import STAGES


def __getattr__(name: str) -> Any:
    if name not in STAGES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f"{__name__}.{name}")
