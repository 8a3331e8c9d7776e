# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Windows of dynamic sizes, such as those of cumulative sums.

StableHLO has no such operation; JAX calls `@stablehlo.dynamic_reduce_window`, whose operands are
the tensors, their initial values, and the sizes, strides, dilations and padding of the windows. The
host doesn't refine it. With constant sizes it is a `stablehlo.reduce_window`.
"""

from __future__ import annotations

from collections.abc import Sequence

from mlir_sdy.host import ir
from mlir_sdy.late_numpy import np
from pyshardy.irtools.constants import constant_integers
from pyshardy.irtools.functions import functions_of, has_static_shape, returned_values
from pyshardy.irtools.stablehlo_views import (
    CustomCallView,
    FunctionView,
    function_type_of,
    symbol_name,
)
from pyshardy.irtools.tensor_types import shape_of, with_shape
from pyshardy.irtools.walks import operations_named, tell_inserted

DYNAMIC_REDUCE_WINDOW = "stablehlo.dynamic_reduce_window"
"""The target of the calls of JAX."""

_SIZES = ("window_dimensions", "window_strides", "base_dilations", "window_dilations")
_OF_CALL = ("api_version", "backend_config", "call_target_name", "called_computations")


def make_windows_static(module: ir.Module) -> bool:
    """Replace calls whose operands are static and whose sizes are constants.

    Returns:
        Whether there were any.
    """
    found = False
    for call in operations_named({"stablehlo.custom_call"}, module):
        if CustomCallView(call).call_target_name != DYNAMIC_REDUCE_WINDOW:
            continue
        *values, _, _, _, _, _ = call.operands
        numbers = [constant_integers(each) for each in list(call.operands)[len(values) :]]
        known = [each for each in numbers if each is not None]
        if len(known) == len(numbers) and all(has_static_shape(each.type) for each in values):
            _replace(module, call, values, known)
            found = True
    if found:
        tell_inserted(module, "stablehlo.reduce_window")
        for function in functions_of(module):
            _update_results(function)
    return found


def _update_results(function: ir.Operation) -> None:
    """Give a function the types of what it returns."""
    returned = returned_values(function)
    if returned is not None:
        inputs, results = function_type_of(function).inputs, [each.type for each in returned]
        with function.context:
            FunctionView(function).function_type = ir.FunctionType.get(inputs, results)


def _replace(
    module: ir.Module,
    call: ir.Operation,
    values: Sequence[ir.Value],
    numbers: Sequence[Sequence[int]],
) -> None:
    *sizes, padding = numbers
    shape = _shape(shape_of(values[0].type), sizes, padding)
    with call.context, call.location, ir.InsertionPoint(call):
        kept = {k: value for k, value in call.attributes.items() if k not in _OF_CALL}
        arrays = {
            name: ir.DenseI64ArrayAttr.get(list(each))
            for name, each in zip(_SIZES, sizes, strict=True)
        }
        pairs = np.array(padding, np.int64).reshape(-1, 2)
        window = ir.Operation.create(
            "stablehlo.reduce_window",
            results=[with_shape(result.type, shape) for result in call.results],
            operands=list(values),
            attributes={**kept, **arrays, "padding": ir.DenseElementsAttr.get(pairs)},
            regions=1,
        )
        (name,) = CustomCallView(call).called_computations
        function = next(each for each in functions_of(module) if symbol_name(each) == name)
        source = function.regions[0].blocks[0]
        types = [argument.type for argument in source.arguments]
        block = window.regions[0].blocks.append(*types, arg_locs=[call.location] * len(types))
        made: dict[ir.Value, ir.Value] = dict(zip(source.arguments, block.arguments, strict=True))
        *computed, end = source.operations
        for operation in computed:
            copy = operation.operation.clone(ip=ir.InsertionPoint(block))
            for index, operand in enumerate(copy.operands):
                copy.operands[index] = made.get(operand, operand)
            made.update(zip(operation.operation.results, copy.results, strict=True))
        returned = [made.get(each, each) for each in end.operands]
        ir.Operation.create("stablehlo.return", operands=returned, ip=ir.InsertionPoint(block))
    for result, new in zip(call.results, window.results, strict=True):
        result.replace_all_uses_with(new)
    call.erase()


def _shape(
    base: Sequence[int], sizes: Sequence[Sequence[int]], padding: Sequence[int]
) -> list[int]:
    """Return the shape of the result, as StableHLO infers it."""
    found: list[int] = []
    for dim, (size, window, stride, dilation, inner) in enumerate(zip(base, *sizes, strict=True)):
        dilated = 0 if size == 0 else (size - 1) * dilation + 1
        padded = dilated + padding[2 * dim] + padding[2 * dim + 1]
        reach = 0 if window == 0 else (window - 1) * inner + 1
        found.append(0 if padded == 0 or reach > padded else (padded - reach) // stride + 1)
    return found
