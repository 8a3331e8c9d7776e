# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `mlir_sdy.host` needs of it to import programs of PyTorch."""

from torch_mlir import ir

def register_dialect(context: ir.Context, load: bool = ...) -> None: ...
