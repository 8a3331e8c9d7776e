# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reuse of reshards of one value, also through transposes and reshapes.

    %1 = sdy.reshard %0 <@mesh, [{}, {"y"}]> : tensor<4x8xf32>            // from [{"x"}, {}]
    %2 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
    %3 = stablehlo.reshape %2 : (tensor<8x4xf32>) -> tensor<32xf32>       // in [{"x"}] of 4 x 8
    %4 = sdy.reshard %3 <@mesh, [{"y"}]> : tensor<32xf32>

`%4` is computed from `%1` instead, by a transpose and a reshape of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from mlir_sdy import sdy
from mlir_sdy.attributes import AttributeCache
from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, TensorSharding
from mlir_sdy.uses import replace_by
from mlir_sdy.values import get_sharding, set_result_shardings_of
from pyshardy.irtools.stablehlo_views import TransposeView
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.partition.types.reshapes import Side, are_alike, images_on
from pyshardy.partition.types.steps import AxesPerDim

_RESHAPE, _TRANSPOSE, _CONVERT = "stablehlo.reshape", "stablehlo.transpose", "stablehlo.convert"
_MOST_STEPS = 16

Cost = Callable[[ir.Value, TensorSharding, TensorSharding, Mesh], float]
"""The cost of resharding a value from one sharding to another."""


@dataclass(frozen=True, slots=True)
class _Level:
    """The effect of a reshard on a value from which its operand is computed.

    Attributes:
        value: the value.
        target: the axes of that value with which shards hold the same data as after the reshard.
        step: the operation that computes the value of the level below from it; None at the operand.
        is_converted: whether elements are converted between the value and the reshard.
    """

    value: ir.Value
    target: AxesPerDim
    step: ir.Operation | None = None
    is_converted: bool = False


@dataclass(slots=True)
class _Made:
    """A reshard from which others may start.

    Attributes:
        levels: its effect on each level, from its operand up.
        results: the resharded value of each level, where it exists.
        top: the level of the reshard itself.
    """

    levels: list[_Level]
    results: dict[int, ir.Value]
    top: int = 0


class ReshardSharing:
    """Lets reshards of a function start from earlier ones in the same block.

    1. The levels of a reshard are its operand and the values from which it is computed by
       transposes, reshapes, and conversions of elements, as long as shards hold the same data
       before and after each of them, with the sharding of the operand and with that of the reshard
       (see `images_on`).
    2. A reshard is replaced if, on one of its levels, an earlier reshard, which has that level
       without a conversion, has a result from which resharding costs less.
    3. The operations from that level to the operand are repeated on the resharded value.

    Args:
        cost: returns the cost of a reshard.
        cache: makes attributes.
    """

    def __init__(self, cost: Cost, cache: AttributeCache):
        self._cost = cost
        self._cache = cache
        # By the axes of the level: of reshards to the same axes, the first one is used.
        self._made: dict[tuple[ir.Value, ir.Block], dict[AxesPerDim, tuple[_Made, int]]] = {}

    def add(
        self, reshard: ir.Operation, source: TensorSharding, target: TensorSharding, mesh: Mesh
    ) -> None:
        """Let the next reshard of the text start from an earlier one, if profitable."""
        levels = list(_levels(reshard, source, target, mesh))
        lowest, best = self._cost(reshard.operands[0], source, target, mesh), None
        for index, level in enumerate(levels):
            earlier = self._made.get((level.value, reshard.block), {})
            for axes, (made, at) in earlier.items():
                start, end = (
                    TensorSharding.from_axes(target.mesh_or_ref, each)
                    for each in (axes, level.target)
                )
                cost = 0.0 if start == end else self._cost(level.value, start, end, mesh)
                if cost < lowest or (best is None and index == 0 and start == end):
                    lowest, best = cost, (index, made, at)
        made = _Made(levels, {0: reshard.results[0]})
        block = reshard.block
        if best is not None:
            made = self._made_of(reshard, levels, *best, target)
        for index, level in enumerate(levels):
            # A reshard that starts from another one has no results above that level.
            if level.is_converted or (best is not None and index not in made.results):
                break
            known = self._made.setdefault((level.value, block), {})
            known.setdefault(level.target, (made, index))

    def _made_of(
        self,
        reshard: ir.Operation,
        levels: list[_Level],
        index: int,
        earlier: _Made,
        at: int,
        target: TensorSharding,
    ) -> _Made:
        """Replace a reshard by operations on a result of an earlier one."""
        value = self._result(earlier, at, target)
        place = ir.InsertionPoint(reshard)
        if earlier.levels[at].target != levels[index].target:
            value = self._reshard(value, levels[index], target, reshard)
        made = _Made(levels, {index: value}, index)
        self._go_down(made, index, 0, place, target)
        replace_by(reshard, made.results[0])
        return made

    def _result(self, made: _Made, index: int, target: TensorSharding) -> ir.Value:
        """Return the resharded value of a level; it is built if it doesn't exist yet."""
        known = made.results.get(index)
        if known is not None:
            return known
        lower, top = made.results[made.top], made.top
        reshard, level = lower.owner.operation, made.levels[index]
        value = made.results[index] = self._reshard(level.value, level, target, reshard)
        self._go_down(made, index, top, ir.InsertionPoint(reshard), target)
        lower.replace_all_uses_with(made.results[top])
        reshard.erase()
        made.top = index
        return value

    def _reshard(
        self, value: ir.Value, level: _Level, target: TensorSharding, reshard: ir.Operation
    ) -> ir.Value:
        """Reshard a value to the target of a level, before another reshard."""
        wanted = TensorSharding.from_axes(target.mesh_or_ref, level.target)
        place = ir.InsertionPoint(reshard)
        return sdy.reshard(value, self._cache[wanted], loc=reshard.location, ip=place)

    def _go_down(
        self,
        made: _Made,
        index: int,
        end: int,
        place: ir.InsertionPoint,
        target: TensorSharding,
    ) -> None:
        """Repeat the steps from a level down to another one."""
        for at in range(index, end, -1):
            step = made.levels[at].step
            assert step is not None, "all but the lowest level have a step"
            clone = step.clone(place).operation
            clone.operands[0] = made.results[at]
            sharding = TensorSharding.from_axes(target.mesh_or_ref, made.levels[at - 1].target)
            set_result_shardings_of(clone, {0: sharding}, self._cache)
            made.results[at - 1] = clone.results[0]


