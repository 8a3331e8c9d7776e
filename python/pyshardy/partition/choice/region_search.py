# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The search for regions that take less time with other axes.

    %1 = sdy.reshard %0 <@mesh, [{}, {"x"}]> : tensor<8x8xf32>   // from [{"x"}, {}]
    %2 = stablehlo.tanh %1 : tensor<8x8xf32>
    %3 = stablehlo.multiply %2, %2 : tensor<8x8xf32>
    %4 = sdy.reshard %2 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
    %5 = sdy.reshard %3 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>

`%2` and `%3` are computed in `[{"x"}, {}]` instead, without reshards. Moving one reshard across one
operation wouldn't find this, as `%2` has two uses.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from mlir_sdy.host import identity, ir
from mlir_sdy.model import AxisTuple, Mesh, TensorSharding, sort_and_merge
from mlir_sdy.values import get_sharding, set_result_shardings_of
from pyshardy.cost.hardware import Hardware
from pyshardy.irtools.tensor_types import element_bytes, shape_of, shard_bytes, shard_elements
from pyshardy.partition.choice.regions import Member, Region, RegionOperation, Regions
from pyshardy.partition.function_context import FunctionContext
from pyshardy.partition.halo.communication import exchange_collectives
from pyshardy.partition.halo.form_lookup import form_of
from pyshardy.partition.partial.blocked_factors import blocked_factors
from pyshardy.partition.resharding.cost import Reshard, collective_cost, reshard_cost
from pyshardy.partition.resharding.region_boundary import (
    KeptReshards,
    RegionBoundary,
    is_made_by_each_device,
    maker_of,
)
from pyshardy.partition.types.factor_axes import FactorAxes
from pyshardy.partition.types.steps import AxesPerDim

_RESHARD = "sdy.reshard"
_ROUNDING = 1e-15
"""The seconds below which a difference is one of rounding."""


class _Input(NamedTuple):
    """The origin of a value that a region uses.

    Attributes:
        origin: the operand of the reshard that brings it, or the value itself.
        key: the identity of the origin.
        axes: the axes of the origin.
        is_made: whether devices can compute any shard of the origin by themselves.
    """

    origin: ir.Value
    key: int
    axes: AxesPerDim
    is_made: bool


