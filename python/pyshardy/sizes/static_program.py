# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The static program for given sizes.

1. The types of the arguments follow from the values of the symbols. Scalar arguments that are
   symbols become constants.
2. `stablehlo-refine-shapes` of the host finds the types of all other values. It knows no operations
   of sdy: constraints and reshards are optimization barriers meanwhile, whose operand and result
   have one type.
3. Operations with sizes as operands become those with sizes in attributes (`static_shapes`), and
   assertions about sizes are checked and erased.

Each operation keeps its attributes, shardings among them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from mlir_sdy.diagnostics import Diagnostic, SdyError, SourceLocation, UsageError, error
from mlir_sdy.discardable import get_discardable, remove_discardable, set_discardable
from mlir_sdy.host import diagnostics_of, ir, location_of
from mlir_sdy.traversal import operations_in
from pyshardy.irtools.constants import constant_integers
from pyshardy.irtools.functions import functions_of, has_body
from pyshardy.irtools.modules import copy_of
from pyshardy.irtools.stablehlo_builder import StablehloBuilder
from pyshardy.irtools.stablehlo_views import (
    CustomCallView,
    FunctionView,
    callee_of,
    function_type_of,
)
from pyshardy.irtools.static_shapes import make_static
from pyshardy.irtools.tensor_types import is_bounded, shape_of, with_shape
from pyshardy.irtools.walks import operations_named, tell_inserted
from pyshardy.pipeline import run_pipeline
from pyshardy.sizes.manual_computations import close_manual, open_manual
from pyshardy.sizes.reduce_windows import make_windows_static, update_results
from pyshardy.sizes.signature import (
    EQUAL_SIZES,
    GLOBAL_CONSTANT,
    GUARDS,
    SIZES,
    DynamicSignature,
    SizedArgument,
    entry_of,
    signature_of,
)
from pyshardy.sizes.symbols import SYMBOLS, check_name, hint_values, with_hints

ASSERTION = "shape_assertion"
"""The target of custom calls of JAX that check a condition on sizes."""

_LARGEST = 2**48
_REFINE = "stablehlo-refine-shapes"
_BARRIER = "stablehlo.optimization_barrier"
_STANDS_FOR, _SHARDING = "sdy.stands_for", "sdy.stands_for_sharding"
_PASSED = ("sdy.sharding_constraint", "sdy.reshard")
_INSIDE = ("sdy.named_computation",)
_ASSERTED = re.compile(r"[Ee]rror: (?P<message>.*)")


def inline_calls(module: ir.Module) -> None:
    """Inline all functions that the entry calls, in place, if one has dynamic sizes.

    The host refines a function for one call only.
    """
    if len(functions_of(module)) > 1:
        run_pipeline(module, "builtin.module(inline{default-pipeline=})")


def static_at(module: ir.Module, given: Mapping[str, int], what: str = "sizes") -> ir.Module:
    """Return the static program for given sizes; symbols without a value have their hints.

    Args:
        module: the dynamic program, which isn't changed.
        given: values of symbols.
        what: the flag or option that has them, for errors.

    Raises:
        UsageError: a size is wrong; or as for `static_program`.
    """
    signature = signature_of(module)
    return static_program(module, values_with(signature, given, module, what), signature)


def values_with(
    signature: DynamicSignature, given: Mapping[str, int], module: ir.Module, what: str = "sizes"
) -> dict[str, int]:
    """Return the values of all symbols; see `static_at`.

    Raises:
        UsageError: a size is wrong.
    """
    for name in given:
        check_name(name, signature.symbols, what)
    values = hint_values(with_hints(signature.symbols, {}, module)) | dict(given)
    return signature.check(values)


def static_program(
    module: ir.Module, values: Mapping[str, int], signature: DynamicSignature | None = None
) -> ir.Module:
    """Return the program for given sizes, with the attributes of the dynamic one.

    Args:
        module: the dynamic program, which isn't changed.
        values: the values of all symbols.
        signature: its arguments, if they are known.

    Raises:
        UsageError: an assertion of the program doesn't hold for these sizes, operands have sizes
            that don't fit, or the type of a result can't be found; the error names the operation.
    """
    signature = signature or signature_of(module)
    static = copy_of(module)
    inline_calls(static)
    told = ", ".join(f"{name} = {value}" for name, value in values.items())
    for operation in operations_named(_INSIDE, static):
        if any(is_dynamic_tensor(value) for value in (*operation.operands, *operation.results)):
            place = location_of(operation.location)
            message = f"'{operation.name}' has operands or results of dynamic sizes, which can't be"
            raise UsageError(
                error(f"{message} refined: export the program for static sizes", place)
            )
    _check_calls(static)
    passed = _pass_through_barriers(static)
    types = _fill_constants(static, signature, values)
    opened = open_manual(static)
    try:
        _run(static, f"stablehlo-refine-arguments{{types={','.join(types)}}},{_REFINE}")
        while make_windows_static(static) or _refine_bitcasts(static):
            _run(static, _REFINE)
        if _prepare_assertions(static):
            _run(static, "stablehlo-check-shape-assertions")
        static.operation.verify()
    except SdyError as failure:
        raise _for_sizes(failure.diagnostics[0], told) from None
    except ir.MLIRError as failure:
        raise _for_sizes(diagnostics_of(failure)[0], told) from None
    for function in functions_of(static):
        make_static(function)
    _start_anywhere(static)
    if passed:
        _restore_passed(static)
        tell_inserted(static, *_PASSED)
    if opened:
        close_manual(static, opened)
    _check_static(static, told)
    remove_discardable(static.operation, SYMBOLS, EQUAL_SIZES, GUARDS)
    return static