def _levels(
    reshard: ir.Operation, source: TensorSharding, target: TensorSharding, mesh: Mesh
) -> Iterator[_Level]:
    """Yield the levels of a reshard, from its operand up."""
    value: ir.Value = reshard.operands[0]
    axes, is_converted = tuple(target.dim_axes), False
    yield _Level(value, axes)
    for _ in range(_MOST_STEPS):
        if isinstance(value, ir.BlockArgument):
            return
        step = value.owner.operation
        if step.name not in (_RESHAPE, _TRANSPOSE, _CONVERT):
            return
        operand: ir.Value = step.operands[0]
        before, after = get_sharding(operand), get_sharding(value)
        if before is None or after is None or not _are_plain(before, after, source):
            return
        shape = shape_of(operand.type)
        given = Side(shape_of(value.type), tuple(after.dim_axes))
        wanted = Side(given.shape, axes)
        if step.name == _RESHAPE:
            is_kept = are_alike(Side(shape, tuple(before.dim_axes)), given, mesh)
            found = next(iter(images_on(wanted, shape, mesh)), None)
        else:
            order: Sequence[int] = range(len(shape))
            if step.name == _TRANSPOSE:
                order = TransposeView(step).permutation
            is_kept = tuple(before.dim_axes) == _moved_back(given.axes, order)
            found = Side(shape, _moved_back(axes, order))
        if not is_kept or found is None:
            return
        value, axes = operand, found.axes
        is_converted = is_converted or step.name == _CONVERT
        yield _Level(value, axes, step, is_converted)


def _moved_back(axes: AxesPerDim, order: Sequence[int]) -> AxesPerDim:
    """Return the axes of each dimension before a transpose."""
    places = {before: after for after, before in enumerate(order)}
    return tuple(axes[places[dim]] for dim in range(len(axes)))


def _are_plain(before: TensorSharding, after: TensorSharding, source: TensorSharding) -> bool:
    """Whether shardings have axes of dimensions only, on the mesh of the reshard."""
    return all(
        each.mesh_or_ref == source.mesh_or_ref and not (each.unreduced_axes or each.replicated_axes)
        for each in (before, after)
    )
