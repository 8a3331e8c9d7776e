# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-insert-explicit-reshards`: all tensors of an operation agree on their axes.

After it, each factor of an operation's rule is sharded alike in all operands and results, factors
that need replication are whole, and partial results are completed by an `sdy.all_reduce`. With %a
sharded by `[{}, {"y"}]` and %b not at all,

    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]    // sharded by [{"x"}, {}]

becomes

    %0 = sdy.reshard %a <@mesh, [{"x"}, {"y"}]>
    %1 = sdy.reshard %b <@mesh, [{"y"}, {}]>
    %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0]    // sharded by [{"x"}, {}]
    %3 = sdy.all_reduce {"y"} %2 out_sharding=<@mesh, [{"x"}, {}]>

An operation without a rule, or without a local form, is computed on whole tensors, so that the
program stays right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mlir_sdy import sdy
from mlir_sdy.attributes import AttributeCache
from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import (
    AxisRefList,
    AxisTuple,
    Mesh,
    OpShardingRule,
    ReductionOp,
    TensorSharding,
    are_equivalent_if_given,
    common_mesh,
    mesh_of,
    set_difference,
    sort_and_merge,
)
from mlir_sdy.symbols import enclosing_module, meshes_of
from mlir_sdy.values import (
    behind_barriers,
    get_sharding,
    rank_of,
    result_shardings_of,
    set_result_shardings_of,
)
from pyshardy.partition.data_flow import (
    FLOW_OPERATIONS,
    Source,
    sources_of,
    sources_of_call,
    sources_of_function,
)
from pyshardy.partition.dot_result import DOT_OPERATIONS, better_result_axes
from pyshardy.partition.factor_axes import Shape, choose_factor_axes
from pyshardy.partition.local import CONVERSIONS
from pyshardy.partition.reductions import completing_reduction
from pyshardy.propagation.projection import ShardingProjection
from pyshardy.rules import ShardingRuleLookup

Shardings = tuple[TensorSharding | None, ...]

_TERMINATORS = frozenset({"func.return", "sdy.return", "stablehlo.return"})
_MAKES_ANY_SHARDING = frozenset({"sdy.constant", "stablehlo.constant", "stablehlo.iota"})


def insert_explicit_reshards(function: ir.OpView, *, enable_full_version: bool = False) -> None:
    """Insert the reshards and all-reduces that a function needs to run on shards.

    Args:
        function: the `func.func`.
        enable_full_version: do so for all operations. Otherwise only operands of calls are
            resharded, and some results of matrix products (see `dot_result`); the rest is left to
            whoever partitions the program.

    Raises:
        PassError: a reshard introduces unreduced axes.
    """
    _FunctionResharder(function.operation, enable_full_version).run()


@dataclass(frozen=True, slots=True)
class _Agreement:
    """How the tensors of an operation have to be sharded.

    Attributes:
        shardings: the new sharding of each operand, then result; None where nothing changes.
        reduced_axes: the axes along which partial results have to be reduced.
        mesh_or_ref: the mesh of all of them.
    """

    shardings: Shardings
    reduced_axes: AxisTuple
    mesh_or_ref: str | Mesh