def _run(static: ir.Module, passes: str) -> None:
    """Run passes of the host on a module that is dropped after a failure."""
    pipeline = f"builtin.module({passes})"
    run_pipeline(static, pipeline, verify_each=False, restore_on_failure=False)


def _check_calls(module: ir.Module) -> None:
    """Check that calls which can't be inlined have a body, without which the host crashes.

    Raises:
        UsageError: a call has none.
    """
    for operation in operations_named({"func.call"}, module):
        name = callee_of(operation)
        table = ir.SymbolTable(module.operation)
        if name not in table or not has_body(table[name].operation):
            raise UsageError(
                error(
                    f"calls '{name}', which has no body, so that the sizes of its results can't be "
                    "found: define it, or export the program for static sizes",
                    location_of(operation.location),
                )
            )


def is_dynamic_tensor(value: ir.Value) -> bool:
    """Whether a value is a tensor with dimensions of dynamic size, which have no bounds."""
    given = value.type
    is_dynamic = isinstance(given, ir.RankedTensorType) and not given.has_static_shape
    return is_dynamic and not is_bounded(given)


def _refine_bitcasts(module: ir.Module) -> bool:
    """Find the types of bitcasts that change the rank, which the host doesn't refine.

    Returns:
        Whether there were any.
    """
    found = False
    for operation in operations_named({"stablehlo.bitcast_convert"}, module):
        operand, result = operation.operands[0], operation.results[0]
        shape, wanted = shape_of(operand.type), shape_of(result.type)
        if min(wanted, default=0) < 0 <= min(shape, default=0) and len(shape) != len(wanted):
            shorter = min(len(shape), len(wanted))
            result.set_type(with_shape(result.type, (*shape[:shorter], *wanted[shorter:])))
            found = True
    for function in functions_of(module) if found else ():
        update_results(function)
    return found


def _fill_constants(
    module: ir.Module, signature: DynamicSignature, values: Mapping[str, int]
) -> list[str]:
    """Replace arguments that are symbols by constants; return the types of the others."""
    main = entry_of(module)
    block = main.regions[0].blocks[0]
    view = FunctionView(main)
    attributes = view.arg_attrs or [()] * len(block.arguments)
    shapes = {
        each.index: _shape_at(each, values, location_of(block.arguments[each.index].location))
        for each in signature.arguments
    }
    types: list[str] = []
    kept: list[int] = []
    with main.context, main.location, ir.InsertionPoint.at_block_begin(block):
        for index, argument in enumerate(block.arguments):
            if index in signature.constants:
                number = values[signature.constants[index]]
                scalar = ir.RankedTensorType(argument.type)
                literal = ir.IntegerAttr.get(scalar.element_type, number)
                constant = ir.Operation.create(
                    "stablehlo.constant",
                    results=[scalar],
                    attributes={"value": ir.DenseElementsAttr.get_splat(scalar, literal)},
                )
                argument.replace_all_uses_with(constant.results[0])
                continue
            kept.append(index)
            given_type = argument.type
            if index in shapes:
                given_type = with_shape(given_type, shapes[index])
            types.append(str(given_type))
        own = (GLOBAL_CONSTANT, SIZES)
        view.arg_attrs = [
            ir.DictAttr.get(
                {each.name: each.attr for each in attributes[index] if each.name not in own}
            )
            for index in kept
        ]
        function_type = function_type_of(main)
        view.function_type = ir.FunctionType.get(
            [function_type.inputs[index] for index in kept], function_type.results
        )
    for index in reversed(range(len(block.arguments))):
        if index not in kept:
            block.erase_argument(index)
    return types


