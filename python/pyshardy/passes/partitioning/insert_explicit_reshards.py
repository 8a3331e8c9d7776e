# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-insert-explicit-reshards`: make the tensors of each operation compatible.

After it, each factor of an operation's rule has the same axes in all operands and results, factors
that need replication are not sharded, and partial results are completed by an `sdy.all_reduce`.

An operation without a rule, or without a local form, is computed on replicated tensors.

Not in the full version, the operations are those that other partitioners handle badly: operands of
calls, concatenations of differently sharded operands, some results of matrix products (see
`dot_result`), and operations with unreduced axes or on single devices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

from mlir_sdy import sdy
from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.discardable import has_discardable
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import (
    AxisRefList,
    AxisTuple,
    ReductionOp,
    TensorSharding,
    are_equivalent_if_given,
)
from mlir_sdy.model.collectives import add_unreduced_axes
from mlir_sdy.ods.tables import OPERATIONS
from mlir_sdy.traversal import SCALAR_BODIES, named_operations_in
from mlir_sdy.values import (
    DATA_FLOW_OPERATIONS,
    rank_of,
    set_result_shardings_of,
)
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE, HardwareOption, PreferredKind
from pyshardy.irtools.analyses import OF_SHARDINGS, UNCHANGED, Changes
from pyshardy.irtools.shardings import (
    add_written_shardings,
    interface_shardings,
    result_kinds,
)
from pyshardy.irtools.stablehlo_views import callee_of
from pyshardy.irtools.walks import operations_named
from pyshardy.partition.choice.quick_checks import has_unreduced_or_maximal, is_compatible_already
from pyshardy.partition.choice.resolver import (
    PARTIAL_OPERATIONS,
    CompatibilityResolver,
    ShardyCompatibility,
)
from pyshardy.partition.choice.uses import UseConverter
from pyshardy.partition.function_context import FunctionContext
from pyshardy.partition.op_facts.data_flow import (
    Source,
    sources_of,
    sources_of_call,
    sources_of_function,
)
from pyshardy.partition.op_facts.record import record_of
from pyshardy.partition.partial.completion import drop_completing_collectives
from pyshardy.partition.partial.planned_partial import PARTIAL_SHARDING
from pyshardy.partition.partial.reductions import completion_of
from pyshardy.partition.partial.unreduced import origin_of
from pyshardy.partition.types.compatible_shardings import CompatibleShardings, Shardings, is_plain
from pyshardy.partition.types.single_device import (
    check_interface,
    run_on_single_device,
    runs_on_shards,
    take_operands_back,
)
from pyshardy.pipeline import register_pass
from pyshardy.pipeline.options import Help
from pyshardy.rules.signature import OperationParts

if TYPE_CHECKING:
    from pyshardy.cost.hardware import Hardware

_NOT_COMPUTED = frozenset({"func.func", "func.return", "sdy.return", "stablehlo.return"})
_EDGES = {
    "sdy.data_flow_edge": "sdy-sink-data-flow-edges",
    "sdy.func_data_flow_edge": "sdy-sink-func-data-flow-edges",
}
_BARRIER = "sdy.propagation_barrier"
_CALL, _CUSTOM_CALL = "func.call", "stablehlo.custom_call"
_RESHARD = "sdy.reshard"
_INSERTED = frozenset(
    {_RESHARD, "sdy.all_reduce", "sdy.replicated_to_unreduced", "sdy.sharded_to_unreduced"}
)
_WITH_RULE = frozenset({"sdy.sharding_constraint"})
"""The operations of the dialect that have a rule, if `sdy-sharding-constraint-to-reshard` has not
replaced them."""


