# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Changes of the element types of all values, once no operation depends on them."""

from __future__ import annotations

from collections.abc import Callable, Collection

from mlir_sdy.host import ir
from pyshardy.irtools.stablehlo_views import FunctionView, function_type_of

Replacement = Callable[[ir.Type], "ir.Type | None"]
"""Returns the replacement of an element type, or None to keep it."""


def set_element_types(
    module: ir.Module, replacement: Replacement, kept: Collection[str] = ()
) -> None:
    """Change the types of scalars, tensors and memories in place.

    Casts and bitcasts between equal types are then removed.

    Args:
        module: the program. Of the attributes, only function types change.
        replacement: returns the new element types.
        kept: operations whose results keep their types; a cast is inserted after those whose
            types would change.
    """
    change = _Change(replacement)
    idle: list[ir.Operation] = []

    def visit(operation: ir.Operation) -> ir.WalkResult:
        name = operation.name
        for value in operation.results:
            if (new := change(value.type)) is not None:
                if name in kept:
                    _cast_after(operation, new)
                else:
                    value.set_type(new)
        for region in operation.regions:
            for block in region.blocks:
                for argument in block.arguments:
                    if (new := change(argument.type)) is not None:
                        argument.set_type(new)
        if name == "func.func":
            FunctionView(operation).function_type = change.signature(operation)
        elif name in ("builtin.unrealized_conversion_cast", "arith.bitcast"):
            idle.append(operation)
        return ir.WalkResult.ADVANCE

    with module.context:
        # Pre-order, so that block arguments are changed before their uses.
        module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
        for cast in idle:
            if cast.results[0].type == cast.operands[0].type:
                cast.results[0].replace_all_uses_with(cast.operands[0])
                cast.erase()


def _cast_after(operation: ir.Operation, result: ir.Type) -> None:
    """Cast the single result of an operation to a type for all its uses."""
    (value,) = operation.results
    is_scalar = not isinstance(result, ir.ShapedType)
    name = "arith.bitcast" if is_scalar else "builtin.unrealized_conversion_cast"
    with ir.InsertionPoint.after(operation), operation.location:
        cast = ir.Operation.create(name, results=[result], operands=[value])
    value.replace_all_uses_except(cast.results[0], cast)


class _Change:
    """The mapping of old types to new ones, cached."""

    def __init__(self, replacement: Replacement) -> None:
        self._replacement = replacement
        self._known: dict[ir.Type, ir.Type | None] = {}

    def __call__(self, old: ir.Type) -> ir.Type | None:
        """Return the new type, or None if the type is unchanged."""
        if old not in self._known:
            self._known[old] = self._new(old)
        return self._known[old]

    def signature(self, function: ir.Operation) -> ir.FunctionType:
        """The new type of a function."""
        old = function_type_of(function)
        inputs, results = (
            [self(each) or each for each in types] for types in (old.inputs, old.results)
        )
        return ir.FunctionType.get(inputs, results)

    def _new(self, old: ir.Type) -> ir.Type | None:
        if not isinstance(old, ir.ShapedType):
            return self._replacement(old)
        element = self._replacement(old.element_type)
        if element is None:
            return None
        if isinstance(old, ir.RankedTensorType):
            return ir.RankedTensorType.get(old.shape, element)
        if isinstance(old, ir.MemRefType):
            return ir.MemRefType.get(old.shape, element, old.layout, old.memory_space)
        return None


def drop_signs(module: ir.Module) -> None:
    """Replace types such as `ui32` by `i32`, and drop the casts between them.

    Operations of linalg and arith determine the signedness themselves.
    """
    set_element_types(module, _signless)


def _signless(element: ir.Type) -> ir.Type | None:
    if isinstance(element, ir.IntegerType) and not element.is_signless:
        return ir.IntegerType.get_signless(element.width)
    return None