def _start_anywhere(module: ir.Module) -> None:
    """Replace slices of static sizes that begin where the program says by `dynamic_slice`.

    No backend runs `real_dynamic_slice`, which `make_static` replaces if it begins at constants.
    """
    builder = StablehloBuilder()
    for operation in operations_named({"stablehlo.real_dynamic_slice"}, module):
        value, start, _, strides = operation.operands
        shape = shape_of(operation.results[0].type)
        if {*(constant_integers(strides) or ())} != {1} or min(shape) < 0:
            continue
        with operation.context, operation.location, ir.InsertionPoint(operation):
            parts = (builder.slice(start, [dim], [dim + 1]) for dim in range(len(shape)))
            starts = [builder.reshape(part, []) for part in parts]
            made = builder.dynamic_slice(value, starts, shape)
        for name, attribute in operation.attributes.items():
            set_discardable(made.owner.operation, name, attribute)
        operation.results[0].replace_all_uses_with(made)
        operation.erase()


def _shape_at(
    argument: SizedArgument, values: Mapping[str, int], place: SourceLocation | None
) -> list[int]:
    """Return the shape of an argument.

    Raises:
        UsageError: no tensor has it.
    """
    shape = [size.evaluate(values) for size in argument.sizes]
    for size, number in zip(argument.sizes, shape, strict=True):
        if not 0 <= number <= _LARGEST:
            message = f"{argument.name} can't have the size {size} = {number}"
            raise UsageError(error(f"{message}: a size is from 0 to {_LARGEST:,}", place))
    return shape


def _pass_through_barriers(module: ir.Module) -> bool:
    """Replace constraints and reshards by barriers; whether there are any.

    Those of scalars, which nothing shards, are removed, so that the host computes sizes behind
    them: explicit axes of JAX constrain sizes, too.
    """
    found = operations_named(_PASSED, module)
    for operation in found:
        if shape_of(operation.results[0].type) == () and operation.name == _PASSED[0]:
            operation.results[0].replace_all_uses_with(operation.operands[0])
            operation.erase()
            continue
        attributes = dict(operation.attributes.items())
        sharding = attributes.pop("sharding")
        with operation.context, operation.location, ir.InsertionPoint(operation):
            name = ir.StringAttr.get(operation.name)
            barrier = ir.Operation.create(
                _BARRIER,
                results=[operation.results[0].type],
                operands=[operation.operands[0]],
                attributes={**attributes, _STANDS_FOR: name, _SHARDING: sharding},
            )
        operation.results[0].replace_all_uses_with(barrier.results[0])
        operation.erase()
    if found:
        tell_inserted(module, _BARRIER)
    return bool(found)


def _restore_passed(module: ir.Module) -> None:
    for barrier in operations_named((_BARRIER,), module):
        stands_for = get_discardable(barrier, _STANDS_FOR)
        if stands_for is None:
            continue
        attributes = dict(barrier.attributes.items())
        sharding = attributes.pop(_SHARDING)
        del attributes[_STANDS_FOR]
        operation = ir.Operation.create(
            stands_for.value,
            results=[barrier.operands[0].type],
            operands=[barrier.operands[0]],
            attributes={**attributes, "sharding": sharding},
            loc=barrier.location,
            ip=ir.InsertionPoint(barrier),
        )
        barrier.results[0].replace_all_uses_with(operation.results[0])
        barrier.erase()


def _prepare_assertions(module: ir.Module) -> bool:
    """Remove what the host refuses on assertions, the attributes of sdy; whether there are any."""
    found = assertions_in(module)
    for call in found:
        own = [name for name in call.attributes if name.startswith("sdy.")]
        remove_discardable(call, *own)
    return bool(found)


def assertions_in(module: ir.Module) -> list[ir.Operation]:
    """Return the assertions of a program about sizes."""
    calls = operations_named({"stablehlo.custom_call"}, module)
    return [each for each in calls if CustomCallView(each).call_target_name == ASSERTION]


def _for_sizes(diagnostic: Diagnostic, told: str) -> UsageError:
    """Return the error of a refinement that fails, which names the sizes."""
    message = f"the program doesn't fit the sizes {told}: {diagnostic.message}"
    return UsageError(error(message, diagnostic.location))


def _check_static(module: ir.Module, told: str) -> None:
    for operation in operations_in(module.operation):
        remove_discardable(operation.operation, SIZES)
        for result in operation.results:
            if not is_dynamic_tensor(result):
                continue
            message = (
                f"the type {result.type} of a result of '{operation.name}' doesn't follow from the "
                f"sizes {told}"
            )
            if operation.name == "stablehlo.custom_call":
                message += "; name the operand with its shape by 'indices_of_shape_operands'"
            raise UsageError(error(message, location_of(operation.location)))
