# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-move-reshards`: compute regions along the dimensions that reshards lead to.

`AxisRegions` states what a region is, and `_AxisMover` when it is changed. Only regions beside
reshards that move axes from one dimension to another are.

The tensors of each operation are compatible, and slices don't have their local forms yet.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from mlir_sdy.host import identity, ir
from mlir_sdy.model import TensorSharding, lists_overlap, sort_and_merge
from mlir_sdy.uses import replace_by
from mlir_sdy.values import get_sharding, set_result_shardings_of
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE, HardwareOption
from pyshardy.cost.hardware import Hardware, load_hardware
from pyshardy.irtools.analyses import OF_SHARDINGS, UNCHANGED, Changes
from pyshardy.irtools.tensor_types import element_bytes, shape_of, shard_bytes, shard_elements
from pyshardy.irtools.walks import may_occur_at_start, operations_named
from pyshardy.partition.function_context import FunctionContext
from pyshardy.partition.halo.form_lookup import form_of
from pyshardy.partition.halo.profitability import exchange_collectives
from pyshardy.partition.resharding.axis_regions import (
    AxisRegion,
    AxisRegions,
    Member,
    axes_of_tensors,
)
from pyshardy.partition.resharding.cost import (
    Reshard,
    collective_cost,
    reshard_cost,
)
from pyshardy.partition.resharding.region_boundary import RegionBoundary, is_made_by_each_device
from pyshardy.partition.types.factor_axes import FactorAxes
from pyshardy.partition.types.steps import AxesPerDim
from pyshardy.pipeline import register_pass

_RESHARD = "sdy.reshard"
_ROUNDING = 1e-15
"""The seconds below which a difference is one of rounding."""


@register_pass("sdy-move-reshards", anchor="func.func", release="pyshardy")
def move_reshards(
    function: ir.Operation | ir.OpView, *, hardware: HardwareOption = DEFAULT_HARDWARE
) -> Changes:
    """Move reshards across regions.

    Changes the shardings of the operations before or after a reshard that moves axes from one
    dimension to another, if that takes less time, so that the reshard isn't needed there. A region
    consists of elementwise operations, reductions, broadcasts, reshapes, transposes, slices,
    concatenations, paddings and reverses. The cost includes the reshards around it, all-reduces
    and halo exchanges.

    ```mlir
    // %0 is sharded as <@mesh, [{}, {"x"}]>
    %1 = stablehlo.slice %0 [0:8, 0:4] : (tensor<8x8xf32>) -> tensor<8x4xf32>
    %2 = sdy.reshard %1 <@mesh, [{"x"}, {}]> : tensor<8x4xf32>
    %3 = stablehlo.slice %0 [0:8, 4:8] : (tensor<8x8xf32>) -> tensor<8x4xf32>
    %4 = sdy.reshard %3 <@mesh, [{"x"}, {}]> : tensor<8x4xf32>
    ```

    becomes

    ```mlir
    %1 = sdy.reshard %0 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
    %2 = stablehlo.slice %1 [0:8, 0:4] : (tensor<8x8xf32>) -> tensor<8x4xf32>
    %3 = stablehlo.slice %1 [0:8, 4:8] : (tensor<8x8xf32>) -> tensor<8x4xf32>
    ```

    Raises:
        UsageError: there is no such hardware.
    """
    devices = load_hardware(hardware)
    if not may_occur_at_start({_RESHARD}, function):
        return UNCHANGED
    mover = _AxisMover(FunctionContext.of(function), devices)
    reshards = [each for each in operations_named({_RESHARD}, function) if mover.can_move(each)]
    if not reshards:
        return UNCHANGED
    for reshard in reshards:
        if any(reshard.results[0].uses):
            mover.visit(reshard)
    for reshard in reversed(reshards):
        if not any(reshard.results[0].uses):
            reshard.erase()
    return Changes({_RESHARD}, OF_SHARDINGS)


class _Seconds(NamedTuple):
    """The seconds of an operation.

    Attributes:
        communication: those of the all-reduce and of the halo exchange.
        computation: those of the computation.
    """

    communication: float
    computation: float


