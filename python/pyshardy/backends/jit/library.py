# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of the C library in place of imprecise formulas of MLIR's passes."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.irtools.walks import operations_named

_FUNCTIONS = {"math.expm1": "expm1", "math.log1p": "log1p", "math.tanh": "tanh"}
"""Near zero, the formulas of the passes (`exp(x) - 1`, `log(1 + x)`) have no correct digit."""


def call_library(module: ir.Module) -> None:
    """Replace operations on f32 and f64 by calls of functions of the C library, in place."""
    declared: set[str] = set()
    for operation in operations_named(_FUNCTIONS, module):
        (operand,) = operation.operands
        element = operand.type
        suffixes = {"f32": "f", "f64": ""}
        if str(element) not in suffixes:
            continue
        name = _FUNCTIONS[operation.name] + suffixes[str(element)]
        with module.context, operation.location:
            if name not in declared:
                _declare(module, name, element)
                declared.add(name)
            with ir.InsertionPoint(operation):
                call = ir.Operation.create(
                    "func.call",
                    results=[element],
                    operands=[operand],
                    attributes={"callee": ir.FlatSymbolRefAttr.get(name)},
                )
        operation.results[0].replace_all_uses_with(call.results[0])
        operation.erase()


def _declare(module: ir.Module, name: str, element: ir.Type) -> None:
    text = f"func.func private @{name}({element}) -> {element} attributes {{llvm.readnone}}"
    declaration = ir.Module.parse(text)
    module.body.append(declaration.body.operations[0])
