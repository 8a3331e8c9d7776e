# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The static program for given sizes.

1. The size map at these sizes has the types of all values; see `size_map`. Values that are computed
   from sizes become constants, as do scalar arguments that are symbols.
2. Operations with sizes as operands become those with sizes in attributes (`static_shapes`), and
   assertions about sizes are checked and erased.

Each operation keeps its attributes, shardings among them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

from mlir_sdy.attribute_search import operations_with
from mlir_sdy.diagnostics import SourceLocation, UsageError, error
from mlir_sdy.discardable import remove_discardable, text_of
from mlir_sdy.host import diagnostics_of, ir, location_of
from mlir_sdy.traversal import names_among
from mlir_sdy.uses import is_used, place_behind, replace_by
from mlir_sdy.values import set_argument_attributes
from pyshardy.irtools.constants import constant_integers
from pyshardy.irtools.functions import (
    CallGraph,
    can_be_inlined,
    erase_arguments,
    functions_of,
    replace_by_body,
    update_type,
)
from pyshardy.irtools.modules import copy_of, write_texts
from pyshardy.irtools.stablehlo_builder import StablehloBuilder, integer_literal
from pyshardy.irtools.stablehlo_views import CustomCallView, callee_of, symbol_name
from pyshardy.irtools.static_shapes import FORMS, SHAPE_OPERANDS, static_form
from pyshardy.irtools.tensor_types import element_type_of, is_bounded, shape_of, with_shape
from pyshardy.irtools.walks import operations_named, tell_inserted
from pyshardy.pipeline import run_pipeline
from pyshardy.sizes.reduce_windows import static_window
from pyshardy.sizes.signature import (
    EQUAL_SIZES,
    GUARDS,
    SIZES,
    DynamicSignature,
    entry_of,
    signature_of,
    write_sizes,
)
from pyshardy.sizes.size import Size
from pyshardy.sizes.size_map import LARGEST, SizeMap
from pyshardy.sizes.size_reader import DIMENSION_SIZE, READ, holds_sizes
from pyshardy.sizes.symbols import (
    SYMBOLS,
    check_name,
    hint_values,
    told_values,
    with_hints,
    write_symbols,
)

ASSERTION = "shape_assertion"
"""The target of custom calls of JAX that check a condition on sizes."""

ASSERTED = re.compile(r"symbolic shape constraint (.*?)\. Expected ")
"""The constraint that an assertion of an exported function checks, in its message."""

_WITH_FORMS = FORMS.keys() - {DIMENSION_SIZE}
_CALL = "stablehlo.custom_call"


def without_calls(module: ir.Module) -> ir.Module:
    """Return a copy of a program without calls, in which equal operations are merged.

    Front ends compute sizes anew for each operation that needs them. Programs that compute none are
    copied only.
    """
    copy = copy_of(module)
    if len(functions_of(copy)) > 1:
        _run(copy, "cse")  # fewer operations are inlined
        inline_calls(copy)
    if names_among({DIMENSION_SIZE, *FORMS}, copy.operation):
        _run(copy, "cse")
    return copy


def inline_calls(module: ir.Module) -> None:
    """Inline the functions that the entry calls, in place; after a failure, the module is lost.

    Composites are calls of their decompositions.
    """
    if len(functions_of(module)) == 1:
        return
    _run(module, "func.func(stablehlo-legalize-composite-to-call)")
    _run(module, "inline{default-pipeline=}")
    graph = CallGraph(module)  # of manual computations, of which the host knows nothing
    for call in () if graph.is_recursive else graph.calls_in_post_order():
        function = graph.functions.get(callee_of(call))
        if function is not None and can_be_inlined(function):
            replace_by_body(call, function.clone(ip=False).operation.regions[0].blocks[0])
    if graph.post_order != [symbol_name(entry_of(module))]:
        _run(module, "symbol-dce")


def _run(module: ir.Module, host_pass: str) -> None:
    """Run a pass of the host on a program that is dropped after a failure, and verified later."""
    pipeline = f"builtin.module({host_pass})"
    run_pipeline(module, pipeline, verify_each=False, restore_on_failure=False)


def static_at(module: ir.Module, given: Mapping[str, int], what: str = "sizes") -> ir.Module:
    """Return the static program for given sizes; symbols without a value have their hints.

    Args:
        module: the dynamic program, which isn't changed; arguments may have equal sizes.
        given: values of symbols.
        what: the flag or option that has them, for errors.

    Raises:
        UsageError: a size is wrong; or as for `static_program`.
    """
    copy = copy_of(module)

    def refined(signature: DynamicSignature) -> ir.Module:
        return static_program(copy, values_with(signature, given, copy, what), signature)

    return unified(copy, refined)


def values_with(
    signature: DynamicSignature, given: Mapping[str, int], module: ir.Module, what: str = "sizes"
) -> dict[str, int]:
    """Return the values of all symbols; see `static_at`."""
    for name in given:
        check_name(name, signature.symbols, what)
    values = hint_values(with_hints(signature.symbols, {}, module)) | dict(given)
    return signature.check(values)


