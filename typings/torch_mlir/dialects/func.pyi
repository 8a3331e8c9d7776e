# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions, calls and returns."""

from collections.abc import Sequence

from torch_mlir import ir

class FuncOp(ir.OpView):
    arg_attrs: ir.ArrayAttr
    def __init__(
        self,
        name: str,
        type: ir.FunctionType | tuple[Sequence[ir.Type], Sequence[ir.Type]],
        *,
        visibility: str | None = None,
        loc: ir.Location | None = None,
        ip: ir.InsertionPoint | None = None,
    ) -> None: ...
    @property
    def name(self) -> ir.StringAttr: ...
    @property
    def type(self) -> ir.FunctionType: ...
    @property
    def visibility(self) -> ir.StringAttr | None: ...
    @property
    def body(self) -> ir.Region: ...
    @property
    def is_external(self) -> bool: ...
    @property
    def entry_block(self) -> ir.Block: ...
    @property
    def arguments(self) -> ir.BlockArgumentList: ...
    @property
    def result_attrs(self) -> ir.ArrayAttr: ...
    def add_entry_block(self, arg_locs: Sequence[ir.Location] | None = None) -> ir.Block: ...

class ReturnOp(ir.OpView):
    def __init__(
        self,
        operands_: Sequence[ir.Value],
        *,
        loc: ir.Location | None = None,
        ip: ir.InsertionPoint | None = None,
    ) -> None: ...

class CallOp(ir.OpView):
    @property
    def callee(self) -> ir.FlatSymbolRefAttr: ...