class RegionSearch:
    """Changes regions before and after reshards, if that costs less.

    1. The cost of a region is the time of its computation; of the all-reduces, halo exchanges and
       all-gathers of its operations; and of the reshards of its inputs and outputs. It must be
       less, and that of the communication no more.
    2. An input that a reshard brings starts from the operand of this reshard, or from its result.
       An input that each device can compute costs nothing. Each other input needs a reshard. A
       reshard of which others use the result, or an equal one, stays in any case.
    3. An output needs a reshard to each sharding in which it is used outside.
    4. Shards don't become larger, since they may save memory; unless the program has the larger
       ones anyway: all outputs are gathered to them, or all inputs are slices of results of
       operations that need them, such as `stablehlo.cholesky`.
    5. Of the regions before and after a reshard, the one is changed that saves most.
    6. If none saves anything, the same regions aren't tried again from their other reshards.

    Args:
        context: the context of the function.
        hardware: the devices and links.
        may_contain: whether an operation can be in regions.
    """

    def __init__(
        self,
        context: FunctionContext,
        hardware: Hardware,
        may_contain: Callable[[ir.Operation], bool],
    ):
        self._cache = context.cache
        self._rules = context.rules
        self._hardware = hardware
        self._regions = Regions(context.meshes, context.rules, may_contain)
        self._boundary = RegionBoundary(context.meshes, context.cache)
        self._kept = KeptReshards(may_contain)
        self._rejected: set[tuple[int, bool]] = set()
        self._inputs: dict[int, _Input] = {}
        self._targets_of: dict[int, AxesPerDim | None] = {}
        # By types, as layers repeat; addresses are valid as long as the context.
        self._reshards: dict[tuple[str | Mesh, int, AxesPerDim, AxesPerDim], float] = {}
        self._works: dict[tuple[str | Mesh, tuple[str | int, ...], FactorAxes], float] = {}

    def ends(self, reshard: ir.Operation) -> tuple[AxesPerDim, AxesPerDim] | None:
        """Return the axes before and after a reshard, if it only moves them within a mesh."""
        target, source = self._boundary.target(reshard), get_sharding(reshard.operands[0])
        if target is None or source is None or source.mesh_or_ref != target.mesh_or_ref:
            return None
        return source.dim_axes, target.dim_axes

    def visit(self, reshards: Iterable[ir.Operation]) -> None:
        """Change the regions before or after reshards, which may be unused afterwards."""
        for reshard in reshards:
            if any(reshard.results[0].uses):
                self._visit(reshard)

    def _visit(self, reshard: ir.Operation) -> None:
        most, best = 0.0, None
        for is_before, with_users in itertools.product((True, False), repeat=2):
            if (identity(reshard.results[0]), is_before) in self._rejected:
                continue
            region = None
            for region in self._regions.beside(reshard, is_before=is_before, with_users=with_users):
                saved = self._saved(region)
                if saved > most:
                    most, best = saved, region.copy()
            if region is not None and best is None:
                self._reject(region)
        if best is not None:
            self._rejected.clear()
            self._regions.forget()
            self._kept.clear()
            self._inputs.clear()
            self._targets_of.clear()
            self._change(best)

    def _reject(self, region: Region) -> None:
        """Note the reshards from which the same region would be found again."""
        for value, key, _, after in region.inputs():
            if self._input(value, key).axes == after:
                self._rejected.add((key, False))
        for member, users in region.outputs():
            for key, user in users:
                if self._target(user, key) == member.axes[-1]:
                    self._rejected.add((key, True))

    def _input(self, value: ir.Value, key: int) -> _Input:
        """Return where a value of some identity comes from, read once."""
        found = self._inputs.get(key)
        if found is None:
            origin = self._boundary.origin(value)
            is_made = is_made_by_each_device(origin, self._regions.sent)
            source = identity(origin), _axes_of(origin), is_made
            found = self._inputs[key] = _Input(origin, *source)
        return found

    def _target(self, user: ir.Operation, key: int) -> AxesPerDim | None:
        """Return the axes to which an operation of some key brings its operand, if it does."""
        if user.name != _RESHARD:
            return None
        if key not in self._targets_of:
            target = self._boundary.target(user)
            self._targets_of[key] = None if target is None else target.dim_axes
        return self._targets_of[key]

    # --- Cost -------------------------------------------------------------------------------

    def _saved(self, region: Region) -> float:
        """Return the seconds that the change of a region saves; 0 if it must not be changed."""
        communication = self._saved_around(region)
        members = region.members.values()
        for each in members:
            own = each.own
            if own.all_reduce is not None or own.rule.permutation_factors:
                communication += self._communication(own, own.factors, own.axes, region)
                communication -= self._communication(own, each.factors, each.axes, region)
        if communication < -_ROUNDING or not self._fits(region):
            return 0.0
        saved = communication + sum(
            self._computation(each.own, each.own.factors, region)
            - self._computation(each.own, each.factors, region)
            for each in members
        )
        return saved if saved > _ROUNDING else 0.0

    def _saved_around(self, region: Region) -> float:
        """Return the seconds of reshards of inputs and outputs that the change saves."""
        saved = 0.0
        for value, key, before, after in region.inputs():
            source = self._input(value, key)
            given, now = source.axes, 0.0
            if source.origin != value and self._is_only_for(value, region):
                now = self._reshard_cost(value, given, before, region)
            saved += now
            if source.is_made:
                continue
            if source.key in region.defined:
                given = region.after[source.key]
            from_value = now + self._reshard_cost(value, before, after, region)
            saved -= min(self._reshard_cost(value, given, after, region), from_value)
        for member, targets in self._targets(region):
            value, old, new = member.own.result, member.own.axes[-1], member.axes[-1]
            for each in targets:
                saved += self._reshard_cost(value, old, each, region)
                saved -= self._reshard_cost(value, new, each, region)
        return saved

    def _targets(self, region: Region) -> Iterator[tuple[Member, Iterable[AxesPerDim]]]:
        """Yield the members whose results are used outside, and the axes in which they are."""
        for member, users in region.outputs():
            targets: dict[AxesPerDim, None] = {}
            for key, user in users:
                target = self._target(user, key)
                if target is None:
                    targets[member.own.axes[-1]] = None
                elif not _is_used_inside(user.results[0], region):  # else an input counts it
                    targets[target] = None
            yield member, targets

    def _fits(self, region: Region) -> bool:
        """Whether shards don't become larger, or the program has the larger ones anyway."""
        if all(
            _num_shards(each.axes[-1], region) >= _num_shards(each.own.axes[-1], region)
            for each in region.members.values()
        ):
            return True
        if all({*targets} <= {each.axes[-1]} for each, targets in self._targets(region)):
            return True
        sources = [(self._input(value, key), after) for value, key, _, after in region.inputs()]
        return all(
            source.is_made or (source.axes == after and self._is_needed_whole(source.origin))
            for source, after in sources
        )

    def _is_needed_whole(self, value: ir.Value) -> bool:
        """Whether the operation that defines a value has factors that can't be sharded."""
        maker = maker_of(value)
        rule = None if maker is None else self._rules.rule(maker)
        if maker is None or rule is None:
            return False
        return bool(rule.need_replication_factors or blocked_factors(maker, rule))

    def _computation(self, own: RegionOperation, factors: FactorAxes, region: Region) -> float:
        """Return the seconds of the computation of an operation."""
        key = region.mesh_or_ref, own.kind, factors
        seconds = self._works.get(key)
        if seconds is None:
            operations = shard_elements(own.rule.factor_sizes, factors, region.mesh)
            accessed = sum(
                shard_bytes(value.type, axes, region.mesh)
                for value, axes in zip(own.values, own.axes_by(factors), strict=True)
            )
            seconds = self._works[key] = self._hardware.work_seconds(operations, accessed)
        return seconds

    def _communication(
        self, own: RegionOperation, factors: FactorAxes, axes: Iterable[AxesPerDim], region: Region
    ) -> float:
        """Return the seconds of the all-reduce and of the halo exchange of an operation."""
        *operands, result = axes
        seconds = 0.0
        if own.all_reduce is not None:
            reduced: AxisTuple = sort_and_merge(own.reduced(factors), region.mesh)
            nbytes = shard_bytes(own.result.type, result, region.mesh)
            seconds += collective_cost("all_reduce", reduced, nbytes, region.mesh, self._hardware)
        permuted = own.rule.permutation_factors
        if not any(factors[factor] for factor in permuted):
            return seconds
        form, values = form_of(own.operation, own.rule), own.values[:-1]
        if form is not None and form.rule == own.rule:
            sizes = [element_bytes(value.type) for value in values]
            shapes = own.shapes[:-1]
            exchanged = exchange_collectives(form, factors, operands, shapes, sizes, region.mesh)
            if exchanged is not None:
                return seconds + sum(each.traffic(self._hardware).seconds for each in exchanged)
        # All-gathers replace the exchange.
        gathered = tuple(() if at in permuted else each for at, each in enumerate(factors))
        return seconds + sum(
            self._reshard_cost(value, old, new, region)
            for value, old, new in zip(values, operands, own.axes_by(gathered), strict=False)
        )

    def _reshard_cost(
        self, value: ir.Value, source: AxesPerDim, target: AxesPerDim, region: Region
    ) -> float:
        if source == target:
            return 0.0
        key = region.mesh_or_ref, identity(value.type), source, target
        seconds = self._reshards.get(key)
        if seconds is None:
            reshard = Reshard.of(value, source, target, region.mesh)
            seconds = self._reshards[key] = reshard_cost(reshard, self._hardware)
        return seconds

    def _is_only_for(self, value: ir.Value, region: Region) -> bool:
        """Whether only a region uses a resharded value, and no equal one stays."""
        return _is_used_inside(value, region) and not self._kept.has_equal(value.owner.operation)

    # --- Changing ---------------------------------------------------------------------------

    def _change(self, region: Region) -> None:
        """Change the axes of a region."""

        def sharding_of(axes: AxesPerDim) -> TensorSharding:
            return TensorSharding.from_axes(region.mesh_or_ref, axes)

        inputs = [
            (value, after, [use for use in value.uses if region.contains(use.owner.operation)])
            for value, _, _, after in region.inputs()
        ]
        outputs = list(region.outputs())
        results = {
            key: self._retype(member, sharding_of(member.axes[-1]))
            for key, member in region.members.items()
        }
        for value, after, uses in inputs:
            self._boundary.bring(value, sharding_of(after), uses)
        for member, users in outputs:
            result = results[identity(member.own.operation.results[0])]
            after, before = member.axes[-1], member.own.axes[-1]
            around = [user for _, user in users]
            self._boundary.take(result, around, sharding_of(after), sharding_of(before))

    def _retype(self, member: Member, sharding: TensorSharding) -> ir.Value:
        """Set the sharding of a member's result, and return the complete result."""
        operation, all_reduce = member.own.operation, member.own.all_reduce
        set_result_shardings_of(operation, {0: sharding}, self._cache)
        result: ir.Value = operation.results[0]
        if all_reduce is None:
            return result
        if member.is_completed:
            set_result_shardings_of(all_reduce, {0: sharding}, self._cache)
            return all_reduce.results[0]
        all_reduce.results[0].replace_all_uses_with(result)
        all_reduce.erase()
        return result


def _is_used_inside(value: ir.Value, region: Region) -> bool:
    """Whether only operations of a region use a value."""
    users = [use.owner.operation for use in value.uses]
    return bool(users) and all(map(region.contains, users))


def _num_shards(axes: AxesPerDim, region: Region) -> int:
    return region.mesh.axes_size([axis for dim in axes for axis in dim])


def _axes_of(value: ir.Value) -> AxesPerDim:
    """Return the axes of each dimension of a tensor."""
    sharding = get_sharding(value)
    return ((),) * len(shape_of(value.type)) if sharding is None else sharding.dim_axes
