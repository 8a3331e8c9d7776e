# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Windows of dynamic sizes, such as those of cumulative sums.

StableHLO has no such operation; JAX calls `@stablehlo.dynamic_reduce_window`, whose operands are
the tensors, their initial values, and the sizes, strides, dilations and padding of the windows. The
host doesn't refine it. With constant sizes it is a `stablehlo.reduce_window`.
"""

from __future__ import annotations

from collections.abc import Sequence

from mlir_sdy.host import ir
from mlir_sdy.traversal import terminator_of
from mlir_sdy.uses import replace_by
from pyshardy.irtools.constants import constant_integers
from pyshardy.irtools.functions import functions_of
from pyshardy.irtools.stablehlo_builder import StablehloBuilder
from pyshardy.irtools.stablehlo_views import CustomCallView, WindowsView, symbol_name, target_of
from pyshardy.irtools.stablehlo_views.fields import set_fields
from pyshardy.irtools.static_shapes import CALL_ATTRIBUTES
from pyshardy.irtools.tensor_types import shape_of

DYNAMIC_REDUCE_WINDOW = "stablehlo.dynamic_reduce_window"
"""The target of the calls of JAX."""

WINDOW_FIELDS = (
    WindowsView.window_dimensions,
    WindowsView.window_strides,
    WindowsView.base_dilations,
    WindowsView.window_dilations,
    WindowsView.padding,
)
"""The fields of a `stablehlo.reduce_window` that operands of a call have."""


def static_window(module: ir.Module, call: ir.Operation) -> ir.Operation | None:
    """Replace a call of static types by the operation, and return that; None for other calls."""
    if call.name != "stablehlo.custom_call" or target_of(call) != DYNAMIC_REDUCE_WINDOW:
        return None
    numbers = [constant_integers(each) for each in list(call.operands)[-5:]]
    known = [each for each in numbers if each is not None]
    if len(known) < len(numbers):
        return None
    *sizes, padding = known
    pairs = list(zip(padding[::2], padding[1::2], strict=True))
    (name,) = CustomCallView(call).called_computations
    function = next(each for each in functions_of(module) if symbol_name(each) == name)
    kept = {key: value for key, value in call.attributes.items() if key not in CALL_ATTRIBUTES}
    types, operands = [result.type for result in call.results], list(call.operands)[:-5]
    with call.context, call.location, ir.InsertionPoint(call):
        window = StablehloBuilder().create(
            "stablehlo.reduce_window", operands, types, kept, regions=1
        )
        set_fields(window, dict(zip(WINDOW_FIELDS, (*sizes, pairs), strict=True)))
        copy = function.clone(ip=False).operation
        move_body(copy.regions[0].blocks[0], window.regions[0], "stablehlo.return")
    replace_by(call, *window.results)
    return window


def window_numbers(window: ir.Operation) -> list[Sequence[int]]:
    """Return the sizes, strides, dilations and padding of a `stablehlo.reduce_window`."""
    rank, view = len(shape_of(window.results[0].type)), WindowsView(window)
    given = view.window_dimensions, view.window_strides, view.base_dilations, view.window_dilations
    padding = [each for pair in view.padding for each in pair]
    return [*(each or [1] * rank for each in given), padding or [0] * 2 * rank]


def move_body(block: ir.Block, region: ir.Region, terminator: str) -> None:
    """Move the body of a function or of an operation to a region, with another terminator."""
    end = terminator_of(block)
    with end.location, ir.InsertionPoint(end):
        ir.Operation.create(terminator, operands=list(end.operands))
    end.erase()
    block.append_to(region)
