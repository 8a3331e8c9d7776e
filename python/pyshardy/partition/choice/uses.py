# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Uses of values that must have a given sharding: data flow and completion.

Collectives that the user wrote into a global program:

1. Within a manual computation, and in functions that are called from there, collectives
   communicate between the devices, and are kept.
2. Elsewhere a collective whose groups have one device is replaced by its operands:

       %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0]]> ...}> ...

   becomes `%a`.
3. Elsewhere a collective between several devices is an error.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from mlir_sdy import sdy
from mlir_sdy.diagnostics import Diagnostic, PassError, error, note
from mlir_sdy.host import ir, location_of, stablehlo
from mlir_sdy.model import (
    AxisTuple,
    TensorSharding,
    are_equivalent_if_given,
    common_mesh,
    intersection,
    set_difference,
    sort_and_merge,
)
from mlir_sdy.symbols import enclosing_module
from mlir_sdy.uses import place_behind, replace_by
from mlir_sdy.values import get_sharding, rank_of, result_shardings_of
from pyshardy.irtools.collectives import COLLECTIVES_WITH_GROUPS
from pyshardy.irtools.stablehlo_views import CollectiveView, callee_of, symbol_name
from pyshardy.irtools.walks import has_ancestor, operations_named
from pyshardy.partition.function_context import FunctionContext
from pyshardy.partition.op_facts.data_flow import Source
from pyshardy.partition.partial.linear_operations import linearity_of
from pyshardy.partition.partial.unreduced import complete, introduce, origin_of


