# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compatible shardings with the shortest time of communication and computation."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mlir_sdy.diagnostics import are_remarks_wanted
from mlir_sdy.host import ir
from mlir_sdy.model import (
    AxisTuple,
    Mesh,
    OpShardingRule,
    ReductionOp,
    Shape,
    TensorSharding,
    intersection,
    mesh_of,
    set_difference,
    sort_and_merge,
)
from mlir_sdy.uses import has_one_use
from mlir_sdy.values import get_sharding
from mlir_sdy.verify.operations import bound_manual_axes
from pyshardy.cost.default_hardware import PreferredKind
from pyshardy.cost.hardware import Hardware
from pyshardy.cost.op_work import taking_work
from pyshardy.irtools.constants import use_sdy_constants
from pyshardy.irtools.plain_operations import (
    drop_empty_operands,
    make_synchronous,
    remove_barriers,
)
from pyshardy.irtools.ragged_dots import RAGGED_DOT
from pyshardy.irtools.static_shapes import make_static
from pyshardy.irtools.tensor_types import element_bytes, shape_of
from pyshardy.irtools.walks import operations_named
from pyshardy.partition.choice.cheapest_axes import AxisComparison, FactorTensor
from pyshardy.partition.choice.cheapest_reshape import cheapest_reshape
from pyshardy.partition.choice.even_factors import even_factors, with_even_factors
from pyshardy.partition.choice.resolver import (
    CompatibilityResolver,
    needs_full_version,
    resolve_partially,
)
from pyshardy.partition.choice.uses import UseConverter, resolve_user_collectives
from pyshardy.partition.function_context import FunctionContext
from pyshardy.partition.halo.form_lookup import form_of
from pyshardy.partition.halo.profitability import factors_to_replicate
from pyshardy.partition.op_facts.invariant_computations import LoopInvariants
from pyshardy.partition.op_facts.own_rows import uses_own_rows_only
from pyshardy.partition.op_facts.record import operations_where, record_of, rule_on_shards
from pyshardy.partition.partial.completion import reduced_axes, reduction_kind
from pyshardy.partition.partial.joint_sums import JointSums
from pyshardy.partition.partial.linear_operations import trips_of_accumulation
from pyshardy.partition.partial.planned_partial import apply_planned_partials
from pyshardy.partition.partial.reductions import blocked_factors
from pyshardy.partition.resharding.remarks import remark_on_unsharded_dimensions
from pyshardy.partition.types.compatible_shardings import (
    CompatibleShardings,
    Shardings,
    compatible_by,
    is_plain,
    majority_mesh,
    replicated_shardings,
    shardy_axes,
)
from pyshardy.partition.types.dot_result import DOT_OPERATIONS
from pyshardy.partition.types.exchange_plan import ExchangeForm
from pyshardy.partition.types.factor_axes import FactorAxes
from pyshardy.partition.types.one_mesh import has_several_meshes, shardings_on_one_mesh
from pyshardy.partition.types.planned_axes import has_planned_axes, planned_axes
from pyshardy.partition.types.steps import AxesPerDim
from pyshardy.propagation.elementwise import ELEMENTWISE_OPERATIONS
from pyshardy.propagation.projection import ShardingProjection
from pyshardy.rules.signature import OperationParts

_MANUAL = "sdy.manual_computation"
_WHILE = "stablehlo.while"
_RESHAPE = "stablehlo.reshape"
_ALL_REDUCE = "sdy.all_reduce"
_MERGED = frozenset({"stablehlo.concatenate", "stablehlo.slice"})
"""Operations that exchange elements together, so that none has a time of its own."""
_Uses = tuple[int, ...]
_SUMMING = DOT_OPERATIONS | {RAGGED_DOT, "stablehlo.convolution", "stablehlo.reduce"}


def prepare_for_devices(function: ir.OpView) -> bool:
    """Remove asynchronous operations, dynamic shapes, barriers and operands without elements.

    Where a plan has chosen partial results, these and their completions are made explicit.

    Args:
        function: the `func.func`.

    Returns:
        Whether the function has changed.

    Raises:
        PassError: a collective communicates between devices outside of manual computations, or a
            shape is not static.
    """
    changes = [
        make_synchronous(function),
        resolve_user_collectives(function.operation),
        make_static(function),
        remove_barriers(function),
        drop_empty_operands(function),
        use_sdy_constants(function.operation),
        apply_planned_partials(function.operation),
    ]
    return any(changes)


