# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arithmetic on floating-point numbers of fewer than 32 bits, for CPUs without such instructions.

Operations are computed in f32, which represents all such numbers, and rounded after each; f32 has
more than twice their digits, so that sums, products, quotients and roots are rounded correctly.
Conversions become calls of the functions in `conversions`. The remaining operations move numbers
and are changed to integers, since LLVM would convert even there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable

from mlir_sdy.host import ir, passmanager
from mlir_sdy.uses import replace_by
from pyshardy.backends.jit import conversions
from pyshardy.backends.jit.conversions import SMALL_WIDTHS
from pyshardy.irtools.stablehlo_views import FunctionView, function_type_of
from pyshardy.irtools.walks import operations_named

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
                replace_by(cast, cast.operands[0])


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


_SMALL = re.compile("|".join(SMALL_WIDTHS))
_IN_F32 = (
    "math-extend-to-supported-types{target-type=f32}",
    f"arith-emulate-unsupported-floats{{source-types={','.join(SMALL_WIDTHS)} target-type=f32}}",
)
_FROM_INTEGERS = {"arith.sitofp": True, "arith.uitofp": False}
_TO_INTEGERS = {"arith.fptosi": "llvm.fptosi.sat", "arith.fptoui": "llvm.fptoui.sat"}
_BETWEEN_FLOATS = ("arith.extf", "arith.truncf")
_CONSTANTS = ("arith.constant", "memref.get_global")


def expand_small_floats(module: ir.Module, text: str) -> None:
    """Replace all non-constant floating-point numbers of fewer than 32 bits, in place.

    Conversions to integers, from all formats, become saturating ones that convert NaN to 0: LLVM
    leaves the result for numbers out of range undefined, and CPUs differ.

    Args:
        module: loops with operations of `arith` and `math` on scalars.
        text: the program from which they were lowered. Without small floats nothing is done.
    """
    functions = _Functions()
    _replace(module, _TO_INTEGERS, _saturate)
    if not _SMALL.search(text):
        return
    _replace(module, _FROM_INTEGERS, functions.from_integer)
    functions.define_in(module)
    passes = ",".join(f"func.func({each})" for each in _IN_F32)
    passmanager.PassManager.parse(f"builtin.module({passes})").run(module.operation)
    _replace(module, _BETWEEN_FLOATS, functions.between_floats)
    functions.define_in(module)
    set_element_types(module, _bits_of, _CONSTANTS)


def _replace(
    module: ir.Module,
    names: Iterable[str],
    replacement: Callable[[ir.Operation], ir.Value | None],
) -> None:
    for operation in operations_named(set(names), module):
        with operation.location, ir.InsertionPoint(operation):
            value = replacement(operation)
        if value is not None:
            replace_by(operation, value)


def _saturate(operation: ir.Operation) -> ir.Value:
    """Replace a conversion from f32 or f64 to an integer by a saturating one."""
    value = operation.operands[0]
    if str(value.type) in SMALL_WIDTHS:
        value = _create("arith.extf", value, ir.F32Type.get())
    result = operation.results[0].type
    call = ir.Operation.create(
        "llvm.call_intrinsic",
        results=[result],
        operands=[value],
        attributes={
            "intrin": ir.StringAttr.get(f"{_TO_INTEGERS[operation.name]}.{result}.{value.type}"),
            "op_bundle_sizes": ir.DenseI32ArrayAttr.get([]),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0]),
        },
    )
    return call.results[0]


class _Functions:
    """Replaces conversions by calls, and remembers the functions that are called."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def from_integer(self, operation: ir.Operation) -> ir.Value | None:
        """Replace a conversion of an integer to a small format, through an exact wider format."""
        (value,) = operation.operands
        target = operation.results[0].type
        if str(target) not in SMALL_WIDTHS:
            return None
        width = ir.IntegerType(value.type).width
        if width > 32:
            is_signed = _FROM_INTEGERS[operation.name]
            name = conversions.name_of_rounding_to_odd(is_signed)
            self._texts.setdefault(name, conversions.rounding_to_odd(is_signed))
            exact = _call(name, value, ir.F64Type.get())
        else:
            exact_type = ir.F32Type.get() if width <= 24 else ir.F64Type.get()
            exact = _create(operation.name, value, exact_type)
        return _create("arith.truncf", exact, target)

    def between_floats(self, operation: ir.Operation) -> ir.Value | None:
        """Replace a conversion from or to a small format.

        At this point the functions still take and return small floats, not their bits.
        """
        (value,) = operation.operands
        result = operation.results[0]
        source, target = str(value.type), str(result.type)
        if source in SMALL_WIDTHS:
            self._texts.setdefault(source, conversions.widening(source))
            value = _call(conversions.name_of(source, "f32"), value, ir.F32Type.get())
            source = "f32"
        if target in SMALL_WIDTHS:
            name = conversions.name_of(source, target)
            self._texts.setdefault(name, conversions.narrowing(source, target))
            return _call(name, value, result.type)
        if value == operation.operands[0]:
            return None  # Neither of them is small.
        return value if source == target else _create("arith.extf", value, result.type)

    def define_in(self, module: ir.Module) -> None:
        """Add the functions that are called since the last time."""
        if not self._texts:
            return
        library = ir.Module.parse("\n".join(self._texts.values()), module.context)
        for function in list(library.body.operations):
            module.body.append(function)
        self._texts.clear()


def _create(name: str, value: ir.Value, result: ir.Type) -> ir.Value:
    return ir.Operation.create(name, results=[result], operands=[value]).results[0]


def _call(name: str, value: ir.Value, result: ir.Type) -> ir.Value:
    callee = {"callee": ir.FlatSymbolRefAttr.get(name)}
    call = ir.Operation.create("func.call", results=[result], operands=[value], attributes=callee)
    return call.results[0]


def _bits_of(element: ir.Type) -> ir.Type | None:
    """Return the integer type that replaces a small float type."""
    if not isinstance(element, ir.FloatType) or element.width >= 32:
        return None
    return ir.IntegerType.get_signless(element.width)
