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

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from mlir_sdy import sdy
from mlir_sdy.attributes import AttributeCache, value_of
from mlir_sdy.diagnostics import PassError, are_remarks_wanted, error
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
)
from mlir_sdy.ods.tables import OPERATIONS
from mlir_sdy.symbols import enclosing_module, meshes_of
from mlir_sdy.values import (
    SHARDING,
    argument_shardings,
    behind_barriers,
    get_sharding,
    rank_of,
    result_shardings,
    result_shardings_of,
    set_result_shardings_of,
)
from mlir_sdy.verify.operations import bound_manual_axes
from pyshardy.partition.agreement import (
    Agreement,
    Shardings,
    full_agreement,
    is_plain,
    partial_agreement,
    replicated_agreement,
    shape_of,
)
from pyshardy.partition.blocked_factors import blocked_factors, uncompletable_factors
from pyshardy.partition.completion import drop_completing_collectives
from pyshardy.partition.data_flow import (
    FLOW_OPERATIONS,
    Source,
    sources_of,
    sources_of_call,
    sources_of_function,
)
from pyshardy.partition.dot_result import DOT_OPERATIONS
from pyshardy.partition.factor_axes import Shape
from pyshardy.partition.reductions import completion_of
from pyshardy.partition.remarks import remark_on_whole_dimensions
from pyshardy.partition.rules_on_shards import rule_on_shards
from pyshardy.partition.single_device import (
    check_interface,
    is_on_single_device,
    run_on_single_device,
    take_operands_back,
)
from pyshardy.partition.sizes import element_bytes
from pyshardy.partition.static_forms import make_static
from pyshardy.partition.unreduced import complete, introduce, origin_of
from pyshardy.passes.constants import use_sdy_constants
from pyshardy.passes.walks import operations_named
from pyshardy.rules import ShardingRuleLookup

if TYPE_CHECKING:
    from pyshardy.partition.halo.agreement import FindExchange

_TERMINATORS = frozenset({"func.return", "sdy.return", "stablehlo.return"})
_MAKES_ANY_SHARDING = frozenset({"sdy.constant", "stablehlo.constant", "stablehlo.iota"})
_EDGES = {
    "sdy.data_flow_edge": "sdy-sink-data-flow-edges",
    "sdy.func_data_flow_edge": "sdy-sink-func-data-flow-edges",
}
_CALL = "func.call"
_CONCATENATE = "stablehlo.concatenate"
_RAGGED_DOT = "mhlo.ragged_dot"
_RESHAPE = "stablehlo.reshape"
_RESHARD = "sdy.reshard"

# Without unreduced axes and single devices the partial version looks at these only.
_PARTIAL_OPERATIONS = DOT_OPERATIONS | {_CALL, _CONCATENATE, _RAGGED_DOT}


def insert_explicit_reshards(
    function: ir.OpView,
    *,
    enable_full_version: bool = False,
    replicate_without_local_form: bool = False,
) -> None:
    """Insert the reshards and all-reduces that a function needs to run on shards.

    Args:
        function: the `func.func`.
        enable_full_version: do so for all operations. Otherwise only for those that whoever
            partitions the program would treat badly: operands of calls, concatenations of
            differently sharded operands, some results of matrix products (see `dot_result`), and
            all that has to do with unreduced axes and single devices.
        replicate_without_local_form: compute operations on whole tensors that
            `sdy-convert-global-to-local` has no local form of, in the full version.

    Raises:
        PassError: unreduced axes are where they can't be, or values on a single device.
    """
    resharder = _FunctionResharder(function.operation, enable_full_version)
    if replicate_without_local_form:
        # The forms are found where they are implemented, by modules that import much.
        from pyshardy.partition.halo import find_exchange  # noqa: PLC0415
        from pyshardy.partition.local import CONVERSIONS  # noqa: PLC0415

        make_static(function)
        resharder.local_forms = CONVERSIONS.keys()
        resharder.find_exchange = find_exchange
    resharder.run()