def static_program(
    module: ir.Module, values: Mapping[str, int], signature: DynamicSignature
) -> ir.Module:
    """Return the program for the values of all symbols, with the attributes of the dynamic one.

    Raises:
        UsageError: an assertion of the program doesn't hold for these sizes, operands have sizes
            that don't fit, or the type of a result can't be found; the error names the operation.
    """
    static = without_calls(module)
    SizeRefinement(static, values, signature).complete()
    return static


class SizeRefinement:
    """Changes a program without calls to the one for the values of all symbols, in place.

    Attributes:
        sizes: the sizes of its values.

    Raises:
        UsageError: an argument can't have its size, an assertion doesn't hold, or the type of a
            result isn't known.
    """

    def __init__(self, module: ir.Module, values: Mapping[str, int], signature: DynamicSignature):
        self._module, self._entry, self._signature = module, entry_of(module), signature
        self._told = told_values(values)
        block = self._entry.regions[0].blocks[0]
        for each in signature.arguments:
            for size in each.sizes:
                number = size.evaluate(values)
                if not 0 <= number <= LARGEST:
                    message = f"{each.name} can't have the size {size} = {number}: a size is from 0"
                    raise UsageError(error(f"{message} to {LARGEST:,}", each.place))
        for index, name in signature.constants.items():
            kind = block.arguments[index].type
            if not holds_sizes(kind) or not fits(kind, [values[name]]):
                place = location_of(block.arguments[index].location)
                raise self._unfit(f"an argument of type {kind} can't be {name}", place)
        self.sizes = SizeMap(module, signature, values)
        named = self.sizes.operations
        with_forms = [each for each, name in named if name in _WITH_FORMS]
        self._assertions = [each for each in with_forms if is_assertion(each)]
        self._with_forms = [each for each in with_forms if not is_assertion(each)]
        holds = cache(holds_sizes)  # types repeat
        self._computing = [each for each, n in named if n in READ and holds(each.result.type)]
        for call in self._assertions:
            condition, *others = map(self.sizes.read, call.operands)
            if not condition or condition[0] != 1:
                message = text_of(call, "error_message") or "an assertion doesn't hold"
                for at, number in enumerate(others):
                    message = message.replace(f"{{{at}}}", str(number[0]) if number else "?")
                raise self._unfit(message, location_of(call.location))
        for operation in operations_with(SIZES, self._entry):
            remove_discardable(operation, SIZES)
        self._set_types()

    def complete(self) -> None:
        """Fold what is computed from sizes, and give operations their static forms."""
        for call in self._assertions:
            call.erase()
        self._fold()
        for operation in self._with_forms:
            made_static(self._module, operation)
        self.finish()

    def computed(self, sizes: SizeMap) -> Iterator[tuple[ir.Value, Sequence[Size]]]:
        """Yield the scalars and vectors that are computed from sizes, with their elements."""
        for value in (*self.sizes.given, *(each.result for each in self._computing)):
            found = sizes.read(value)
            if found is not None and len(found) == math.prod(shape_of(value.type)):
                yield value, found

    def _set_types(self) -> None:
        """Give values the types with their sizes."""
        types: dict[tuple[ir.Type, int], ir.Type] = {}  # values of equal sizes have one object
        for value, sizes in list(self.sizes.dynamic):
            key = kind, _ = value.type, id(sizes)
            if key not in types:
                numbers = [each.constant for each in sizes if each.constant is not None]
                if len(numbers) < len(sizes):
                    if is_bounded(kind):
                        continue
                    raise self._unknown(value)
                if not all(0 <= number <= LARGEST for number in numbers):
                    problem = f"a value of type {kind} would have the shape {tuple(numbers)}"
                    raise self._unfit(problem, location_of(value.location))
                types[key] = with_shape(kind, numbers)
            value.set_type(types[key])

    def _fold(self) -> None:
        """Replace values that are computed from sizes by constants, and erase what isn't used."""
        numbers = dict(self.computed(self.sizes))
        for value in (*(each.result for each in reversed(self._computing)), *self.sizes.given):
            sizes = numbers.get(value, ()) if is_used(value) else ()
            with place_behind(value):
                literal = constant_of(value, sizes)
            if literal is not None:
                value.replace_all_uses_with(literal)
            if isinstance(value, ir.OpResult) and not is_used(value):
                value.owner.operation.erase()

    def finish(self) -> None:
        """Erase what is left of dynamic sizes, and verify the program."""
        erase_arguments(self._entry, self._signature.constants)
        block = self._entry.regions[0].blocks[0]
        for function in functions_of(self._module):
            update_type(function)
        set_argument_attributes(self._entry, SIZES, dict.fromkeys(range(len(block.arguments))))
        remove_discardable(self._module.operation, SYMBOLS, EQUAL_SIZES, GUARDS)
        try:
            self._module.operation.verify()
        except ir.MLIRError as failure:
            diagnostic = diagnostics_of(failure)[0]
            raise self._unfit(diagnostic.message, diagnostic.location) from None

    def _unfit(self, problem: str, place: SourceLocation | None) -> UsageError:
        return UsageError(
            error(f"the program doesn't fit the sizes {self._told}: {problem}", place)
        )

    def _unknown(self, value: ir.Value) -> UsageError:
        owner = value.owner
        operation = owner.owner.operation if isinstance(owner, ir.Block) else owner.operation
        message = f"the type {value.type} of a result of '{operation.name}' doesn't follow from the"
        advice = "export the program for static sizes"
        if operation.name == _CALL:
            advice = f"name the operand with its shape by '{SHAPE_OPERANDS}', or register a "
            advice += "sharding rule, whose factors have the sizes of operands"
        place = location_of(operation.location)
        return UsageError(error(f"{message} sizes {self._told}; {advice}", place))


