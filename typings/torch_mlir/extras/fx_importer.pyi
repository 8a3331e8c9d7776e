# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `mlir_sdy.host` needs of it to import programs of PyTorch."""

from typing import Any

from torch_mlir import ir

class ContextCache:
    def value_info_to_type(self, val: Any) -> ir.Type: ...

class GraphNodeImporter:
    fx_importer: FxImporter
    _c: ir.Context
    _cc: ContextCache
    _multi_result_nodes: set[Any]
    def bind_node_value(self, node: Any, value: ir.Value, result_index: int = ...) -> None: ...
    _v: dict[tuple[Any, int], ir.Value]
    def resolve_node_value(self, node: Any, result_index: int = ...) -> ir.Value: ...
    def _import_argument(
        self, loc: ir.Location, arg: Any, expected_jit_type: Any = ...
    ) -> ir.Value: ...
    def _import_torch_op_overload(
        self, loc: ir.Location, node: Any, concrete_target: Any = ...
    ) -> None: ...
    def _import_hop(self, loc: ir.Location, node: Any, hop: Any) -> None: ...

class FxImporter:
    _m_ip: ir.InsertionPoint
    symbol_table: ir.SymbolTable
    def __init__(
        self,
        *,
        context: ir.Context | None = ...,
        graph_node_importer_cls: type[GraphNodeImporter] | None = ...,
    ) -> None: ...
    @property
    def module(self) -> ir.Module: ...
    def import_stateless_graph(self, g: Any, *, func_name: str = ...) -> ir.Operation: ...