@register_pass("sdy-insert-explicit-reshards", anchor="func.func", release="0.10.2")
def insert_explicit_reshards(
    function: ir.OpView,
    *,
    enable_full_version: bool = False,
    mark_partial_result_with_unreduced_axes: Annotated[bool, Help(release="0.12")] = False,
    compatibility: Annotated[Literal["shardy", "cheapest"], Help(release="pyshardy")] = "shardy",
    hardware: HardwareOption = DEFAULT_HARDWARE,
    prefer: Annotated[PreferredKind, Help(release="pyshardy")] = "none",
) -> Changes:
    """Insert reshards so that the shardings of each operation are compatible.

    Makes the shardings of each operation compatible with its sharding rule, by reshards of its
    operands and results.

    Precondition: constraints are reshards, data-flow edges have been removed, and meshes are
    symbols. Postcondition of the full version: each operation that has a rule that is not custom,
    and whose shardings have the same mesh, satisfies:

    - a factor is sharded by the same axes in every operand and result that has it;
    - factors that need replication are not sharded;
    - no axis shards two factors;
    - an `sdy.all_reduce` follows it for the axes that shard its reduction factors, except those
      along which its result is declared unreduced.

    Without `enable-full-version`, the pass treats only operations that cannot be left to a later
    partitioner.

    ```mlir
    // %a is sharded as [{"x"}, {}], %b as [{"y"}, {}], the result as [{"x"}, {}]
    %0 = stablehlo.add %a, %b
    ```

    becomes

    ```mlir
    %0 = sdy.reshard %b <@mesh, [{"x"}, {}]>
    %1 = stablehlo.add %a, %0
    ```

    Options:
        enable_full_version: whether to make the shardings of all operations compatible.
        mark_partial_result_with_unreduced_axes: whether to mark partial results: the axes of the
            all-reduce that follows become unreduced axes of the sharding.
        compatibility: resolution of incompatible shardings: shardy by the sizes of tensors, as C++
            Shardy; cheapest by the cost of communication, replicating the operands of operations
            that sdy-convert-global-to-local has no local form for.
        prefer: with cheapest, the kind of collective that an operation takes where it can do with
            this kind alone.

    Raises:
        PassError: unreduced axes, or values on a single device, are not allowed at some place.
        UsageError: there is no such hardware.
    """
    is_prepared = False
    resolver: CompatibilityResolver
    if compatibility == "cheapest":
        # Propagation, which uses the other one, starts without the records of all operations.
        from pyshardy.partition.choice.cheapest import (  # noqa: PLC0415
            CheapestCompatibility,
            prepare_for_devices,
        )

        devices = _loaded(hardware)
        is_prepared = prepare_for_devices(function)
        context = FunctionContext.of(function)
        resolver = CheapestCompatibility(
            context, function.operation, devices, full=enable_full_version, prefer=prefer
        )
    else:
        if hardware != DEFAULT_HARDWARE:
            _loaded(hardware)  # An error if there is no such hardware.
        context = FunctionContext.of(function)
        resolver = ShardyCompatibility(context, full=enable_full_version)
    resharder = _FunctionResharder(
        function.operation,
        context,
        resolver,
        full=enable_full_version,
        marks_partial=mark_partial_result_with_unreduced_axes,
        absent_is_complete=compatibility == "cheapest",
    )
    resharder.run()
    if not is_prepared and not resharder.is_changed:
        return UNCHANGED
    if is_prepared or context.module is None or resharder.has_unreduced_or_maximal:
        return Changes(_INSERTED, OF_SHARDINGS)
    inserted = (value for value in context.cache if isinstance(value, TensorSharding))
    add_written_shardings(context.module, resharder.changed_operations, inserted)
    return Changes(_INSERTED)


def _loaded(hardware: str) -> Hardware:
    from pyshardy.cost.hardware import load_hardware  # noqa: PLC0415 (not for propagation)

    return load_hardware(hardware)