class _FunctionResharder:
    """One run over a function."""

    def __init__(self, function: ir.Operation, full: bool):
        self.function = function
        self.full = full
        module = enclosing_module(function)
        self.meshes: Mapping[str, Mesh] = {} if module is None else meshes_of(module)
        self.symbols = None if module is None else ir.SymbolTable(module)
        self.rules = ShardingRuleLookup(quiet=True)  # propagation has told already
        self.cache = AttributeCache(function.context)
        self.local_forms: Collection[str] | None = None
        self.find_exchange: FindExchange | None = None
        self.has_special_shardings = True
        self.has_manual_computations = True
        self._agreements: dict[object, Agreement | None] = {}
        self._agreements_by_types: dict[object, Agreement | None] = {}

    def run(self) -> None:
        check_interface(self.function, self.meshes)
        self._check_edges()
        self.has_special_shardings = _has_special_shardings(self.function, self.meshes)
        if self.local_forms is not None:
            use_sdy_constants(self.function)
        if self.full:
            drop_completing_collectives(self.function, self.meshes)
            manual = operations_named({"sdy.manual_computation"}, self.function)
            self.has_manual_computations = bool(manual)
        if self.full or self.has_special_shardings:
            operations: list[ir.Operation] = []

            def collect(operation: ir.Operation) -> ir.WalkResult:
                operations.append(operation)
                return ir.WalkResult.ADVANCE

            self.function.walk(collect, ir.WalkOrder.POST_ORDER)
            operations.pop()
        else:
            operations = operations_named(
                _PARTIAL_OPERATIONS, self.function, ir.WalkOrder.POST_ORDER
            )
        for operation in operations:
            self._visit(operation)
        if self.full or self.has_special_shardings:
            for source in sources_of_function(self.function):
                self._convert(source, self.full, before_use=True)

    def _check_edges(self) -> None:
        """Check that operations through which values flow hold the shardings of these values."""
        for edge in operations_named(_EDGES, self.function):
            message = f"'{edge.name}' op is left: run '{_EDGES[edge.name]}' first"
            raise PassError(error(message, location_of(edge.location)))

    def _visit(self, operation: ir.Operation) -> None:
        name = operation.name
        if name in _TERMINATORS:
            return
        if name in FLOW_OPERATIONS:
            for source in sources_of(operation):
                self._convert(source, self.full)
        elif name == _CALL:
            self._convert_operands_of_call(operation)
        elif name == _RESHARD:
            self._expand_reshard(operation)
        elif name not in OPERATIONS:
            if self.has_special_shardings:
                self._complete_operands(operation)
                if run_on_single_device(operation, self.meshes, self.cache):
                    return
                take_operands_back(operation, self.meshes, self.cache)
            self._make_agree(operation)

    # --- Uses that must have a given sharding -----------------------------------------------

    def _convert_operands_of_call(self, call: ir.Operation) -> None:
        if self.symbols is not None:
            callee = self.symbols[call.attributes["callee"].value].operation
            for source in sources_of_call(call, callee, self.meshes):
                self._convert(source, True)

    def _convert(self, source: Source, full: bool, *, before_use: bool = False) -> None:
        """Give an operand the sharding of the place where its value flows.

        1. It is completed along unreduced axes that this sharding lacks.
        2. It is made unreduced along those that only this sharding has.
        3. In the full version, it is resharded where the two still differ.
        """
        value: ir.Value = source.operation.operands[source.index]
        # On devices a barrier is nothing; Shardy looks behind it only for what has to agree.
        is_for_devices = self.local_forms is not None
        current = get_sharding(behind_barriers(value) if is_for_devices else value)
        wanted = source.sharding
        if are_equivalent_if_given(current, wanted):
            return
        place = ir.InsertionPoint(source.operation) if before_use else _insertion_point_after(value)
        if current is not None:
            kept = () if wanted is None else wanted.unreduced_axes
            mesh = self._mesh(current)
            value, current = complete(value, current, kept, mesh, place, self.cache)
        if wanted is not None and wanted.unreduced_axes:
            value, current = self._introduce(value, current, wanted, place)
        if full and not are_equivalent_if_given(current, wanted):
            if wanted is None:
                assert current is not None, "two absent shardings are equivalent"
                wanted = TensorSharding.fully_closed(rank_of(value.type), current.mesh_or_ref)
            value = self._reshard(value, wanted, place)
        if value != source.operation.operands[source.index]:
            source.operation.operands[source.index] = value

    def _introduce(
        self,
        value: ir.Value,
        current: TensorSharding | None,
        wanted: TensorSharding,
        place: ir.InsertionPoint,
    ) -> tuple[ir.Value, TensorSharding]:
        mesh = self._mesh(wanted)
        if current is None:
            current = TensorSharding.fully_closed(rank_of(value.type), wanted.mesh_or_ref)
        elif mesh_of(current, self.meshes) != mesh:
            message = f"unreduced axes can't be added while the mesh changes: {current} to {wanted}"
            raise PassError(error(message, location_of(origin_of(value))))
        return introduce(value, current, wanted, mesh, place, self.cache)

    def _expand_reshard(self, reshard: ir.Operation) -> None:
        """Say how a reshard changes unreduced axes: collectives do that, reshards don't."""
        self._complete_operands(reshard)
        value: ir.Value = reshard.operands[0]
        wanted = get_sharding(reshard.results[0])
        if wanted is None or not wanted.unreduced_axes:
            return
        current = get_sharding(value)
        last, _ = self._introduce(value, current, wanted, ir.InsertionPoint(reshard))
        if last != value:
            reshard.results[0].replace_all_uses_with(last)
            reshard.erase()

    def _complete_operands(self, operation: ir.Operation) -> None:
        """Complete each operand along the unreduced axes that the results don't have."""
        results = result_shardings_of(operation)
        kept = results[0].unreduced_axes if results else ()
        for index, value in enumerate(operation.operands):
            current = get_sharding(behind_barriers(value))
            if current is None or not current.unreduced_axes:
                continue
            self._check_unreduced(operation, current, results)
            place = ir.InsertionPoint(operation)
            mesh = self._mesh(current)
            completed, _ = complete(value, current, kept, mesh, place, self.cache)
            if completed != value:
                operation.operands[index] = completed

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
        elif results and common_mesh((operand, results[0]), self.meshes) is None:
            problem = f"has an unreduced operand and a result on different meshes: {operand}, " + (
                str(results[0])
            )
        if problem is not None:
            where = location_of(operation.location)
            raise PassError(error(f"'{operation.name}' op {problem}", where))

    def _reshard(
        self, value: ir.Value, sharding: TensorSharding, place: ir.InsertionPoint
    ) -> ir.Value:
        return sdy.reshard(value, self.cache[sharding], loc=origin_of(value), ip=place)

    def _mesh(self, sharding: TensorSharding) -> Mesh:
        return mesh_of(sharding, self.meshes) or Mesh()

    # --- Operations whose tensors must agree ------------------------------------------------

    def _make_agree(self, operation: ir.Operation) -> None:
        operands = [get_sharding(behind_barriers(operand)) for operand in operation.operands]
        results = list(result_shardings_of(operation)) or [None] * len(operation.results)
        shardings: Shardings = (*operands, *results)
        if all(map(is_plain, shardings)):
            return
        agreement = self._agreement(operation, shardings)
        if agreement is None or (agreement.is_kept and not self.has_special_shardings):
            return
        if self.local_forms is not None and are_remarks_wanted():
            rule = self.rules.rule(operation) if operation.name in self.local_forms else None
            rule = None if rule is None else rule_on_shards(operation, rule)
            remark_on_whole_dimensions(operation, rule, shardings, agreement, self.meshes)
        count = len(operands)
        place = ir.InsertionPoint(operation)
        for index, sharding in enumerate(agreement.shardings[:count]):
            if sharding is not None:
                value = operation.operands[index]
                operation.operands[index] = self._reshard(value, sharding, place)
        self._set_results(operation, results, agreement)

    def _agreement(self, operation: ir.Operation, shardings: Shardings) -> Agreement | None:
        """How the tensors of an operation have to agree; found out once for all that are alike."""
        if self.has_manual_computations or not self.rules.goes_by_types(operation):
            return self._find_agreement(operation, shardings)
        values = (*operation.operands, *operation.results)
        key = (operation.name, tuple(hash(value.type) for value in values), shardings)
        if key not in self._agreements_by_types:
            self._agreements_by_types[key] = self._find_agreement(operation, shardings)
        return self._agreements_by_types[key]

    def _find_agreement(self, operation: ir.Operation, shardings: Shardings) -> Agreement | None:
        rule = self.rules.rule(operation)
        full = self.full or _needs_full_version(operation)
        if rule is None:
            if not self.full or operation.name in _MAKES_ANY_SHARDING:
                return None
            return replicated_agreement(shardings)
        if self.full and self.local_forms is not None and operation.name not in self.local_forms:
            return replicated_agreement(shardings)
        if rule.is_custom_rule and self.local_forms is None:
            return None
        if full and self.local_forms is not None:
            rule = rule_on_shards(operation, rule)
        blocked = self._blocked_factors(operation, rule) if full else frozenset[int]()
        shapes = tuple(map(shape_of, (*operation.operands, *operation.results)))
        nbytes = None
        if self.local_forms is not None:
            nbytes = tuple(map(element_bytes, (*operation.operands, *operation.results)))
        manual = self._manual_axes(operation) if nbytes is not None else frozenset[str]()
        is_reshape = operation.name == _RESHAPE

        def agree(rule: OpShardingRule, blocked: frozenset[int]) -> Agreement | None:
            return full_agreement(
                rule,
                shardings,
                shapes,
                blocked,
                self.meshes,
                nbytes,
                manual,
                is_reshape=is_reshape,
            )

        if full and self.find_exchange is not None:
            exchange = self.find_exchange(operation, rule, shardings, self.meshes, agree)
            if exchange is not None:
                rule, blocked = exchange
        key = (rule, shardings, shapes, blocked, full, nbytes, manual, is_reshape)
        if key not in self._agreements:
            if full:
                agreement = agree(rule, blocked)
            else:
                agreement = self._partial_agreement(operation, rule, shardings, shapes)
            self._agreements[key] = agreement
        return self._agreements[key]

    def _manual_axes(self, operation: ir.Operation) -> frozenset[str]:
        """The axes of the manual computations around an operation."""
        if not self.has_manual_computations:
            return frozenset()
        return frozenset(bound_manual_axes(operation))

    def _blocked_factors(self, operation: ir.Operation, rule: OpShardingRule) -> frozenset[int]:
        """The factors that the operation must not be sharded along, in the full version."""
        if self.local_forms is not None:
            return blocked_factors(operation, rule)
        return uncompletable_factors(operation, rule)

    def _partial_agreement(
        self,
        operation: ir.Operation,
        rule: OpShardingRule,
        shardings: Shardings,
        shapes: Sequence[Shape],
    ) -> Agreement | None:
        is_dot = operation.name in DOT_OPERATIONS
        try:
            return partial_agreement(rule, shardings, shapes, self.meshes, is_dot=is_dot)
        except ValueError as problem:
            message = f"'{operation.name}' op can't leave its result unreduced: {problem}"
            raise PassError(error(message, location_of(operation.location))) from None

    def _set_results(
        self,
        operation: ir.Operation,
        old_shardings: Sequence[TensorSharding | None],
        agreement: Agreement,
    ) -> None:
        new_shardings = agreement.shardings[len(agreement.shardings) - len(old_shardings) :]
        changed = {
            index: sharding for index, sharding in enumerate(new_shardings) if sharding is not None
        }
        if self.local_forms is not None and self.has_special_shardings:
            changed |= self._without_complete_axes(operation, old_shardings, changed, agreement)
        if changed:
            set_result_shardings_of(operation, changed, self.cache)
        completion = completion_of(operation) if agreement.reduced_axes else None
        for index, old in enumerate(old_shardings):
            value: ir.Value = operation.results[index]
            closed = TensorSharding.fully_closed(rank_of(value.type), agreement.mesh_or_ref)
            if agreement.reduced_axes and not (completion and completion.is_local):
                sharding = changed.get(index) or old or closed
                kind = completion.kinds[index] if completion else sharding.reduction_kind
                value = self._all_reduce(value, sharding, agreement.reduced_axes, kind)
            if index in changed:
                self._go_back(value, changed[index], old or closed)

    def _without_complete_axes(
        self,
        operation: ir.Operation,
        old_shardings: Sequence[TensorSharding | None],
        changed: Mapping[int, TensorSharding],
        agreement: Agreement,
    ) -> dict[int, TensorSharding]:
        """The shardings of results that are declared unreduced along axes where they are complete.

        Nothing is partial along an axis unless the operation contracts along it, or has an operand
        that is partial along it.
        """
        operands = (get_sharding(operand) for operand in operation.operands)
        partial = [axis for each in operands if each is not None for axis in each.unreduced_axes]
        partial += agreement.contracted_axes
        new: dict[int, TensorSharding] = {}
        for index, old in enumerate(old_shardings):
            sharding = changed.get(index, old)
            if sharding is not None and sharding.unreduced_axes:
                mesh = self._mesh(sharding)
                complete = set_difference(sharding.unreduced_axes, partial, mesh)
                if complete:
                    kept = set_difference(sharding.unreduced_axes, complete, mesh)
                    new[index] = sharding.with_unreduced_axes(kept)
        return new

    def _go_back(self, value: ir.Value, current: TensorSharding, wanted: TensorSharding) -> None:
        """Give what a result is computed as the sharding that its users count on."""
        place = _insertion_point_after(value)
        uses = [(use.owner.operation, use.operand_number) for use in value.uses]
        if wanted.unreduced_axes:
            value, current = self._introduce(value, current, wanted, place)
        if not are_equivalent_if_given(current, wanted):
            value = self._reshard(value, wanted, place)
        for user, index in uses:
            user.operands[index] = value

    def _all_reduce(
        self, value: ir.Value, sharding: TensorSharding, axes: AxisTuple, kind: ReductionOp
    ) -> ir.Value:
        reduced = sdy.all_reduce(
            value,
            self.cache[AxisRefList(axes)],
            self.cache[sharding],
            reduction_op=None if kind is ReductionOp.SUM else kind,
            loc=origin_of(value),
            ip=_insertion_point_after(value),
        )
        _hand_over(value, reduced)
        return reduced