class _FunctionResharder:
    """One run over a function."""

    def __init__(self, function: ir.Operation, full: bool):
        self.function = function
        self.full = full
        module = enclosing_module(function)
        self.module = module
        self.meshes: Mapping[str, Mesh] = {} if module is None else meshes_of(module)
        self.symbols = None if module is None else ir.SymbolTable(module)
        self.rules = ShardingRuleLookup(quiet=True)  # propagation has told already
        self.cache = AttributeCache(function.context)
        self._agreements: dict[object, _Agreement | None] = {}

    def run(self) -> None:
        operations: list[ir.Operation] = []

        def collect(operation: ir.Operation) -> ir.WalkResult:
            operations.append(operation)
            return ir.WalkResult.ADVANCE

        self.function.walk(collect, ir.WalkOrder.POST_ORDER)
        for operation in operations[:-1]:
            self._visit(operation)
        if self.full:
            for source in sources_of_function(self.function):
                self._convert(source, before_use=True)

    def _visit(self, operation: ir.Operation) -> None:
        name = operation.name
        if name in _TERMINATORS:
            return
        if name == "func.call" and self.symbols is not None:
            callee = self.symbols[operation.attributes["callee"].value].operation
            self._convert_all(sources_of_call(operation, callee, self.meshes))
        elif self.full and name in FLOW_OPERATIONS:
            self._convert_all(sources_of(operation))
        elif name == "sdy.reshard":
            self._check_unreduced(operation)
        elif self.full and not name.startswith("sdy."):
            self._reshard_tensors(operation)
        elif name in DOT_OPERATIONS:
            self._reshard_dot_result(operation)

    # --- Uses that must have a given sharding -----------------------------------------------

    def _convert_all(self, sources: Iterable[Source]) -> None:
        for source in sources:
            self._convert(source)

    def _convert(self, source: Source, *, before_use: bool = False) -> None:
        """Give an operand the sharding of the place where its value flows."""
        value = source.operation.operands[source.index]
        current = get_sharding(behind_barriers(value))
        wanted = source.sharding
        if are_equivalent_if_given(current, wanted):
            return
        if wanted is None:
            assert current is not None, "two absent shardings are equivalent"
            wanted = TensorSharding.fully_closed(rank_of(value.type), current.mesh_or_ref)
        place = ir.InsertionPoint(source.operation) if before_use else _insertion_point_after(value)
        source.operation.operands[source.index] = self._reshard(value, wanted, place)

    def _reshard(
        self, value: ir.Value, sharding: TensorSharding, place: ir.InsertionPoint
    ) -> ir.Value:
        location = _location_of(value)
        return sdy.reshard(value, self.cache[sharding], loc=location, ip=place)

    # --- Operations whose tensors must agree ------------------------------------------------

    def _reshard_tensors(self, operation: ir.Operation) -> None:
        operands = [get_sharding(behind_barriers(operand)) for operand in operation.operands]
        results = list(result_shardings_of(operation)) or [None] * len(operation.results)
        shardings: Shardings = (*operands, *results)
        if all(sharding is None or _is_plain(sharding) for sharding in shardings):
            return
        agreement = self._agreement(operation, shardings)
        if agreement is None:
            return
        count = len(operands)
        place = ir.InsertionPoint(operation)
        for index, sharding in enumerate(agreement.shardings[:count]):
            if sharding is not None:
                value = operation.operands[index]
                operation.operands[index] = self._reshard(value, sharding, place)
        self._set_results(operation, results, agreement)

    def _agreement(self, operation: ir.Operation, shardings: Shardings) -> _Agreement | None:
        rule = self.rules.rule(operation)
        if rule is None and operation.name in _MAKES_ANY_SHARDING:
            return None
        if rule is None or operation.name not in CONVERSIONS:
            return _replicated(shardings)
        if rule.is_custom_rule:
            return None
        kind = completing_reduction(operation) if rule.reduction_factors else None
        shapes = tuple(_shape(value.type) for value in (*operation.operands, *operation.results))
        key = (rule, shardings, shapes, kind)
        if key not in self._agreements:
            self._agreements[key] = self._agree(rule, shardings, shapes, kind)
        return self._agreements[key]

    def _agree(
        self,
        rule: OpShardingRule,
        shardings: Shardings,
        shapes: tuple[Shape, ...],
        kind: ReductionOp | None,
    ) -> _Agreement | None:
        mesh_or_ref = _majority_mesh(shardings, self.meshes)
        if mesh_or_ref is None:
            return None
        mesh = self.meshes[mesh_or_ref] if isinstance(mesh_or_ref, str) else mesh_or_ref
        if mesh.is_maximal:
            return None
        projection = ShardingProjection.of(rule, shardings, mesh, closed_if_missing=True)
        axes = list(choose_factor_axes(rule, projection, shapes, mesh))
        if kind is None:
            for factor in rule.reduction_factors:
                axes[factor] = ()
        new: list[TensorSharding | None] = []
        for index, tensor in enumerate(projection.tensors):
            changes = [tensor.update(factor, axes[factor]) for factor in tuple(tensor.factors)]
            old = shardings[index]
            reordered = (
                old is not None
                and not old.is_fully_replicated
                and mesh_of(old, self.meshes) != mesh
            )
            changed = any(changes) or reordered
            new.append(projection.sharding(rule, index, mesh_or_ref, mesh) if changed else None)
        reduced = sort_and_merge(
            (axis for factor in rule.reduction_factors for axis in axes[factor]), mesh
        )
        result = next(iter(shardings[len(rule.operand_mappings) :]), None)
        if result is not None:
            reduced = set_difference(reduced, result.unreduced_axes, mesh)
        return _Agreement(tuple(new), tuple(reduced), mesh_or_ref)

    def _reshard_dot_result(self, operation: ir.Operation) -> None:
        """Compute a matrix product in another sharding where that is better (`dot_result`)."""
        rule = self.rules.rule(operation)
        operands = [get_sharding(behind_barriers(operand)) for operand in operation.operands]
        results = result_shardings_of(operation)
        if rule is None or rule.is_custom_rule or not results:
            return
        shardings: Shardings = (*operands, results[0])
        mesh_or_ref = _majority_mesh(shardings, self.meshes)
        if mesh_or_ref is None:
            return
        mesh = self.meshes[mesh_or_ref] if isinstance(mesh_or_ref, str) else mesh_or_ref
        projection = ShardingProjection.of(rule, shardings, mesh, closed_if_missing=True)
        shapes = [_shape(value.type) for value in (*operation.operands, *operation.results)]
        better = better_result_axes(rule, projection, shapes)
        if better is None:
            return
        projection.tensors[-1].update(*better)
        sharding = projection.sharding(rule, len(shardings) - 1, mesh_or_ref, mesh)
        nowhere: Shardings = (None,) * len(operands)
        agreement = _Agreement((*nowhere, sharding), (), mesh_or_ref)
        self._set_results(operation, list(results), agreement)

    def _set_results(
        self,
        operation: ir.Operation,
        old_shardings: Sequence[TensorSharding | None],
        agreement: _Agreement,
    ) -> None:
        new_shardings = agreement.shardings[len(agreement.shardings) - len(old_shardings) :]
        changed = {
            index: sharding for index, sharding in enumerate(new_shardings) if sharding is not None
        }
        if changed:
            set_result_shardings_of(operation, changed, self.cache)
        for index, old in enumerate(old_shardings):
            value: ir.Value = operation.results[index]
            closed = TensorSharding.fully_closed(rank_of(value.type), agreement.mesh_or_ref)
            if agreement.reduced_axes:
                sharding = changed.get(index) or old or closed
                value = self._all_reduce(operation, value, sharding, agreement.reduced_axes)
            if index in changed:
                place = _insertion_point_after(value)
                _hand_over(value, self._reshard(value, old or closed, place))

    def _all_reduce(
        self, operation: ir.Operation, value: ir.Value, sharding: TensorSharding, axes: AxisTuple
    ) -> ir.Value:
        kind = completing_reduction(operation)
        reduced = sdy.all_reduce(
            value,
            self.cache[AxisRefList(axes)],
            self.cache[sharding],
            reduction_op=None if kind is ReductionOp.SUM else kind,
            loc=operation.location,
            ip=_insertion_point_after(value),
        )
        _hand_over(value, reduced)
        return reduced

    def _check_unreduced(self, reshard: ir.Operation) -> None:
        source = get_sharding(behind_barriers(reshard.operands[0]))
        target = get_sharding(reshard.results[0])
        before = () if source is None else source.unreduced_axes
        after = () if target is None else target.unreduced_axes
        if set(before) != set(after):
            raise PassError(
                error(
                    "'sdy.reshard' op changes the unreduced axes, which is not supported: "
                    "remove 'unreduced' from the sharding",
                    location_of(reshard.location),
                )
            )