class CheapestCompatibility(CompatibilityResolver):
    """The resolver for programs that devices run without another partitioner.

    1. The axes of factors are those that a plan has chosen (see `planned_axes`), or those of the
       shortest time on the hardware (see `cheapest_axes` and `cheapest_reshape`), where shards may
       exchange elements.
    2. Operations without a local form are computed replicated.
    3. Tensors of an operation are brought to one mesh.
    4. Results are partial only along axes along which the operation makes them partial.

    Args:
        context: the context of the function.
        function: the `func.func`, after `prepare_for_devices`.
        hardware: the devices and links.
        full: whether all operations get compatible shardings (full-version reshards).
        prefer: the kind of collective that operations take where they can do with it alone.
    """

    def __init__(
        self,
        context: FunctionContext,
        function: ir.Operation,
        hardware: Hardware,
        *,
        full: bool,
        prefer: PreferredKind = "none",
    ):
        super().__init__(context, full=full)
        self._prefer: PreferredKind = prefer
        self._hardware = hardware
        self._local_forms = operations_where(lambda record: record.local_form is not None)
        self._has_manual_computations = bool(operations_named({_MANUAL}, function))
        has_loops = bool(operations_named({_WHILE}, function))
        self._invariants = LoopInvariants(function) if has_loops else None
        self._has_several_meshes = has_several_meshes(context.meshes)
        self._sums = JointSums(_can_be_partial, context.shardings)
        self._cheapest_found: dict[object, CompatibleShardings | None] = {}
        self._reshapes_found: dict[object, CompatibleShardings | None] = {}

    def resolve(self, view: OperationParts, shardings: Shardings) -> CompatibleShardings | None:
        """Return compatible shardings of the tensors of an operation; None to change nothing."""
        resolved = self._memoized(view, shardings)
        if resolved is None:
            return _unchanged_if_unreduced(shardings, len(view.operands))
        return resolved

    def _memoized(self, view: OperationParts, shardings: Shardings) -> CompatibleShardings | None:
        if self._depends_on_place(view.operation) or not self._full:
            return self._resolve(view.operation, shardings)
        alone = self._by_form.of(view, shardings, self._resolve_alone, (), 1, ())
        # A sum can't improve what needs no communication, and looking for one takes time.
        if alone is None or alone.is_kept:
            return alone
        uses, is_added = self._uses_in_loops(view.operation), self._is_added(view.operation)
        if not (uses or is_added):
            return alone
        completed = self._completed_sum(view.operation) if is_added else ()
        return self._by_form.of(view, shardings, self._resolve_alone, completed, 1, uses)

    def _depends_on_place(self, operation: ir.Operation) -> bool:
        """Whether operations of the same form may have other compatible shardings."""
        return (
            self._has_manual_computations
            or self._num_addends(operation) > 1
            or has_planned_axes(operation)
        )

    def _resolve(self, operation: ir.Operation, shardings: Shardings) -> CompatibleShardings | None:
        completed = self._completed_sum(operation) if self._is_added(operation) else ()
        uses = self._uses_in_loops(operation)
        return self._resolve_alone(operation, shardings, completed, uses=uses)

    def _resolve_alone(
        self,
        operation: ir.Operation,
        shardings: Shardings,
        completed: AxisTuple = (),
        addends: float = 1,
        uses: _Uses = (),
    ) -> CompatibleShardings | None:
        rule = self._context.rules.rule(operation)
        if rule is None:
            is_left = not self._full or record_of(operation.name).creates_any_shard
            return None if is_left else replicated_shardings(shardings)
        if self._full and operation.name not in self._local_forms:
            return replicated_shardings(shardings)
        if not (self._full or needs_full_version(operation)):
            return resolve_partially(operation, rule, shardings, self._context.meshes)
        on_shards = rule_on_shards(operation, rule)
        return self._resolve_fully(operation, on_shards, shardings, completed, addends, uses)

    def _resolve_fully(
        self,
        operation: ir.Operation,
        rule: OpShardingRule,
        shardings: Shardings,
        completed: AxisTuple,
        addends: float,
        uses: _Uses,
    ) -> CompatibleShardings | None:
        values = (*operation.operands, *operation.results)
        question = _Question(
            shardings,
            tuple(shape_of(each.type) for each in values),
            tuple(element_bytes(each.type) for each in values),
            self._manual_axes(operation),
            operation.name == _RESHAPE,
            record_of(operation.name).work is taking_work and len(operation.operands) > 1,
            self._num_addends(operation) * addends,
            completed,
            uses,
            self._axes_after_iteration(operation) if uses else None,
        )
        form = form_of(operation, rule)
        rule = rule if form is None else form.rule
        even = even_factors(operation, rule, form)
        if form is None:
            blocked = blocked_factors(operation, rule)
        else:
            resolve = functools.partial(self._cheapest, question, even)
            blocked = factors_to_replicate(form, shardings, self._context.meshes, resolve)
        if has_planned_axes(operation):
            planned = self._planned(operation, rule, blocked, shardings)
            if planned is not None:
                return planned
        if form is None or operation.name in _MERGED:
            compatible = self._cheapest(question, even, rule, blocked)
        else:
            compatible = self._find_cheapest(question, even, rule, blocked, form)
        if not question.is_reshape or compatible is None:
            return compatible
        key = question, rule, blocked
        if key not in self._reshapes_found:
            self._reshapes_found[key] = cheapest_reshape(
                operation, shardings, compatible, self._context.meshes, self._hardware
            )
        return self._reshapes_found[key]

    def _planned(
        self,
        operation: ir.Operation,
        rule: OpShardingRule,
        blocked: frozenset[int],
        shardings: Shardings,
    ) -> CompatibleShardings | None:
        """Return compatible shardings by the axes that a plan has chosen, if it has."""
        mesh_or_ref = majority_mesh(shardings, self._context.meshes)
        mesh = self._context.meshes.get(mesh_or_ref) if isinstance(mesh_or_ref, str) else None
        axes = None if mesh is None else planned_axes(operation, rule, blocked, mesh)
        if axes is None:
            return None

        def choose(_: ShardingProjection, __: Mesh) -> FactorAxes:
            return axes

        return compatible_by(rule, shardings, self._context.meshes, choose)

    def _cheapest(
        self,
        question: _Question,
        even: frozenset[int],
        rule: OpShardingRule,
        blocked: frozenset[int],
    ) -> CompatibleShardings | None:
        """Return the cheapest compatible shardings without axes for blocked factors, found once."""
        key = question, even, rule, blocked
        if key not in self._cheapest_found:
            self._cheapest_found[key] = self._find_cheapest(*key)
        return self._cheapest_found[key]

    def _find_cheapest(
        self,
        question: _Question,
        even: frozenset[int],
        rule: OpShardingRule,
        blocked: frozenset[int],
        form: ExchangeForm | None = None,
    ) -> CompatibleShardings | None:
        def choose(projection: ShardingProjection, mesh: Mesh) -> FactorAxes:
            axes = shardy_axes(
                rule, projection, question.shapes, blocked, mesh, is_reshape=question.is_reshape
            )
            axes = with_even_factors(axes, even, rule, mesh)
            if not question.has_costs(mesh, self._context.meshes):
                return axes
            return AxisComparison(
                rule,
                projection,
                question.tensors(),
                blocked,
                axes,
                mesh,
                self._hardware,
                even,
                question.manual_axes | question.replicated_axes(),
                question.addends,
                question.completed,
                question.uses,
                form,
            ).cheapest(self._prefer)

        return compatible_by(rule, question.shardings, self._context.meshes, choose)

    def _num_addends(self, operation: ir.Operation) -> float:
        """Return the number of results that share a completion.

        These are the results that a loop accumulates, if they can stay partial. Results of which
        devices use their own rows only need no completion, as if there were no end of them.
        """
        if operation.name == RAGGED_DOT and uses_own_rows_only(operation, self._context.rules):
            return math.inf
        if self._invariants is None or operation.name not in _SUMMING:
            return 1
        return trips_of_accumulation(operation.results[0])

    def _uses_in_loops(self, operation: ir.Operation) -> _Uses:
        """Return for each operand how often loops use it unchanged; empty if none is."""
        if self._invariants is None:
            return ()
        uses = tuple([self._invariants.uses(each, operation) for each in operation.operands])
        return uses if any(each > 1 for each in uses) else ()

    def _axes_after_iteration(self, operation: ir.Operation) -> AxesPerDim | None:
        """Return the axes in which a loop carries on the result of an operation.

        1. The only use of the result is, through elementwise operations, the value that the body of
           the loop returns at some position.
        2. That value has the axes of the result in each dimension, and then more: partial results
           are reduced and scattered, or results sliced, before the elementwise operations.
        """
        value = operation.results[0]
        own = self._context.shardings[value]
        while own is not None and has_one_use(value):
            (use,) = value.uses
            user = use.owner.operation
            if user.name == "stablehlo.return" and user.parent is not None:
                loop = user.parent.operation
                if loop.name != _WHILE or user.block != loop.regions[1].blocks[0]:
                    return None
                carried = self._context.shardings[loop.results[use.operand_number]]
                if carried is None or carried.mesh_or_ref != own.mesh_or_ref:
                    return None
                pairs = zip(own.dim_axes, carried.dim_axes, strict=True)
                is_finer = all(after[: len(axes)] == axes for axes, after in pairs)
                return tuple(carried.dim_axes) if is_finer else None
            if user.name not in ELEMENTWISE_OPERATIONS or user.results[0].type != value.type:
                return None
            value = user.results[0]
        return None

    def _is_added(self, operation: ir.Operation) -> bool:
        """Whether a result may stay partial, and is added to others."""
        return operation.name in _SUMMING and self._sums.is_added(operation.results[0])

    def _completed_sum(self, operation: ir.Operation) -> AxisTuple:
        """Return axes along which the sum that a result is added to is completed in any case.

        1. An all-reduce completes one of the other addends already.
        2. One of the other addends is partial along them in its cheapest shardings.
        3. All addends, with this result, are partial along them in their cheapest shardings if each
           of them has an equal part of the cost of one completion.

        There are none if not all addends can stay partial.
        """
        others: list[ir.Operation] = []
        for other in self._sums.added_to(operation.results[0]):
            if other.name == _ALL_REDUCE:
                return reduced_axes(other, self._context.meshes)
            others.append(other)
        for other in others:
            if axes := self._reduced_alone(other):
                return axes
        addends = len(others) + 1
        axes = self._reduced_alone(operation, addends) if others else ()
        are_equal = axes and all(self._reduced_alone(each, addends) == axes for each in others)
        return axes if are_equal else ()

    def _reduced_alone(self, operation: ir.Operation, addends: int = 1) -> AxisTuple:
        """Return the axes along which an operation contracts in its cheapest shardings.

        Args:
            operation: the operation, whose result may be added to others.
            addends: the number of results that share the cost of a completion.
        """
        memo = self._sums.memo_of(operation)
        if addends not in memo:
            known = self._context.shardings
            view = OperationParts.of(operation, operation.name)
            shardings = tuple([known[value] for value in view.values])
            if self._depends_on_place(operation):
                compatible = self._resolve_alone(operation, shardings, addends=addends)
            else:
                compatible = self._by_form.of(view, shardings, self._resolve_alone, (), addends, ())
            memo[addends] = () if compatible is None else compatible.reduced_axes
        return memo[addends]

    def _manual_axes(self, operation: ir.Operation) -> frozenset[str]:
        """Return the axes of the enclosing manual computations of an operation."""
        if not self._has_manual_computations:
            return frozenset()
        return frozenset(bound_manual_axes(operation))

    def forget(self, operands: Sequence[ir.Value], results: Sequence[ir.Value]) -> None:
        """Read the sums of an operation again that is about to change."""
        self._sums.forget(operands, results)

    def shardings_on_one_mesh(
        self, shardings: Shardings, num_operands: int
    ) -> Mapping[int, TensorSharding]:
        """Return new shardings for tensors on other meshes than most, by their positions."""
        if not self._has_several_meshes:
            return {}
        return shardings_on_one_mesh(shardings, num_operands, self._context.meshes)

    def complete_operands(self, operation: ir.Operation, uses: UseConverter) -> None:
        """Complete operands, except along axes along which they make the results partial."""
        uses.complete_for_results(operation)

    def complete_results(
        self, operation: ir.Operation, results: Shardings, compatible: CompatibleShardings
    ) -> Mapping[int, TensorSharding]:
        """Return the shardings of results without unreduced axes along which they are complete.

        A result is partial along an axis only if the operation contracts along it, or has an
        operand that is partial along it.
        """
        reference = compatible.mesh_or_ref
        mesh = self._context.meshes[reference] if isinstance(reference, str) else reference
        partial = compatible.contracted_axes
        for operand in operation.operands:
            sharding = get_sharding(operand)
            if sharding is not None:
                partial += set_difference(sharding.unreduced_axes, partial, mesh)
        new: dict[int, TensorSharding] = {}
        for index, sharding in enumerate(results):
            if sharding is not None and sharding.unreduced_axes:
                kept = intersection(sharding.unreduced_axes, partial)
                if kept != sharding.unreduced_axes:
                    new[index] = sharding.with_unreduced_axes(sort_and_merge(kept, mesh))
        return new

    def complete_changed_operands(self, operation: ir.Operation, uses: UseConverter) -> None:
        """Complete operands along unreduced axes that the results have lost."""
        uses.complete_operands(operation)

    def reduced_axes(self, compatible: CompatibleShardings, result: TensorSharding) -> AxisTuple:
        """Return the contracted axes along which a result, as it is computed, isn't unreduced."""
        mesh = self._context.mesh(result)
        return set_difference(compatible.contracted_axes, result.unreduced_axes, mesh)

    def remark(
        self, operation: ir.Operation, shardings: Shardings, compatible: CompatibleShardings
    ) -> None:
        """Report the tensors that are gathered for an operation, if remarks are wanted."""
        if not are_remarks_wanted():
            return
        is_known = operation.name in self._local_forms
        rule = self._context.rules.rule(operation) if is_known else None
        rule = None if rule is None else rule_on_shards(operation, rule)
        meshes = self._context.meshes
        remark_on_unsharded_dimensions(operation, rule, shardings, compatible, meshes)


