# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-optimize-reshards`: reduce the communication of reshards.

1. A reshard of a value that each device can compute by itself (a constant, an iota, a scalar
   broadcast, elementwise operations on these) is replaced by the value in the target sharding (see
   `is_made_by_each_device`).
2. A reshard moves after an elementwise operation, or before it, if devices send fewer bytes there:
   of

       %1 = sdy.reshard %0 <@mesh, [{}, {}]> : tensor<8x8xf32>            // from [{"x"}, {}]
       %2 = stablehlo.convert %1 : (tensor<8x8xf32>) -> tensor<8x8xbf16>  // in [{}, {}]

   the conversion is computed on shards, and half as many bytes are gathered; and of two operands
   that are gathered to be added, their sum is gathered instead.
3. A region of elementwise operations changes its sharding, if devices send fewer bytes then (see
   `regions`).
4. A reshard starts from an earlier one of the same value, or of its transpose or reshape, if
   devices send fewer bytes: equal ones are merged, and a value that was gathered before is sliced
   (see `share_reshards`).

Before and after, reshards of reshards are merged, by the patterns of `canonicalize`. At last, an
all-reduce whose result is resharded becomes a reduce-scatter, if that takes less time (see
`scatter_all_reduces`).

The cost includes communication and additional computation, as in `cost`.