class UseConverter:
    """Converts uses of values by reshards, and by operations that change unreduced axes.

    Args:
        context: the context of the function.
        absent_is_complete: whether a value without a sharding is complete where an unreduced one
            is expected. Shardy takes it for unreduced, unless it has to be sharded, too.
    """

    def __init__(self, context: FunctionContext, *, absent_is_complete: bool):
        self._absent_is_complete = absent_is_complete
        self.meshes = context.meshes
        self.cache = context.cache
        self.mesh = context.mesh

    def convert(self, source: Source, full: bool, *, before_use: bool = False) -> bool:
        """Convert an operand to the sharding of the place to which its value flows.

        1. It is completed along unreduced axes that this sharding lacks.
        2. It is made unreduced along those that only this sharding has.
        3. In the full version, it is resharded where the two still differ.

        Returns:
            Whether it had another sharding.
        """
        value: ir.Value = source.operation.operands[source.index]
        current = get_sharding(value)
        wanted = source.sharding
        if are_equivalent_if_given(current, wanted) and not self._becomes_partial(current, wanted):
            return False
        place = ir.InsertionPoint(source.operation) if before_use else place_behind(value)
        if current is not None:
            kept = () if wanted is None else wanted.unreduced_axes
            mesh = self.mesh(current)
            value, current = complete(value, current, kept, mesh, place, self.cache)
        if wanted is not None and wanted.unreduced_axes:
            value, current = self.introduce(value, current, wanted, place)
        if full and not are_equivalent_if_given(current, wanted):
            if wanted is None:
                assert current is not None, "two absent shardings are equivalent"
                wanted = TensorSharding.fully_closed(rank_of(value.type), current.mesh_or_ref)
            value = self.reshard(value, wanted, place)
        if value != source.operation.operands[source.index]:
            source.operation.operands[source.index] = value
        return True

    def _becomes_partial(
        self, current: TensorSharding | None, wanted: TensorSharding | None
    ) -> bool:
        """Whether a value without a sharding has to be made unreduced."""
        if current is not None or wanted is None or not self._absent_is_complete:
            return False
        return bool(wanted.unreduced_axes)

    def introduce(
        self,
        value: ir.Value,
        current: TensorSharding | None,
        wanted: TensorSharding,
        place: ir.InsertionPoint,
    ) -> tuple[ir.Value, TensorSharding]:
        """Make a value unreduced along axes of `wanted`; return the value and its sharding.

        If `wanted` is on another mesh, the value is completed first, and then resharded.

        Raises:
            PassError: the meshes have different numbers of devices.
        """
        mesh = self.mesh(wanted)
        if current is None:
            current = TensorSharding.fully_closed(rank_of(value.type), wanted.mesh_or_ref)
            value = self.reshard(value, current, place)
        elif (old_mesh := self.mesh(current)) != mesh:
            if old_mesh.total_size != mesh.total_size or mesh.is_maximal:
                message = (
                    f"unreduced axes can't be added on other devices: from {current} to {wanted}"
                )
                raise PassError(error(message, location_of(origin_of(value))))
            value, _ = complete(value, current, (), old_mesh, place, self.cache)
            current = replace(wanted, unreduced_axes=())
            value = self.reshard(value, current, place)
        return introduce(value, current, wanted, mesh, place, self.cache)

    def introduce_for(self, reshard: ir.Operation) -> None:
        """Make the operand of a reshard unreduced along the axes of the result's sharding.

        If there are any, collectives replace the reshard, which can't express them.
        """
        value: ir.Value = reshard.operands[0]
        wanted = get_sharding(reshard.results[0])
        if wanted is None or not wanted.unreduced_axes:
            return
        last, _ = self.introduce(value, get_sharding(value), wanted, ir.InsertionPoint(reshard))
        if last != value:
            replace_by(reshard, last)

    def complete_operands(self, operation: ir.Operation) -> None:
        """Complete each operand along the unreduced axes that the results don't have.

        An operand on another mesh is completed along all of them, as axes are different there.
        """
        results = result_shardings_of(operation)
        for index, value in enumerate(operation.operands):
            current = get_sharding(value)
            if current is None or not current.unreduced_axes:
                continue
            self._check_unreduced(operation, current, results)
            is_on_one_mesh = bool(results) and common_mesh((current, results[0]), self.meshes)
            kept = results[0].unreduced_axes if is_on_one_mesh else ()
            place = ir.InsertionPoint(operation)
            mesh = self.mesh(current)
            completed, _ = complete(value, current, kept, mesh, place, self.cache)
            if completed != value:
                operation.operands[index] = completed

    def complete_for_results(self, operation: ir.Operation) -> None:
        """Complete each operand, except along axes along which it makes the results partial.

        Along these, operands that have to be partial together (see `linearity_of`) are made
        unreduced: in a sum that stays partial, only one device adds a complete value. Where the
        results are not declared unreduced, or on another mesh, all operands are completed.
        """
        partial = [get_sharding(value) for value in operation.operands]
        if not any(each is not None and each.unreduced_axes for each in partial):
            return
        results = result_shardings_of(operation)
        for each in partial:
            if each is not None and each.unreduced_axes:
                self._check_unreduced(operation, each, results)
        place = ir.InsertionPoint(operation)
        for index, kept in enumerate(self._kept_axes(operation, partial, results)):
            value, current = operation.operands[index], partial[index]
            if current is None and not kept:
                continue
            if current is None:
                current = TensorSharding.fully_closed(rank_of(value.type), results[0].mesh_or_ref)
            mesh = self.mesh(current)
            new, sharding = complete(value, current, kept, mesh, place, self.cache)
            if set_difference(kept, sharding.unreduced_axes, mesh):
                wanted = replace(
                    sharding, unreduced_axes=kept, reduction_kind=results[0].reduction_kind
                )
                new, _ = self.introduce(new, sharding, wanted, place)
            if new != value:
                operation.operands[index] = new

    def _kept_axes(
        self,
        operation: ir.Operation,
        operands: Sequence[TensorSharding | None],
        results: Sequence[TensorSharding],
    ) -> list[AxisTuple]:
        """Return the axes along which each operand stays partial."""
        kept: list[AxisTuple] = [()] * len(operands)
        linearity = linearity_of(operation, results[0].reduction_kind) if results else None
        if linearity is None:
            return kept
        declared, mesh = results[0], self.mesh(results[0])
        candidates = {
            index: common
            for index in linearity.operands
            if (sharding := operands[index]) is not None
            and sharding.unreduced_axes
            and sharding.reduction_kind is declared.reduction_kind
            and common_mesh((sharding, declared), self.meshes)
            and (common := intersection(sharding.unreduced_axes, declared.unreduced_axes))
        }
        if not candidates:
            return kept
        if not linearity.together:
            index, axes = next(iter(candidates.items()))
            kept[index] = axes
            return kept
        together = [operands[index] for index in linearity.operands]
        if not all(each is None or common_mesh((each, declared), self.meshes) for each in together):
            return kept
        used = [
            axis
            for each in together
            if each is not None
            for axis in (*each.replicated_axes, *(axis for axes in each.dim_axes for axis in axes))
        ]
        axes = sort_and_merge(dict.fromkeys(itertools.chain(*candidates.values())), mesh)
        axes = set_difference(axes, used, mesh)
        for index in linearity.operands:
            kept[index] = axes
        return kept

    def _check_unreduced(
        self, operation: ir.Operation, operand: TensorSharding, results: Sequence[TensorSharding]
    ) -> None:
        problem = None
        if not operation.results:
            problem = f"has no results, but an operand with unreduced axes: {operand}"
        elif len({frozenset(sharding.unreduced_axes) for sharding in results}) > 1:
            problem = "has results that differ in their unreduced axes: " + ", ".join(
                map(str, results)
            )
        if problem is not None:
            where = location_of(operation.location)
            raise PassError(error(f"'{operation.name}' op {problem}", where))

    def reshard(
        self, value: ir.Value, sharding: TensorSharding, place: ir.InsertionPoint
    ) -> ir.Value:
        """Build a reshard of a value."""
        return sdy.reshard(value, self.cache[sharding], loc=origin_of(value), ip=place)

    def reshard_partial(
        self, value: ir.Value, sharding: TensorSharding, place: ir.InsertionPoint
    ) -> ir.Value:
        """Build a reshard of a value, completed along the unreduced axes that `sharding` lacks."""
        current = get_sharding(value)
        if current is not None and current.unreduced_axes:
            mesh, kept = self.mesh(current), sharding.unreduced_axes
            value, _ = complete(value, current, kept, mesh, place, self.cache)
        return self.reshard(value, sharding, place)


