# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dialects registered at run time."""

from torch_mlir import ir

def load_dialects(module: ir.Module) -> None: ...