class _AxisMover:
    """Changes regions before and after reshards, if that costs less.

    1. The cost of a region is the time of its computation; of the all-reduces, halo exchanges and
       all-gathers of its operations; and of the reshards of its inputs and outputs. It must be
       less, and that of the communication alone, too.
    2. An input that a reshard brings starts from the operand of this reshard. An input that each
       device can compute costs nothing. Each other input needs a reshard.
    3. An output needs a reshard to each sharding in which it is used outside.
    4. Of the regions before and after a reshard, the one is changed that saves most.
    5. If none saves anything, the same regions aren't tried again from their other reshards.

    Args:
        context: the context of the function.
        hardware: the devices and links.
    """

    def __init__(self, context: FunctionContext, hardware: Hardware):
        self._cache = context.cache
        self._hardware = hardware
        self._regions = AxisRegions(context.meshes, context.rules)
        self._boundary = RegionBoundary(context.meshes, context.cache)
        self._rejected: set[tuple[int, bool]] = set()
        self._known: dict[Hashable, _Seconds] = {}

    def can_move(self, reshard: ir.Operation) -> bool:
        """Whether a reshard moves axes from one dimension to another."""
        target = self._boundary.target(reshard)
        source = get_sharding(reshard.operands[0])
        if target is None or source is None or source.mesh_or_ref != target.mesh_or_ref:
            return False
        return any(
            at != dim and lists_overlap(axes, others)
            for at, axes in enumerate(source.dim_axes)
            for dim, others in enumerate(target.dim_axes)
        )

    def visit(self, reshard: ir.Operation) -> None:
        """Change the region before or after a reshard, which may be unused afterwards."""
        most, best = 0.0, None
        for is_before, with_users in itertools.product((True, False), repeat=2):
            if (identity(reshard.results[0]), is_before) in self._rejected:
                continue
            find = self._regions.before if is_before else self._regions.after
            region = None
            for region in find(reshard, with_users=with_users):
                saved = self._saved(region)
                if saved > most:
                    most, best = saved, region.copy()
            if region is not None and best is None:
                self._reject(region)
        if best is not None:
            self._rejected.clear()
            self._regions.forget()
            self._change(best)

    def _reject(self, region: AxisRegion) -> None:
        """Note the reshards from which the same region would be found again."""
        for value in region.inputs():
            origin = get_sharding(self._boundary.origin(value))
            if origin is not None and origin.dim_axes == region.after[identity(value)]:
                self._rejected.add((identity(value), False))
        for member, users in region.outputs():
            for user in users:
                target = self._boundary.target(user)
                if target and target.dim_axes == region.after[identity(member.result)]:
                    self._rejected.add((identity(user.results[0]), True))

    # --- Cost -------------------------------------------------------------------------------

    def _saved(self, region: AxisRegion) -> float:
        """Return the seconds that the change of a region saves; 0 if it saves no communication."""
        communication = self._saved_around(region)
        computation: list[float] = []
        for each in region.members.values():
            before = self._seconds(each, each.before, each.axes_before, region)
            after = self._seconds(each, each.after, each.axes_after, region)
            communication += before.communication
            communication -= after.communication
            computation.append(before.computation - after.computation)
        return 0.0 if communication <= _ROUNDING else communication + sum(computation)

    def _seconds(
        self, member: Member, factors: FactorAxes, axes: Sequence[AxesPerDim], region: AxisRegion
    ) -> _Seconds:
        """Return the seconds of an operation; computed once for each form and axes."""
        key = member.form, factors, member.all_reduce is None, region.mesh
        seconds = self._known.get(key)
        if seconds is None:
            seconds = _Seconds(
                self._communication(member, factors, axes, region),
                self._computation(member, factors, axes, region),
            )
            if member.form is not None:
                self._known[key] = seconds
        return seconds

    def _saved_around(self, region: AxisRegion) -> float:
        """Return the seconds of reshards of inputs and outputs that the change saves."""
        saved = 0.0
        for value in region.inputs():
            origin = self._boundary.origin(value)
            before, after = _axes_of(value), region.after[identity(value)]
            given = _axes_of(origin)
            if origin != value and self._is_used_inside(value, region):
                saved += self._reshard_cost(value, given, before, region)
            if not is_made_by_each_device(origin):
                if region.defines(origin):
                    given = region.after[identity(origin)]
                saved -= self._reshard_cost(value, given, after, region)
        for member, users in region.outputs():
            result = member.result
            old, new = _axes_of(result), region.after[identity(result)]
            outside = [user for user in users if not self._is_inside(user, region)]
            targets = {
                old if target is None else target.dim_axes: None
                for target in map(self._boundary.target, outside)
            }
            saved += sum(self._reshard_cost(result, old, each, region) for each in targets)
            saved -= sum(self._reshard_cost(result, new, each, region) for each in targets)
        return saved

    def _computation(
        self, member: Member, factors: FactorAxes, axes: Sequence[AxesPerDim], region: AxisRegion
    ) -> float:
        """Return the seconds of the computation of an operation."""
        operations = shard_elements(member.rule.factor_sizes, factors, region.mesh)
        accessed = sum(
            shard_bytes(value.type, refs, region.mesh)
            for value, refs in zip(member.values, axes, strict=True)
        )
        return self._hardware.work_seconds(operations, accessed)

    def _communication(
        self, member: Member, factors: FactorAxes, axes: Sequence[AxesPerDim], region: AxisRegion
    ) -> float:
        """Return the seconds of the all-reduce and of the halo exchange of an operation."""
        seconds = 0.0
        if member.all_reduce is not None:
            reduced = sort_and_merge(member.reduced(factors), region.mesh)
            nbytes = shard_bytes(member.result.type, axes[-1], region.mesh)
            seconds += collective_cost("all_reduce", reduced, nbytes, region.mesh, self._hardware)
        if any(factors[factor] for factor in member.rule.permutation_factors):
            seconds += self._exchange_cost(member, factors, axes[:-1], region)
        return seconds

    def _exchange_cost(
        self, member: Member, factors: FactorAxes, axes: Sequence[AxesPerDim], region: AxisRegion
    ) -> float:
        """Return the seconds of a halo exchange, or of the all-gathers that replace it."""
        operands = list(member.operation.operands)
        form = form_of(member.operation, member.rule)
        if form is not None and form.rule == member.rule:
            shapes = [shape_of(value.type) for value in operands]
            nbytes = [element_bytes(value.type) for value in operands]
            collectives = exchange_collectives(form, factors, axes, shapes, nbytes, region.mesh)
            if collectives is not None:
                return sum(each.traffic(self._hardware).seconds for each in collectives)
        permuted = member.rule.permutation_factors
        gathered = tuple(() if at in permuted else each for at, each in enumerate(factors))
        return sum(
            self._reshard_cost(value, old, new, region)
            for value, old, new in zip(
                operands, axes, axes_of_tensors(member.rule, gathered), strict=False
            )
        )

    def _reshard_cost(
        self, value: ir.Value, source: AxesPerDim, target: AxesPerDim, region: AxisRegion
    ) -> float:
        if source == target:
            return 0.0
        return reshard_cost(Reshard.of(value, source, target, region.mesh), self._hardware)

    def _is_inside(self, user: ir.Operation, region: AxisRegion) -> bool:
        """Whether an operation is a reshard from a region to itself, which an input counts."""
        if self._boundary.target(user) is None:
            return False
        return self._is_used_inside(user.results[0], region)

    @staticmethod
    def _is_used_inside(value: ir.Value, region: AxisRegion) -> bool:
        users = [use.owner.operation for use in value.uses]
        return bool(users) and all(map(region.contains, users))

    # --- Changing ---------------------------------------------------------------------------

    def _change(self, region: AxisRegion) -> None:
        """Change the axes of a region."""
        shardings = {
            key: TensorSharding.from_axes(region.mesh_or_ref, axes)
            for key, axes in region.after.items()
        }
        inputs = [
            (value, [use for use in value.uses if region.contains(use.owner.operation)])
            for value in region.inputs()
        ]
        outputs = [(member, users, member.axes_before[-1]) for member, users in region.outputs()]
        wanted = [shardings[identity(value)] for value, _ in inputs]
        results = {key: self._retype(member, shardings) for key, member in region.members.items()}
        for (value, uses), sharding in zip(inputs, wanted, strict=True):
            self._boundary.bring(value, sharding, uses)
        for member, users, axes in outputs:
            result = results[identity(member.operation.results[0])]
            sharding = get_sharding(result)
            assert sharding is not None, "it has been set"
            before = TensorSharding.from_axes(region.mesh_or_ref, axes)
            self._boundary.take(result, users, sharding, before)

    def _retype(self, member: Member, shardings: dict[int, TensorSharding]) -> ir.Value:
        """Set the sharding of a member's result, and return the complete result."""
        sharding = shardings[identity(member.result)]
        set_result_shardings_of(member.operation, {0: sharding}, self._cache)
        result: ir.Value = member.operation.results[0]
        if member.all_reduce is None:
            return result
        if member.is_completed:
            set_result_shardings_of(member.all_reduce, {0: sharding}, self._cache)
            return member.all_reduce.results[0]
        replace_by(member.all_reduce, result)
        return result


def _axes_of(value: ir.Value) -> AxesPerDim:
    """Return the axes of each dimension of a tensor."""
    sharding = get_sharding(value)
    return ((),) * len(shape_of(value.type)) if sharding is None else sharding.dim_axes