The tensors of each operation are compatible.
"""

from __future__ import annotations

from typing import NamedTuple

from mlir_sdy import sdy
from mlir_sdy.fold import canonicalize
from mlir_sdy.host import identity, ir
from mlir_sdy.model import (
    FactorType,
    Mesh,
    OpShardingRule,
    TensorSharding,
    are_equivalent,
    mesh_of,
)
from mlir_sdy.uses import replace_by
from mlir_sdy.values import get_sharding, set_result_shardings_of
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE, HardwareOption
from pyshardy.cost.hardware import Hardware, load_hardware
from pyshardy.irtools.analyses import OF_SHARDINGS, UNCHANGED, Changes
from pyshardy.irtools.tensor_types import element_bytes, shape_of, shard_elements
from pyshardy.irtools.walks import operations_named
from pyshardy.partition.function_context import FunctionContext
from pyshardy.partition.op_facts.forms import FormMemo, Forms
from pyshardy.partition.partial.reductions import blocked_factors
from pyshardy.partition.resharding.completions import scatter_all_reduces
from pyshardy.partition.resharding.cost import Reshard, reshard_cost
from pyshardy.partition.resharding.region_boundary import (
    KeptReshards,
    defining_operation,
    is_made_by_each_device,
    made_in,
)
from pyshardy.partition.resharding.regions import ElementwiseRegions
from pyshardy.partition.resharding.share_reshards import ReshardSharing
from pyshardy.partition.types.planned_axes import has_planned_axes
from pyshardy.pipeline import register_pass
from pyshardy.rules.signature import OperationParts

_MANUAL, _RESHARD = "sdy.manual_computation", "sdy.reshard"


@register_pass("sdy-optimize-reshards", anchor="func.func", release="pyshardy")
def optimize_reshards(
    function: ir.OpView, *, hardware: HardwareOption = DEFAULT_HARDWARE
) -> Changes:
    """Reduce the communication of reshards.

    Computes constants, iotas and other values that need no communication in the sharding that a
    reshard requires. Moves reshards across element-wise operations if that sends fewer bytes, and
    computes whole regions of them in the sharding of the operations around them.
    Reuses an earlier reshard of a value, or of its transposes, reshapes and conversions, as the
    source of a later one if that is cheaper. Makes an all-reduce whose result is only resharded a
    reduce-scatter, if that and the remaining reshards take less time.

    ```mlir
    // %0 is sharded as <@mesh, [{"x"}, {}]>
    %1 = sdy.reshard %0 <@mesh, [{}, {}]> : tensor<8x8xf32>
    %2 = stablehlo.convert %1 : (tensor<8x8xf32>) -> tensor<8x8xbf16>
    ```

    becomes

    ```mlir
    %1 = stablehlo.convert %0 : (tensor<8x8xf32>) -> tensor<8x8xbf16>
    %2 = sdy.reshard %1 <@mesh, [{}, {}]> : tensor<8x8xbf16>
    ```

    Raises:
        UsageError: there is no such hardware.
    """
    model = load_hardware(hardware)
    # Halo exchanges are manual computations, and may leave unused operations, which are erased.
    if not operations_named({_RESHARD, _MANUAL}, function):
        return UNCHANGED
    canonicalize(function, {"sdy-reshard"})
    optimizer = _Optimizer(function.operation, model)
    optimizer.run()
    canonicalize(function, {"sdy-reshard"})
    optimizer.scatter_all_reduces()
    return Changes({_RESHARD, "sdy.reduce_scatter", "stablehlo.reshape"}, OF_SHARDINGS)


class _Ends(NamedTuple):
    source: TensorSharding
    target: TensorSharding
    mesh: Mesh


class _Optimizer:
    """One run over a function."""

    def __init__(self, function: ir.Operation, hardware: Hardware):
        context = FunctionContext.of(function)
        self.function = function
        self.hardware = hardware
        self.meshes = context.meshes
        self.cache = context.cache
        self.rules = context.rules
        self._elementwise = FormMemo[bool](Forms(self.rules))
        # By shardings and types, as layers repeat; addresses are valid as long as the context.
        self._costs: dict[tuple[int, TensorSharding, TensorSharding], float] = {}
        self._works: dict[tuple[TensorSharding | int, ...], float] = {}
        self._kept = KeptReshards(self._is_elementwise)

    def run(self) -> None:
        self._erase_unused()
        for reshard in self._reshards():
            self._make_where_wanted(reshard)
        self._write_missing_shardings()
        for reshard in reversed(self._reshards()):
            self._move_before(reshard)
        self._kept.clear()
        waiting = self._reshards()[::-1]
        while waiting:
            moved = self._move_after(waiting.pop())
            if moved is not None:
                waiting.append(moved)
        self._move_regions()
        self._erase_unused()
        self._share()

    def scatter_all_reduces(self) -> None:
        """Replace all-reduces whose results are only resharded."""
        scatter_all_reduces(
            self.function,
            self.meshes,
            self.cache,
            self.hardware,
            lambda reshard: self._ends(reshard) is not None,
        )

    def _reshards(self) -> list[ir.Operation]:
        """Return all reshards in the order of the text."""
        return operations_named({_RESHARD}, self.function)

    def _erase_unused(self) -> None:
        """Erase unused reshards, which devices would carry out nevertheless."""
        for reshard in reversed(self._reshards()):
            if not any(reshard.results[0].uses):
                reshard.erase()

    def _ends(self, reshard: ir.Operation) -> _Ends | None:
        """Return source, target and mesh of a reshard that only moves axes of a static tensor."""
        source, target = get_sharding(reshard.operands[0]), get_sharding(reshard.results[0])
        assert target is not None, "a reshard has a sharding"
        if source is None or target.rank != source.rank:
            return None
        mesh = mesh_of(target, self.meshes)
        is_plain = not (source.unreduced_axes or target.unreduced_axes)
        has_size = all(size > 0 for size in shape_of(reshard.results[0].type))
        if mesh is None or mesh.is_maximal or not (is_plain and has_size):
            return None
        return _Ends(source, target, mesh) if mesh_of(source, self.meshes) == mesh else None

    # --- 1. Values that each device can compute -----------------------------------------------

    def _make_where_wanted(self, reshard: ir.Operation) -> None:
        value: ir.Value = reshard.operands[0]
        if not is_made_by_each_device(value):
            return
        ends = self._ends(reshard)
        if ends is None:
            return
        result = made_in(value, ends.target, reshard, self.cache)
        replace_by(reshard, result)

    # --- 2. Around elementwise operations ---------------------------------------------------

    def _write_missing_shardings(self) -> None:
        """Say that elementwise results of several reshards are replicated, if nothing is said.

        To say nothing means the same, but reshards only move across what has a sharding. One
        reshard alone stays, since moving it saves no bytes, and may prevent that it is shared.
        """
        for reshard in self._reshards():
            sharding = get_sharding(reshard.results[0])
            if sharding is None or not sharding.is_fully_replicated or sharding.unreduced_axes:
                continue
            for use in reshard.results[0].uses:
                user = use.owner.operation
                makers = {defining_operation(operand) for operand in user.operands}
                resharded = [each for each in makers if each and each.name == _RESHARD]
                if len(resharded) < 2 or not self._is_elementwise(user):
                    continue
                if get_sharding(user.results[0]) is None:
                    set_result_shardings_of(user, {0: sharding.fully_closed_like()}, self.cache)

    def _move_before(self, reshard: ir.Operation) -> None:
        """Reshard the operands of the operation before `reshard` instead, if that is cheaper."""
        value: ir.Value = reshard.operands[0]
        if isinstance(value, ir.BlockArgument) or len(list(value.uses)) != 1:
            return
        maker = value.owner.operation
        ends = self._ends(reshard) if self._is_elementwise(maker) else None
        if ends is None:
            return
        source, target, mesh = ends
        tensors = [operand for operand in maker.operands if shape_of(operand.type)]
        if not tensors or any(get_sharding(operand) != source for operand in tensors):
            return
        now = self._cost(value, source, target, mesh) + self._work(maker, source, mesh)
        then = sum(self._cost(operand, source, target, mesh) for operand in dict.fromkeys(tensors))
        if then + self._work(maker, target, mesh) >= now:
            return
        for index, operand in enumerate(maker.operands):
            if shape_of(operand.type):
                moved = self._reshard(operand, target, maker, ir.InsertionPoint(maker))
                maker.operands[index] = moved
        set_result_shardings_of(maker, {0: target}, self.cache)
        replace_by(reshard, value)

    def _move_after(self, reshard: ir.Operation) -> ir.Operation | None:
        """Reshard the result of the only user of `reshard` instead, if that is cheaper."""
        uses = list(reshard.results[0].uses)
        if len(uses) != 1:
            return None
        user = uses[0].owner.operation
        ends = self._ends(reshard) if self._is_elementwise(user) else None
        if ends is None:
            return None
        source, target, mesh = ends
        result: ir.Value = user.results[0]
        if get_sharding(result) != target:
            return None
        now, then = self._work(user, target, mesh), self._work(user, source, mesh)
        origins: list[ir.Value] = []
        for operand in user.operands:
            origin = self._origin(operand, user) if shape_of(operand.type) else operand
            origins.append(origin)
            sharding = get_sharding(origin)
            if not shape_of(operand.type):
                continue
            if sharding is None or mesh_of(sharding, self.meshes) != mesh:
                return None
            if origin != operand and not self._kept.has_equal(operand.owner.operation):
                now += self._cost(operand, sharding, target, mesh)
            then += self._cost(operand, sharding, source, mesh)
        if then + self._cost(result, source, target, mesh) >= now:
            return None
        for index, origin in enumerate(origins):
            given = get_sharding(origin)
            is_elsewhere = given is not None and not are_equivalent(given, source)
            if shape_of(origin.type) and is_elsewhere:
                place = ir.InsertionPoint(user)
                user.operands[index] = self._reshard(origin, source, user, place)
            else:
                user.operands[index] = origin
        set_result_shardings_of(user, {0: source}, self.cache)
        moved = self._reshard(result, target, user, ir.InsertionPoint.after(user))
        result.replace_all_uses_except(moved, moved.owner.operation)
        self._kept.forget(result)
        return moved.owner.operation

    def _origin(self, value: ir.Value, user: ir.Operation) -> ir.Value:
        """Return the operand of the reshard that defines a value, if only `user` uses it."""
        if isinstance(value, ir.BlockArgument) or value.owner.operation.name != _RESHARD:
            return value
        if any(use.owner.operation != user for use in value.uses):
            return value
        return value.owner.operation.operands[0]

    def _is_elementwise(self, operation: ir.Operation) -> bool:
        """Whether each element of the only result depends on the elements at its position only.

        An operation whose axes a plan has chosen doesn't count: it keeps them.
        """
        name = operation.name
        if name == _RESHARD or len(operation.results) != 1 or has_planned_axes(operation):
            return False
        known = OperationParts.of(operation, name)
        return self._elementwise.of(known, (), self._goes_elementwise)

    def _goes_elementwise(self, operation: ir.Operation, _: object) -> bool:
        rule = self.rules.rule(operation)
        if rule is None or rule.is_custom_rule or blocked_factors(operation, rule):
            return False
        return _is_rule_of_elementwise(rule)

    def _needs_replication(self, operation: ir.Operation) -> bool:
        """Whether an operation has factors that can't be sharded."""
        rule = self.rules.rule(operation)
        if rule is None:
            return False
        return bool(rule.need_replication_factors or blocked_factors(operation, rule))

    def _cost(
        self, value: ir.Value, source: TensorSharding, target: TensorSharding, mesh: Mesh
    ) -> float:
        """Return the seconds in which a value is resharded."""
        key = identity(value.type), source, target
        cost = self._costs.get(key)
        if cost is None:
            reshard = Reshard.of(value, source.dim_axes, target.dim_axes, mesh)
            cost = self._costs[key] = reshard_cost(reshard, self.hardware)
        return cost

    def _work(self, operation: ir.Operation, sharding: TensorSharding, mesh: Mesh) -> float:
        """Return the seconds of an elementwise operation whose tensors have one sharding."""
        values = (*operation.operands, operation.results[0])
        key = sharding, *[identity(value.type) for value in values]
        work = self._works.get(key)
        if work is None:
            elements = shard_elements(shape_of(values[-1].type), sharding.dim_axes, mesh)
            accessed = elements * sum(element_bytes(each.type) for each in values)
            work = self._works[key] = self.hardware.work_seconds(elements, accessed)
        return work

    def _reshard(
        self, value: ir.Value, sharding: TensorSharding, at: ir.Operation, place: ir.InsertionPoint
    ) -> ir.Value:
        return sdy.reshard(value, self.cache[sharding], loc=at.location, ip=place)

    # --- 3. Regions of elementwise operations ------------------------------------------------

    def _move_regions(self) -> None:
        regions = ElementwiseRegions(
            self.meshes,
            self.cache,
            self._is_elementwise,
            self._needs_replication,
            self._cost,
            self._work,
        )
        regions.visit(self._reshards())

    # --- 4. Reshards of one value -----------------------------------------------------------

    def _share(self) -> None:
        sharing = ReshardSharing(self._cost, self.cache)
        if any(mesh.is_maximal for mesh in self.meshes.values()):
            for reshard in self._reshards():
                self._replicate_before(reshard)
        for reshard in self._reshards():
            ends = self._ends(reshard)
            if ends is not None:
                sharing.add(reshard, *ends)

    def _replicate_before(self, reshard: ir.Operation) -> None:
        """Let a reshard to a single device start from the replicated value, which others may use.

        Without others, both are merged again.
        """
        value: ir.Value = reshard.operands[0]
        source, target = get_sharding(value), get_sharding(reshard.results[0])
        if source is None or target is None or source.is_fully_replicated:
            return
        meshes = [mesh_of(each, self.meshes) for each in (source, target)]
        if [mesh is not None and mesh.is_maximal for mesh in meshes] == [False, True]:
            replicated = TensorSharding.fully_closed(source.rank, source.mesh_or_ref)
            place = ir.InsertionPoint(reshard)
            reshard.operands[0] = self._reshard(value, replicated, reshard, place)


def _is_rule_of_elementwise(rule: OpShardingRule) -> bool:
    """Whether all tensors have the same factors in the same order, or no dimensions at all."""
    mappings = {mapping.dim_mappings for mapping in rule.mappings if mapping.dim_mappings}
    return len(mappings) == 1 and all(
        rule.factor_type(factor) is FactorType.PASS_THROUGH for factor in range(rule.num_factors)
    )