# --- Collectives of the user ----------------------------------------------------------------------


_MANUAL = "sdy.manual_computation"
_PERMUTE = "stablehlo.collective_permute"
_COLLECTIVES = frozenset({*COLLECTIVES_WITH_GROUPS, _PERMUTE})


def resolve_user_collectives(function: ir.Operation) -> bool:
    """Remove the collectives of a function whose groups have one device.

    Args:
        function: the `func.func`.

    Returns:
        Whether there was one.

    Raises:
        PassError: a collective communicates between several devices, but is not in a manual
            computation. The function is not changed then.
    """
    found = [
        collective
        for collective in operations_named(_COLLECTIVES, function)
        if not has_ancestor(collective, _MANUAL)
    ]
    if not found or _is_called_by_devices(function):
        return False
    for collective in found:
        if not _is_among_single_devices(collective):
            raise PassError(_refusal(collective))
    for collective in found:
        replace_by(collective, *collective.operands)
    return True


def _is_called_by_devices(function: ir.Operation) -> bool:
    """Whether a manual computation calls a function, directly or through others."""
    module = enclosing_module(function)
    if module is None:
        return False
    symbols = ir.SymbolTable(module)
    known: set[str] = set()
    to_visit = operations_named({_MANUAL}, module)
    while to_visit:
        called = set(map(callee_of, operations_named({"func.call"}, to_visit.pop())))
        to_visit += [symbols[name].operation for name in sorted(called - known) if name in symbols]
        known |= called
    return symbol_name(function) in known


def _is_among_single_devices(collective: ir.Operation) -> bool:
    view = CollectiveView(collective)
    if collective.name == _PERMUTE:
        pairs = list(view.source_target_pairs)
        return bool(pairs) and pairs[::2] == pairs[1::2]
    groups = view.replica_groups
    if stablehlo.ReplicaGroupMeshAxesAttr.isinstance(groups):
        return not len(stablehlo.ReplicaGroupMeshAxesAttr(groups).axes)
    return ir.RankedTensorType(groups.type).shape[1] == 1


def _refusal(collective: ir.Operation) -> Diagnostic:
    place = location_of(collective.location)
    fix = (
        "use 'sdy.manual_computation' (in JAX, 'shard_map') over the axes of its groups; its body "
        "is the program of each device"
    )
    return error(
        f"'{collective.name}' op communicates between devices, but this program is global",
        place,
        [note(fix, place)],
    )
