# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `mlir_sdy.host` needs of it to import programs of PyTorch."""

from typing import Any

from torch_mlir import ir

class FxImporter:
    def __init__(self, *, context: ir.Context | None = ...) -> None: ...
    @property
    def module(self) -> ir.Module: ...
    def import_stateless_graph(self, g: Any, *, func_name: str = ...) -> ir.Operation: ...
