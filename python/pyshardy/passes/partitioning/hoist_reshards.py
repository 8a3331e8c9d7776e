# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-hoist-reshards`: move reshards of loop invariants before the loop.

XLA's `while-loop-invariant-code-motion` does the same.

A reshard is moved under these conditions:

1. The reshard is directly in the body of a `stablehlo.while`, and communicates. The loop isn't
   known to run at most once.
2. Its operand comes from outside of the loop, or is an argument that each iteration returns
   unchanged. Such an argument is resharded before the loop, and the loop carries the result;
   for other uses in the loop it is resharded back. The result of the loop is replaced by the
   initial value.
3. Of several reshards of an argument, the one to the largest shards is moved, if the others
   cost no more from there.
4. The resharded value has at most `max_bytes` on each device, since it occupies memory during
   the loop.
5. Reshards and all-reduces of values that the body computes from such values are moved with the
   operations they depend on (see `hoist_invariant_reshards`), if their results aren't larger
   than `max_bytes`.
6. Inner loops come first, so that a reshard is moved out of all loops that don't change its
   operand.

The tensors of each operation are compatible, and slices don't have their local forms yet.
"""

from __future__ import annotations

from collections.abc import Sequence

from mlir_sdy import sdy
from mlir_sdy.host import ir
from mlir_sdy.model import TensorSharding, mesh_of
from mlir_sdy.traversal import terminator_of
from mlir_sdy.uses import replace_by
from mlir_sdy.values import get_sharding, rank_of, set_sharding
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE, HardwareOption
from pyshardy.cost.hardware import Hardware, load_hardware
from pyshardy.irtools.analyses import OF_SHARDINGS, UNCHANGED, Changes
from pyshardy.irtools.functions import has_static_shape
from pyshardy.irtools.loops import carries_unchanged, least_trips
from pyshardy.irtools.tensor_types import shard_bytes
from pyshardy.irtools.walks import may_occur_at_start, operations_named
from pyshardy.partition.function_context import FunctionContext
from pyshardy.partition.op_facts.invariant_computations import (
    MOST_BYTES,
    hoist_invariant_reshards,
)
from pyshardy.partition.resharding.cost import (
    Reshard,
    reshard_cost,
)
from pyshardy.partition.types.steps import AxesPerDim
from pyshardy.pipeline import register_pass
from pyshardy.pipeline.options import Natural

_WHILE, _RESHARD = "stablehlo.while", "sdy.reshard"


@register_pass("sdy-hoist-reshards", anchor="func.func", release="pyshardy")
def hoist_reshards(
    function: ir.Operation | ir.OpView,
    *,
    max_bytes: Natural = MOST_BYTES,
    hardware: HardwareOption = DEFAULT_HARDWARE,
) -> Changes:
    """Hoist reshards of loop invariants.

    Moves a reshard in the body of a `stablehlo.while` before the loop if its operand is defined
    outside of the loop, is an argument that each iteration returns unchanged, or is computed from
    such values; the computation is hoisted as well. All-reduces are hoisted in the same way. The
    hoisted value occupies memory during the entire loop. A loop that is known to run once is not
    changed.

    ```mlir
    %0:2 = stablehlo.while(%c = %a, %w = %b) : tensor<8x8xf32>, tensor<8x8xf32> cond {...} do {
      %1 = sdy.reshard %w <@mesh, [{}, {}]> : tensor<8x8xf32>
      %2 = stablehlo.dot_general %c, %1, ...
      stablehlo.return %2, %w : tensor<8x8xf32>, tensor<8x8xf32>
    }
    ```

    becomes

    ```mlir
    %1 = sdy.reshard %b <@mesh, [{}, {}]> : tensor<8x8xf32>
    %0:2 = stablehlo.while(%c = %a, %w = %1) : tensor<8x8xf32>, tensor<8x8xf32> cond {...} do {
      %2 = stablehlo.dot_general %c, %w, ...
      stablehlo.return %2, %w : tensor<8x8xf32>, tensor<8x8xf32>
    }
    ```

    Options:
        max_bytes: maximum number of bytes of a hoisted value on each device.

    Raises:
        UsageError: there is no such hardware.
    """
    devices = load_hardware(hardware)
    if not may_occur_at_start({_WHILE}, function):
        return UNCHANGED
    loops = operations_named({_WHILE}, function, ir.WalkOrder.POST_ORDER)
    if not loops:
        return UNCHANGED
    hoisting = _Hoisting(FunctionContext.of(function), devices, max_bytes)
    for loop in loops:
        hoisting.visit(loop)
    return Changes({_RESHARD}, OF_SHARDINGS)


class _Hoisting:
    """One run over a function."""

    def __init__(self, context: FunctionContext, hardware: Hardware, max_bytes: int):
        self.meshes = context.meshes
        self.cache = context.cache
        self.hardware = hardware
        self.max_bytes = max_bytes

    def visit(self, loop: ir.Operation) -> None:
        """Move reshards out of the body of a loop."""
        if least_trips(loop) <= 1:
            return
        body = loop.regions[1].blocks[0]
        hoist_invariant_reshards(
            loop,
            lambda value: not _is_in(value, loop) or _is_unchanged(value, loop),
            self._is_worth_moving,
        )
        reshards: dict[int, list[ir.Operation]] = {}
        for operation in [view.operation for view in body.operations]:
            if operation.name != _RESHARD:
                continue
            operand = operation.operands[0]
            if _is_unchanged(operand, loop):
                reshards.setdefault(ir.BlockArgument(operand).arg_number, []).append(operation)
            elif not _is_in(operand, loop) and self._is_worth_moving(operation):
                operation.move_before(loop)
        for index, found in reshards.items():
            self._carry_resharded(loop, index, found)

    def _carry_resharded(
        self, loop: ir.Operation, index: int, reshards: Sequence[ir.Operation]
    ) -> None:
        """Reshard an argument that a loop doesn't change before the loop."""
        argument, result = loop.regions[1].blocks[0].arguments[index], loop.results[index]
        chosen = max(reshards, key=lambda each: self._bytes(each.results[0]))
        old, new = get_sharding(argument), get_sharding(chosen.results[0])
        if new is None or not self._is_worth_moving(chosen):
            return
        others = {get_sharding(each.results[0]) for each in reshards} - {new}
        if any(
            self._cost(argument, new, other) > self._cost(argument, old, other) for other in others
        ):
            return
        if self._cost(argument, new, old) > 0:
            return
        before = loop.operands[index]
        result.replace_all_uses_with(before)
        place = ir.InsertionPoint(loop)
        resharded = sdy.reshard(before, self.cache[new], loc=chosen.location, ip=place)
        loop.operands[index] = resharded
        was = old or TensorSharding.fully_closed(rank_of(argument.type), new.mesh_or_ref)
        for region in loop.regions:
            self._give_back(region.blocks[0], index, was, new)
        set_sharding(result, new, self.cache)

    def _give_back(
        self, block: ir.Block, index: int, was: TensorSharding, new: TensorSharding
    ) -> None:
        """Reshard an argument back to its previous sharding for its users."""
        argument = block.arguments[index]
        users = list(dict.fromkeys(use.owner.operation for use in argument.uses))
        terminator = terminator_of(block)
        plain = [
            user
            for user in users
            if (user != terminator and not (user.name == _RESHARD and user.block == block))
            or (user == terminator and _returns_elsewhere(terminator, argument, index))
        ]
        if plain:
            place = ir.InsertionPoint.at_block_begin(block)
            back = sdy.reshard(
                argument, self.cache[was], loc=argument.owner.owner.operation.location, ip=place
            )
            for user in plain:
                for position, operand in enumerate(user.operands):
                    if operand == argument and not (user == terminator and position == index):
                        user.operands[position] = back
        for user in users:
            if user.name != _RESHARD or user.block != block:
                continue
            if get_sharding(user.results[0]) == new:
                replace_by(user, argument)

    def _is_worth_moving(self, operation: ir.Operation) -> bool:
        value, result = operation.operands[0], operation.results[0]
        is_reshard = operation.name == _RESHARD
        if is_reshard and self._cost(value, get_sharding(value), get_sharding(result)) <= 0:
            return False
        return self._bytes(result) <= self.max_bytes

    def _cost(
        self, value: ir.Value, source: TensorSharding | None, target: TensorSharding | None
    ) -> float:
        """Return the cost of a reshard; 0 if it changes the mesh or completes partial values."""
        given = source or target
        mesh = None if given is None else mesh_of(given, self.meshes)
        if given is None or mesh is None or not has_static_shape(value.type):
            return 0
        ends: list[AxesPerDim] = []
        replicated: AxesPerDim = ((),) * rank_of(value.type)
        for sharding in (source, target):
            ends.append(replicated)
            if sharding is None:
                continue
            if mesh_of(sharding, self.meshes) != mesh or sharding.unreduced_axes:
                return 0
            ends[-1] = sharding.dim_axes
        reshard = Reshard.of(value, ends[0], ends[1], mesh)
        return reshard_cost(reshard, self.hardware)

    def _bytes(self, value: ir.Value) -> int:
        sharding = get_sharding(value)
        mesh = None if sharding is None else mesh_of(sharding, self.meshes)
        if sharding is None or mesh is None or not has_static_shape(value.type):
            return 0
        return shard_bytes(value.type, sharding.dim_axes, mesh)


def _returns_elsewhere(terminator: ir.Operation, argument: ir.Value, index: int) -> bool:
    """Whether a terminator returns an argument also as another value."""
    return any(
        operand == argument and position != index
        for position, operand in enumerate(terminator.operands)
    )


def _is_unchanged(value: ir.Value, loop: ir.Operation) -> bool:
    """Whether a value is an argument of a loop body that each iteration returns unchanged."""
    if not isinstance(value, ir.BlockArgument) or value.owner != loop.regions[1].blocks[0]:
        return False
    return carries_unchanged(loop, value.arg_number)


def _is_in(value: ir.Value, loop: ir.Operation) -> bool:
    """Whether a value is defined in a region of a loop."""
    block = value.owner if isinstance(value, ir.BlockArgument) else value.owner.operation.block
    operation = block.owner.operation
    while operation.name != "func.func":
        if operation == loop:
            return True
        if operation.parent is None:
            return False
        operation = operation.parent.operation
    return False