class _FunctionResharder:
    """One run over a function.

    Attributes:
        is_changed: whether the function may have changed.
        changed_operations: those whose results have other shardings, if none is unreduced or on a
            single device.
    """

    def __init__(
        self,
        function: ir.Operation,
        context: FunctionContext,
        resolver: CompatibilityResolver,
        *,
        full: bool,
        marks_partial: bool,
        absent_is_complete: bool,
    ):
        self.function = function
        self.context = context
        self.resolver = resolver
        self.full = full
        self.marks_partial = marks_partial
        self.meshes = context.meshes
        self.cache = context.cache
        self.known = context.shardings
        self.uses = UseConverter(context, absent_is_complete=absent_is_complete)
        self._plain: dict[Shardings, bool] = {}
        self.has_unreduced_or_maximal = True
        self.is_changed = False
        self.changed_operations: list[ir.Operation] = []

    def run(self) -> None:
        check_interface(self.function, self.meshes)
        self._check_edges()
        if self.full:
            self.is_changed |= drop_completing_collectives(self.function, self.meshes)
        self.known.read_arguments(self.function)
        for operation, name in self._operations():
            self._visit(operation, name)
        if self.full or self.has_unreduced_or_maximal:
            for source in sources_of_function(self.function):
                self._convert(source, self.full, before_use=True)

    def _operations(self) -> Sequence[tuple[ir.Operation, str]]:
        """Return the operations to process with their names, inner ones first."""
        if not self.full and not self._has_unreduced_or_maximal():
            self.has_unreduced_or_maximal = False
            names = PARTIAL_OPERATIONS | {_CALL}
            found = operations_named(names, self.function, ir.WalkOrder.POST_ORDER)
            # Where a plan has chosen partial results, the full version completes them.
            return [
                (operation, operation.name)
                for operation in found
                if not has_discardable(operation, PARTIAL_SHARDING)
            ]
        known = self.known
        disagreeing: list[tuple[ir.Operation, str]] = []
        operations = self._all_operations()
        for operation, name in operations:
            shardings = known.read(operation, name, operation.results)
            if not is_compatible_already(operation, name, shardings, known):
                disagreeing.append((operation, name))
        self.has_unreduced_or_maximal = has_unreduced_or_maximal(
            self.function, self.meshes, known.lists
        )
        return operations if self.has_unreduced_or_maximal else disagreeing

    def _has_unreduced_or_maximal(self) -> bool:
        module = self.context.module
        if module is not None:
            kinds, interface = result_kinds(module), interface_shardings(module)
            shardings = [kinds.shardings, interface]
            if not has_unreduced_or_maximal(self.function, self.meshes, shardings):
                return False
        return has_unreduced_or_maximal(self.function, self.meshes)

    def _all_operations(self) -> list[tuple[ir.Operation, str]]:
        everything = named_operations_in(self.function, leaving_out=SCALAR_BODIES, inner_first=True)
        return [each for each in everything if each[1] not in _NOT_COMPUTED]

    def _check_edges(self) -> None:
        """Check that data-flow operations have the shardings of their values."""
        for edge in operations_named(_EDGES, self.function):
            message = f"'{edge.name}' op is left: run '{_EDGES[edge.name]}' first"
            raise PassError(error(message, location_of(edge.location)))

    def _visit(self, operation: ir.Operation, name: str) -> None:
        if name in DATA_FLOW_OPERATIONS:
            for source in sources_of(operation):
                self._convert(source, self.full)
        elif name == _CALL:
            self._convert_operands_of_call(operation)
        elif name == _RESHARD:
            self.is_changed = True
            self.known.forget(operation)  # the operation may be erased
            self.resolver.forget(operation.operands, operation.results)
            if not run_on_single_device(operation, self.meshes, self.cache):
                self.resolver.expand_reshard(operation, self.uses)
        elif name == _BARRIER or (name == _CUSTOM_CALL and runs_on_shards(operation)):
            self.is_changed = True
            self.resolver.forget(operation.operands, ())
            self.uses.complete_operands(operation)
        elif name in _WITH_RULE or name not in OPERATIONS or record_of(name).creates_any_shard:
            if self.has_unreduced_or_maximal:
                self.is_changed = True
                self.resolver.forget(operation.operands, operation.results)
                self.resolver.complete_operands(operation, self.uses)
                # Shardy leaves operations that only have effects to the backend partitioner.
                is_seen = self.full or len(operation.results) > 0
                if is_seen and run_on_single_device(operation, self.meshes, self.cache):
                    self.known.forget(operation)
                    return
                take_operands_back(operation, self.meshes, self.cache)
            self._make_compatible(operation, name)

    def _convert_operands_of_call(self, call: ir.Operation) -> None:
        if self.context.symbols is not None:
            callee = self.context.symbols[callee_of(call)].operation
            for source in sources_of_call(call, callee, self.meshes):
                self._convert(source, True)

    def _convert(self, source: Source, full: bool, *, before_use: bool = False) -> None:
        """Convert an operand to the sharding of the place to which its value flows."""
        self.resolver.forget([source.operation.operands[source.index]], ())
        self.is_changed |= self.uses.convert(source, full, before_use=before_use)

    def _make_compatible(self, operation: ir.Operation, name: str) -> None:
        view, shardings = self._read(operation, name)
        if self._are_plain(shardings):
            return
        on_one_mesh = self.resolver.shardings_on_one_mesh(shardings, len(view.operands))
        if on_one_mesh:
            self.is_changed = True
            self.resolver.forget(view.operands, view.results)
            self._bring_to_one_mesh(view, shardings, on_one_mesh)
            view, shardings = self._read(operation, name)
            if self._are_plain(shardings):
                return
        compatible = self.resolver.resolve(view, shardings)
        if compatible is None or (compatible.is_kept and not self.has_unreduced_or_maximal):
            return
        self.is_changed = True
        self.resolver.remark(operation, shardings, compatible)
        self.resolver.forget(view.operands, view.results)
        count = len(view.operands)
        place = ir.InsertionPoint(operation)
        for index, sharding in enumerate(compatible.shardings[:count]):
            if sharding is not None:
                value = self.uses.reshard_partial(view.operands[index], sharding, place)
                operation.operands[index] = value
        self._set_results(operation, shardings[count:], compatible)

    def _read(self, operation: ir.Operation, name: str) -> tuple[OperationParts, Shardings]:
        """Return an operation, and the shardings of its operands, then results."""
        view = OperationParts.of(operation, name)
        return view, tuple([self.known[value] for value in view.values])

    def _bring_to_one_mesh(
        self, view: OperationParts, old: Shardings, new: Mapping[int, TensorSharding]
    ) -> None:
        """Reshard the tensors of an operation that are not on its majority mesh."""
        operation, count = view.operation, len(view.operands)
        place = ir.InsertionPoint(operation)
        results = {index - count: sharding for index, sharding in new.items() if index >= count}
        for index, sharding in new.items():
            if index < count:
                value = self.uses.reshard_partial(view.operands[index], sharding, place)
                operation.operands[index] = value
        if results:
            self._set_shardings(operation, results)
        place = ir.InsertionPoint.after(operation)
        for index, sharding in results.items():
            before = old[count + index]
            assert before is not None, "only results with shardings are on a mesh"
            self._go_back(view.results[index], sharding, before, place)

    def _are_plain(self, shardings: Shardings) -> bool:
        """Whether all tensors are replicated; computed once for equal shardings."""
        known = self._plain.get(shardings)
        if known is None:
            known = self._plain[shardings] = all(map(is_plain, shardings))
        return known

    def _set_results(
        self,
        operation: ir.Operation,
        old_shardings: Sequence[TensorSharding | None],
        compatible: CompatibleShardings,
    ) -> None:
        new_shardings = compatible.shardings[len(compatible.shardings) - len(old_shardings) :]
        changed = {
            index: sharding for index, sharding in enumerate(new_shardings) if sharding is not None
        }
        if self.has_unreduced_or_maximal:
            computed = [changed.get(index, old) for index, old in enumerate(old_shardings)]
            changed |= self.resolver.complete_results(operation, tuple(computed), compatible)
        if changed:
            self._set_shardings(operation, changed)
        if self.has_unreduced_or_maximal:
            self.resolver.complete_changed_operands(operation, self.uses)
        place = ir.InsertionPoint.after(operation)
        values = self._complete_results(operation, old_shardings, changed, compatible, place)
        unset = TensorSharding.fully_closed
        for index, sharding in sorted(changed.items()):
            absent = unset(rank_of(values[index].type), compatible.mesh_or_ref)
            self._go_back(values[index], sharding, old_shardings[index] or absent, place)
            unset = TensorSharding.fully_open  # from the sharding of the first one on

    def _complete_results(
        self,
        operation: ir.Operation,
        old_shardings: Sequence[TensorSharding | None],
        changed: Mapping[int, TensorSharding],
        compatible: CompatibleShardings,
        place: ir.InsertionPoint,
    ) -> list[ir.Value]:
        """Complete the results that are partial; return the values of all.

        A result without a sharding is open once the sharding of another one is set, as in Shardy.
        """
        values: list[ir.Value] = list(operation.results)
        is_partial = compatible.reduced_axes or compatible.contracted_axes
        completion = completion_of(operation) if is_partial else None
        if not is_partial or (completion is not None and completion.is_local):
            return values
        unset = TensorSharding.fully_open if changed else TensorSharding.fully_closed
        partial: dict[int, TensorSharding] = {}
        for index, old in enumerate(old_shardings):
            value = values[index]
            absent = unset(rank_of(value.type), compatible.mesh_or_ref)
            sharding = changed.get(index) or old or absent
            reduced_axes = self.resolver.reduced_axes(compatible, sharding)
            if reduced_axes:
                kind = completion.kinds[index] if completion else sharding.reduction_kind
                values[index] = self._all_reduce(value, sharding, reduced_axes, kind, place)
                partial[index] = self._partial(sharding, reduced_axes, kind)
                if self.marks_partial:
                    unset = TensorSharding.fully_open
        if self.marks_partial and partial:
            self._set_shardings(operation, partial)
        return values

    def _set_shardings(
        self, operation: ir.Operation, shardings: Mapping[int, TensorSharding]
    ) -> None:
        """Set the shardings of some results of an operation, by their index."""
        set_result_shardings_of(operation, shardings, self.cache)
        self.known.forget(operation)
        self.changed_operations.append(operation)

    def _partial(
        self, completed: TensorSharding, axes: AxisTuple, kind: ReductionOp
    ) -> TensorSharding:
        """Return the sharding of a result that an all-reduce over `axes` completes."""
        unreduced = add_unreduced_axes(completed.unreduced_axes, axes, self.uses.mesh(completed))
        return replace(completed, unreduced_axes=unreduced, reduction_kind=kind)

    def _go_back(
        self,
        value: ir.Value,
        current: TensorSharding,
        wanted: TensorSharding,
        place: ir.InsertionPoint,
    ) -> None:
        """Convert a result to the sharding that its users expect."""
        uses = [(use.owner.operation, use.operand_number) for use in value.uses]
        if wanted.unreduced_axes:
            value, current = self.uses.introduce(value, current, wanted, place)
        if not are_equivalent_if_given(current, wanted):
            value = self.uses.reshard(value, wanted, place)
        for user, index in uses:
            user.operands[index] = value

    def _all_reduce(
        self,
        value: ir.Value,
        sharding: TensorSharding,
        axes: AxisTuple,
        kind: ReductionOp,
        place: ir.InsertionPoint,
    ) -> ir.Value:
        reduced = sdy.all_reduce(
            value,
            self.cache[AxisRefList(axes)],
            self.cache[sharding],
            reduction_op=None if kind is ReductionOp.SUM else kind,
            loc=origin_of(value),
            ip=place,
        )
        _hand_over(value, reduced)
        return reduced


def _hand_over(value: ir.Value, new: ir.Value) -> None:
    """Replace all other uses of `value` by `new`, which is computed from it."""
    value.replace_all_uses_except(new, new.owner.operation)