def _can_be_partial(operation: ir.Operation) -> bool:
    """Whether partial results of an operation add up to the results, or are completed by it."""
    if operation.name == _ALL_REDUCE:
        return reduction_kind(operation) is ReductionOp.SUM
    return operation.name in _SUMMING


@dataclass(frozen=True, slots=True)
class _Question:
    """The properties of an operation that determine its cheapest shardings, beside its rule.

    Attributes:
        shardings: those of its operands, then results.
        shapes: their global shapes.
        nbytes: the bytes of an element of each.
        manual_axes: the axes of the enclosing manual computations.
        is_reshape: whether it is a `stablehlo.reshape`.
        is_taking: whether it returns elements of its first operand at indices, and reads no others.
        addends: the number of its results that share the cost of a completion, such as those that
            a loop accumulates (see `trips_of_accumulation`).
        completed: axes along which the sum that the result is added to is completed in any case.
        uses: for each operand how often loops use it unchanged; empty if none is (see
            `LoopInvariants`).
        wanted: the axes of the value that a loop carries on, if it is the only result; None if they
            aren't those of the result and more.
    """

    shardings: Shardings
    shapes: tuple[Shape, ...]
    nbytes: tuple[int, ...]
    manual_axes: frozenset[str]
    is_reshape: bool
    is_taking: bool
    addends: float
    completed: AxisTuple
    uses: _Uses
    wanted: AxesPerDim | None

    def has_costs(self, mesh: Mesh, meshes: Mapping[str, Mesh]) -> bool:
        """Whether all tensors have sizes and one order of devices, and none is unreduced."""
        return all(size > 0 for shape in self.shapes for size in shape) and all(
            is_plain(each) or (mesh_of(each, meshes) == mesh and not each.unreduced_axes)
            for each in self.shardings
            if each is not None
        )

    def tensors(self) -> list[FactorTensor]:
        """Return the tensors with their current axes."""
        found: list[FactorTensor] = []
        for index, shape in enumerate(self.shapes):
            sharding = self.shardings[index]
            axes = tuple(sharding.dim_axes) if sharding else ((),) * len(shape)
            if self.wanted is not None and index == len(self.shapes) - 1:
                axes = self.wanted
            is_accessed = index > 0 or not self.is_taking
            found.append(FactorTensor(shape, self.nbytes[index], axes, is_accessed))
        return found

    def replicated_axes(self) -> frozenset[str]:
        """Return the names of the axes along which some tensor is explicitly replicated."""
        given = (each for each in self.shardings if each is not None)
        return frozenset(axis.name for each in given for axis in each.replicated_axes)


def _unchanged_if_unreduced(shardings: Shardings, num_operands: int) -> CompatibleShardings | None:
    """Keep all shardings, except the axes along which a result can't be unreduced."""
    for result in shardings[num_operands:]:
        if result is not None and result.unreduced_axes:
            return CompatibleShardings((None,) * len(shardings), (), result.mesh_or_ref)
    return None
