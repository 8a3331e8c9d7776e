# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Windows of dynamic sizes, such as those of cumulative sums.

StableHLO has no such operation; JAX calls `@stablehlo.dynamic_reduce_window`, whose operands are
the tensors, their initial values, and the sizes, strides, dilations and padding of the windows. The
host doesn't refine it. With constant sizes it is a `stablehlo.reduce_window`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from mlir_sdy.host import ir
from mlir_sdy.late_numpy import np
from pyshardy.irtools.constants import constant_integers
from pyshardy.irtools.functions import functions_of, returned_values
from pyshardy.irtools.stablehlo_views import CustomCallView, FunctionView, symbol_name
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.irtools.walks import tell_inserted

_PADDING = "padding"
DYNAMIC_REDUCE_WINDOW = "stablehlo.dynamic_reduce_window"
"""The target of the calls of JAX."""

_SIZES = ("window_dimensions", "window_strides", "base_dilations", "window_dilations")
_OF_CALL = ("api_version", "backend_config", "call_target_name", "called_computations")


def static_window(module: ir.Module, call: ir.Operation) -> ir.Operation | None:
    """Replace a call of static types by the operation, and return that; None for other calls."""
    is_call = call.name == "stablehlo.custom_call"
    if not is_call or CustomCallView(call).call_target_name != DYNAMIC_REDUCE_WINDOW:
        return None
    numbers = [constant_integers(each) for each in list(call.operands)[-5:]]
    known = [each for each in numbers if each is not None]
    if len(known) < len(numbers):
        return None
    *sizes, padding = known
    with call.context, call.location, ir.InsertionPoint(call):
        arrays = {
            name: ir.DenseI64ArrayAttr.get(list(each))
            for name, each in zip(_SIZES, sizes, strict=True)
        }
        pairs = np.array(padding, np.int64).reshape(-1, 2)
        window = ir.Operation.create(
            "stablehlo.reduce_window",
            results=[result.type for result in call.results],
            operands=list(call.operands)[:-5],
            attributes={
                **{key: value for key, value in call.attributes.items() if key not in _OF_CALL},
                **arrays,
                _PADDING: ir.DenseElementsAttr.get(pairs),
            },
            regions=1,
        )
        (name,) = CustomCallView(call).called_computations
        function = next(each for each in functions_of(module) if symbol_name(each) == name)
        _copy_body(function.regions[0].blocks[0], window.regions[0], "stablehlo.return")
    for result, new in zip(call.results, window.results, strict=True):
        result.replace_all_uses_with(new)
    call.erase()
    return window


def window_numbers(window: ir.Operation) -> list[list[int]]:
    """Return the sizes, strides, dilations and padding of a `stablehlo.reduce_window`."""
    rank, given = len(shape_of(window.results[0].type)), dict(window.attributes.items())
    arrays = [
        [*ir.DenseI64ArrayAttr(given[name])] if name in given else [1] * rank for name in _SIZES
    ]
    padding: Any = [0] * 2 * rank
    if _PADDING in given:
        padding = np.array(ir.DenseIntElementsAttr(given[_PADDING])).flatten().tolist()
    return [*arrays, padding]


def make_windows_dynamic(
    module: ir.Module, window: ir.Operation, numbers: Sequence[ir.Value]
) -> None:
    """Replace a `stablehlo.reduce_window` by a call.

    Args:
        module: the program.
        window: the operation.
        numbers: the sizes, strides, dilations and padding of its windows.
    """
    taken = {symbol_name(each) for each in functions_of(module)}
    name = next(each for index in itertools.count() if (each := f"window_{index}") not in taken)
    source = window.regions[0].blocks[0]
    with window.context, window.location:
        scalars = [argument.type for argument in source.arguments]
        results = scalars[: len(scalars) // 2]
        body = ir.Operation.create(
            "func.func",
            attributes={
                "sym_name": ir.StringAttr.get(name),
                "sym_visibility": ir.StringAttr.get("private"),
                "function_type": ir.TypeAttr.get(ir.FunctionType.get(scalars, results)),
            },
            regions=1,
            ip=ir.InsertionPoint(module.body),
        )
        _copy_body(source, body.regions[0], "func.return")
        own = (*_SIZES, _PADDING)
        call = ir.Operation.create(
            "stablehlo.custom_call",
            results=[result.type for result in window.results],
            operands=[*window.operands, *numbers],
            attributes={
                **{key: value for key, value in window.attributes.items() if key not in own},
                "call_target_name": ir.StringAttr.get(DYNAMIC_REDUCE_WINDOW),
                "called_computations": ir.ArrayAttr.get([ir.FlatSymbolRefAttr.get(name)]),
            },
            ip=ir.InsertionPoint(window),
        )
    tell_inserted(body, *{each.operation.name for each in body.regions[0].blocks[0].operations})
    for result, new in zip(window.results, call.results, strict=True):
        result.replace_all_uses_with(new)
    window.erase()


def _copy_body(source: ir.Block, region: ir.Region, terminator: str) -> None:
    """Copy the operations of a block to a region, with another terminator."""
    types = [argument.type for argument in source.arguments]
    block = region.blocks.append(*types, arg_locs=[ir.Location.current] * len(types))
    made: dict[ir.Value, ir.Value] = dict(zip(source.arguments, block.arguments, strict=True))
    *computed, end = source.operations
    for operation in computed:
        copy = operation.operation.clone(ip=ir.InsertionPoint(block))
        for index, operand in enumerate(copy.operands):
            copy.operands[index] = made.get(operand, operand)
        made.update(zip(operation.operation.results, copy.results, strict=True))
    returned = [made.get(each, each) for each in end.operands]
    ir.Operation.create(terminator, operands=returned, ip=ir.InsertionPoint(block))


def update_type(function: ir.Operation) -> None:
    """Give a function the types of its arguments and of what it returns."""
    returned = returned_values(function)
    if returned is not None:
        inputs = [each.type for each in function.regions[0].blocks[0].arguments]
        with function.context:
            results = [each.type for each in returned]
            FunctionView(function).function_type = ir.FunctionType.get(inputs, results)
