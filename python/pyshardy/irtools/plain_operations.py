# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that mark a place or a time, and those that keep their place."""

from __future__ import annotations

from collections.abc import Collection

from mlir_sdy.host import ir
from mlir_sdy.uses import replace_by
from mlir_sdy.values import ASYNC_DONE, ASYNC_START, get_sharding
from pyshardy.irtools.stablehlo_views import CustomCallView
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.irtools.walks import operations_named

_WITH_EFFECTS = frozenset(
    f"stablehlo.{name}" for name in ("infeed", "outfeed", "recv", "rng", "send")
)


def keeps_its_place(operation: ir.Operation) -> bool:
    """Whether an operation itself, without its regions, has effects whose order counts."""
    name = operation.name
    if name == "stablehlo.custom_call":
        return CustomCallView(operation).has_side_effect
    return name in _WITH_EFFECTS


def make_synchronous(
    root: ir.Operation | ir.OpView | ir.Module, keep: Collection[str] = ()
) -> bool:
    """Replace asynchronous operations by synchronous ones at their start.

        %0 = "stablehlo.async_start"(%a) ({
        ^bb0(%b: tensor<8xf32>):
          %2 = "stablehlo.all_gather"(%b) ... : (tensor<8xf32>) -> tensor<16xf32>
          stablehlo.return %2 : tensor<16xf32>
        }) : (tensor<8xf32>) -> !stablehlo.future<tensor<16xf32>>
        %1 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<16xf32>>) -> tensor<16xf32>

    becomes

        %1 = "stablehlo.all_gather"(%a) ... : (tensor<8xf32>) -> tensor<16xf32>

    An `async_start` whose future has a use other than one `async_done`, such as a return, is not
    changed. One that is never awaited is erased.

    Args:
        root: what is searched for them.
        keep: the collectives that stay asynchronous, without their dialect.

    Returns:
        Whether one was replaced.
    """
    is_changed = False
    for start in operations_named({ASYNC_START}, root, ir.WalkOrder.POST_ORDER):
        waits = [use.owner.operation for use in start.results[0].uses]
        block = start.regions[0].blocks[0]
        *body, terminator = (view.operation for view in block.operations)
        if any(wait.name != ASYNC_DONE for wait in waits):
            continue
        if any(operation.name.removeprefix("stablehlo.") in keep for operation in body):
            continue
        is_changed = True
        for argument, operand in zip(block.arguments, start.operands, strict=True):
            argument.replace_all_uses_with(operand)
        for operation in body:
            if waits:
                operation.move_before(start)
        for wait in waits:
            replace_by(wait, *terminator.operands)
        start.erase()
    return is_changed


def remove_barriers(function: ir.Operation | ir.OpView) -> bool:
    """Replace each `sdy.propagation_barrier` by its operand: to devices, they are one value.

    Returns:
        Whether there was one.
    """
    barriers = operations_named({"sdy.propagation_barrier"}, function)
    for barrier in barriers:
        replace_by(barrier, barrier.operands[0])
    return bool(barriers)


def drop_empty_operands(function: ir.Operation | ir.OpView) -> bool:
    """Drop operands without elements from concatenations, such as JAX writes for a roll by 0.

    Returns:
        Whether there was one.
    """
    has_changed = False
    for operation in operations_named({"stablehlo.concatenate"}, function):
        kept = [value for value in operation.operands if 0 not in shape_of(value.type)]
        if not kept or len(kept) == len(operation.operands):
            continue
        value, (result,) = kept[0], operation.results
        if len(kept) > 1 or get_sharding(value) != get_sharding(result):
            with operation.location, ir.InsertionPoint(operation):
                attributes = dict(operation.attributes.items())
                made = ir.Operation.create(operation.name, [result.type], kept, attributes)
            value = made.results[0]
        replace_by(operation, value)
        has_changed = True
    return has_changed
