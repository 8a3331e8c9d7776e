# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Portable artifacts of StableHLO: programs that other versions can read."""

from __future__ import annotations

from mlir_sdy.host import ir, stablehlo
from pyshardy.backends.modules import copy_of


def serialize(module: ir.Module, version: str) -> bytes:
    """The artifact of a module."""
    return stablehlo.serialize_portable_artifact(copy_of(module), version)
