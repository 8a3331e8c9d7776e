# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Unsigned integers as plain ones.

The operations of linalg and arith say themselves whether they take numbers as signed; the types
must not.
"""

from __future__ import annotations

from mlir_sdy.host import ir

_TYPE_ATTRIBUTES = ("function_type", "value")


def drop_signs(module: ir.Module) -> None:
    """Make `i32` of `ui32`, in all types of values and of constants, and drop casts between."""
    casts: list[ir.Operation] = []

    def visit(operation: ir.Operation) -> ir.WalkResult:
        for value in operation.results:
            value.set_type(_plain(value.type))
        for region in operation.regions:
            for block in region.blocks:
                for argument in block.arguments:
                    argument.set_type(_plain(argument.type))
        if operation.name == "func.func":
            function_type = operation.attributes["function_type"].value
            operation.attributes["function_type"] = ir.TypeAttr.get(
                ir.FunctionType.get(
                    list(map(_plain, function_type.inputs)),
                    list(map(_plain, function_type.results)),
                )
            )
        if operation.name == "builtin.unrealized_conversion_cast":
            casts.append(operation)
        return ir.WalkResult.ADVANCE

    with module.context:
        module.operation.walk(visit)
        for cast in casts:
            if cast.results[0].type == cast.operands[0].type:
                cast.results[0].replace_all_uses_with(cast.operands[0])
                cast.erase()


def _plain(value_type: ir.Type) -> ir.Type:
    if isinstance(value_type, ir.RankedTensorType):
        element = value_type.element_type
        plain = _plain(element)
        return value_type if plain == element else ir.RankedTensorType.get(value_type.shape, plain)
    if isinstance(value_type, ir.IntegerType) and not value_type.is_signless:
        return ir.IntegerType.get_signless(value_type.width)
    return value_type