def made_static(module: ir.Module, operation: ir.Operation) -> ir.Operation:
    """Replace an operation of static types by its static form, if it has one, and return that."""
    made = static_form(operation) or static_window(module, operation) or _dynamic_slice(operation)
    if made is None:
        return operation
    tell_inserted(module, made.name)
    return made


def _dynamic_slice(operation: ir.Operation) -> ir.Operation | None:
    """Replace a slice of static size that begins where the program says; None for others.

    No backend runs `real_dynamic_slice`.
    """
    if operation.name != "stablehlo.real_dynamic_slice":
        return None
    value, start, _, strides = operation.operands
    shape = shape_of(operation.results[0].type)
    if {*(constant_integers(strides) or ())} != {1}:
        return None
    builder, kept = StablehloBuilder(), StablehloBuilder(dict(operation.attributes.items()))
    with operation.context, operation.location, ir.InsertionPoint(operation):
        parts = (builder.slice(start, [dim], [dim + 1]) for dim in range(len(shape)))
        made = kept.dynamic_slice(value, [builder.reshape(each, []) for each in parts], shape)
    replace_by(operation, made)
    return made.owner.operation


def assertions_in(module: ir.Module) -> list[ir.Operation]:
    """Return the assertions of a program about sizes."""
    return [each for each in operations_named({_CALL}, module) if is_assertion(each)]


def is_assertion(operation: ir.Operation) -> bool:
    """Whether an operation checks a condition on sizes."""
    return operation.name == _CALL and CustomCallView(operation).call_target_name == ASSERTION


def fits(tensor: ir.Type, numbers: Sequence[int]) -> bool:
    """Whether a tensor of integers can have numbers as its elements."""
    element = element_type_of(tensor)
    width = element.width if isinstance(element, ir.IntegerType) else 64
    least = 0 if width == 1 else -(1 << width - 1)
    return all(least <= number < 1 << max(width - 1, 1) for number in numbers)


def constant_of(value: ir.Value, sizes: Sequence[Size]) -> ir.Value | None:
    """Build a constant of sizes with the type of a value; None if they aren't its numbers."""
    numbers = [each.constant for each in sizes if each.constant is not None]
    if len(numbers) != math.prod(shape_of(value.type)) or not fits(value.type, numbers):
        return None
    with value.location:
        return StablehloBuilder().literal(integer_literal(value.type, numbers))


# --- Equal sizes ----------------------------------------------------------------------------------


def equalized(module: ir.Module) -> bool:
    """Replace symbols of arguments whose sizes operations demand equal, in place, if there are any.

    The attribute `sdy.equal_sizes` of the module has the conditions.

    Raises:
        UsageError: one is between expressions, so that no symbol replaces the other.
    """
    signature = signature_of(module)
    found = SizeMap(module, signature)
    given = signature.symbols.keys()
    equalities = [each for each in found.equalities if each.left.symbols <= given]
    for each in equalities:
        if each.left not in map(Size.symbol, each.left.symbols):
            names = " and ".join(sorted(each.left.symbols | each.right.symbols))
            message = f"'{each.operation}' op demands {each.left} == {each.right}"
            raise UsageError(error(f"{message}: give {names} values with that", each.place))
    if equalities:
        sizes = {each.index: found.replaced(each.sizes) for each in signature.arguments}
        write_sizes(entry_of(module), sizes)
        write_symbols(module, found.symbols(signature.symbols).values())
        write_texts(module, EQUAL_SIZES, map(str, equalities))
    return bool(equalities)


def unified(module: ir.Module, refine: Callable[[DynamicSignature], ir.Module]) -> ir.Module:
    """Return a static program of a dynamic one, which is `equalized` if it has none otherwise.

    Raises:
        UsageError: the program has no static form.
    """
    try:
        return refine(signature_of(module))
    except UsageError:
        if not equalized(module):
            raise
    return refine(signature_of(module))