def _needs_full_version(operation: ir.Operation) -> bool:
    """Whether all tensors must agree even where others may not.

    A concatenation of operands that are sharded in other ways than its result is.
    """
    if operation.name == _CONCATENATE:
        result = get_sharding(operation.results[0])
        return any(get_sharding(operand) != result for operand in operation.operands)
    return operation.name == _RAGGED_DOT


def _has_special_shardings(function: ir.Operation, meshes: Mapping[str, Mesh]) -> bool:
    """Whether any value is unreduced, or on a single device. Most programs have no such values."""
    known: dict[ir.Attribute, bool] = {}

    def are_special(shardings: Iterable[TensorSharding | None]) -> bool:
        return any(
            sharding is not None
            and (bool(sharding.unreduced_axes) or is_on_single_device(sharding, meshes))
            for sharding in shardings
        )

    def is_special(attribute: ir.Attribute) -> bool:
        special = known.get(attribute)
        if special is None:
            value = value_of(attribute)
            shardings = (value,) if isinstance(value, TensorSharding) else value.shardings
            special = known[attribute] = are_special(shardings)
        return special

    def in_block(block: ir.Block) -> bool:
        for view in block.operations:
            operation = view.operation
            attributes = operation.attributes
            if SHARDING in attributes and is_special(attributes[SHARDING]):
                return True
            if operation.name in _HOLDERS:
                for name in _HOLDERS[operation.name]:
                    if name in attributes and is_special(attributes[name]):
                        return True
            for region in operation.regions:
                if any(in_block(inner) for inner in region.blocks):
                    return True
        return False

    return are_special((*argument_shardings(function), *result_shardings(function))) or any(
        map(in_block, function.regions[0].blocks)
    )


_HOLDERS = {
    name: tuple(
        attribute.name
        for attribute in declaration.attributes
        if attribute.name in ("sharding", "out_sharding", "in_shardings", "out_shardings")
    )
    for name, declaration in OPERATIONS.items()
}
"""The attributes of the dialect's own operations that hold shardings."""


def _hand_over(value: ir.Value, new: ir.Value) -> None:
    """Let `new`, which is made from `value`, take over all other uses of it."""
    value.replace_all_uses_except(new, new.owner.operation)


def _insertion_point_after(value: ir.Value) -> ir.InsertionPoint:
    if isinstance(value, ir.BlockArgument):
        return ir.InsertionPoint.at_block_begin(value.owner)
    return ir.InsertionPoint.after(value.owner.operation)