def _is_plain(sharding: TensorSharding) -> bool:
    return sharding.is_fully_replicated and not sharding.unreduced_axes


def _replicated(shardings: Shardings) -> _Agreement | None:
    """Agreement on whole tensors, for an operation that can't be computed on shards."""
    mesh_or_ref = next(s.mesh_or_ref for s in shardings if s is not None and not _is_plain(s))
    return _Agreement(
        tuple(
            None
            if sharding is None or sharding.is_fully_replicated
            else TensorSharding.fully_closed(sharding.rank, sharding.mesh_or_ref)
            for sharding in shardings
        ),
        (),
        mesh_or_ref,
    )


def _majority_mesh(shardings: Shardings, meshes: Mapping[str, Mesh]) -> str | Mesh | None:
    """The mesh that most sharded tensors of an operation name: the first to reach that count.

    None without a common mesh, up to the order of devices. Replicated tensors go with any mesh.
    """
    sharded = [s for s in shardings if s is not None and not s.is_fully_replicated]
    candidates = sharded or [s for s in shardings if s is not None]
    if common_mesh(candidates, meshes, ignore_device_ids=True) is None:
        return None
    counts: Counter[str | Mesh] = Counter()
    majority, highest = None, 0
    for sharding in candidates:
        counts[sharding.mesh_or_ref] += 1
        if counts[sharding.mesh_or_ref] > highest:
            majority, highest = sharding.mesh_or_ref, counts[sharding.mesh_or_ref]
    return majority


def _shape(value_type: ir.Type) -> Shape:
    if not isinstance(value_type, ir.RankedTensorType):
        return ()
    return tuple(value_type.shape)


def _hand_over(value: ir.Value, new: ir.Value) -> None:
    """Let `new`, which is made from `value`, take over all other uses of it."""
    value.replace_all_uses_except(new, new.owner.operation)


def _location_of(value: ir.Value) -> ir.Location:
    if isinstance(value, ir.BlockArgument):
        return value.location
    return value.owner.operation.location


def _insertion_point_after(value: ir.Value) -> ir.InsertionPoint:
    if isinstance(value, ir.BlockArgument):
        return ir.InsertionPoint.at_block_begin(value.owner)
    return ir.InsertionPoint.after(value.owner.operation)
