# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks before a program becomes local, with the passes to run where they fail."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import (
    AxisTuple,
    Mesh,
    OpShardingRule,
    TensorSharding,
    are_equivalent_if_given,
    mesh_of,
)
from mlir_sdy.uses import replace_by
from mlir_sdy.values import (
    DATA_FLOW_OPERATIONS,
    get_sharding,
    look_through_barriers,
    result_shardings,
)
from pyshardy.irtools.stablehlo_views import callee_of
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.partition.halo.form_lookup import exchanging_operations, form_of
from pyshardy.partition.halo.merging import merge_slices
from pyshardy.partition.halo.profitability import axes_of_factors
from pyshardy.partition.local.arithmetic import retype_only
from pyshardy.partition.op_facts.data_flow import (
    Source,
    sources_of,
    sources_of_call,
    sources_of_function,
)
from pyshardy.partition.op_facts.forms import FormMemo, Forms
from pyshardy.partition.op_facts.record import record_of, rule_on_shards
from pyshardy.partition.op_facts.trailing_resize import REMOVED_BY, is_left
from pyshardy.partition.partial.completion import PartialResults, partial_axes
from pyshardy.partition.partial.reductions import blocked_factors
from pyshardy.partition.types.compatible_shardings import Shardings
from pyshardy.partition.types.device_axis import DeviceAxis
from pyshardy.partition.types.exchange_plan import Body, ExchangeForm
from pyshardy.partition.types.local_builder import LocalBuilder
from pyshardy.partition.types.one_mesh import device_mesh_of, is_change_of_mesh, on_one_mesh
from pyshardy.partition.types.single_device import is_on_single_device, runs_on_shards
from pyshardy.propagation.projection import ShardingProjection, deal_axes
from pyshardy.rules import ShardingRuleLookup
from pyshardy.rules.signature import OperationParts

STAY = frozenset({"sdy.mesh", "sdy.return"})
"""Operations of the dialect without a conversion: their parents or users handle them."""

FLOWS = DATA_FLOW_OPERATIONS | {"func.call", "func.func"}
"""Operations whose operands, or the values that their bodies return, have fixed shardings."""

_CUSTOM_CALL = "stablehlo.custom_call"
_RESHARDS = "sdy-insert-explicit-reshards{enable-full-version=true}"
_REPLICATE = (
    "sdy-insert-explicit-reshards{enable-full-version=true compatibility=cheapest}', "
    "'sdy-resolve-permutation-factors' and 'sdy-reshard-to-collectives"
)


def check_no_inner_modules(operations: Iterable[ir.Operation]) -> None:
    """Check that none of the operations in a module is a module.

    Raises:
        PassError: one is: with its own meshes and functions, it is another program.
    """
    for operation in operations:
        if operation.name == "builtin.module":
            _fail(operation, "is nested in a module: partition it separately")


_OF_KNOWN_SIZES = frozenset(
    {
        "sdy.all_gather",
        "sdy.all_slice",
        "sdy.all_to_all",
        "sdy.reduce_scatter",
        "sdy.replicated_to_unreduced",
        "sdy.sharded_to_unreduced",
    }
)
"""Collectives whose local form needs static sizes."""


class LocalForm(NamedTuple):
    """The local form of an operation.

    Attributes:
        changes: whether the operation has to be converted.
        partial: the partial results, if any.
        in_shards: the conversion, if it differs from that of other operations of its name.
    """

    changes: bool
    partial: PartialResults | None
    in_shards: _FormInShards | None = None


class LocalChecks:
    """Checks of the operations of one module, which change nothing.

    Args:
        module: the module.
        meshes: its meshes by name.

    Attributes:
        compares_meshes: whether meshes have different numbers of devices, so that values must be
            checked by `check_mesh`.
    """

    def __init__(self, module: ir.Module, meshes: Mapping[str, Mesh]):
        self._meshes = meshes
        self.compares_meshes = len({mesh.total_size for mesh in meshes.values() if mesh.axes}) > 1
        self._symbols = ir.SymbolTable(module.operation)
        self._rules = ShardingRuleLookup.shared(module.context)
        self._forms = FormMemo[LocalForm | None](Forms(self._rules))
        self._exchanging = exchanging_operations()

    def check_mesh(self, sharding: TensorSharding, place: ir.Operation) -> None:
        """Check that a sharded value is on all devices of the program, and on no others.

        Raises:
            PassError: its mesh has more or fewer devices than that of the function.
        """
        mesh = mesh_of(sharding, self._meshes)
        name = device_mesh_of(place, self._meshes)
        if mesh is None or name is None or not mesh.axes:
            return
        if sharding.is_fully_replicated and not sharding.unreduced_axes:
            return
        count = self._meshes[name].total_size
        if mesh.total_size != count:
            _fail(
                place,
                f"has a value sharded as {sharding} on {mesh.total_size} devices, but the mesh "
                f"@{name} of its function has {count}: a function and those that it calls must run "
                f"on the same devices",
            )

    def check_own(self, operation: ir.Operation) -> None:
        """Check an operation of the dialect.

        Raises:
            PassError: another pass should have replaced it.
        """
        name = operation.name
        has_local_form = record_of(name).local_form is not None
        if name not in REMOVED_BY:
            if not has_local_form:
                _fail(operation, "has no local form")
            if name in _OF_KNOWN_SIZES and not _has_static_shape(operation.operands[0]):
                what = operation.operands[0].type
                _fail(operation, f"can't be computed on {what}: its shape must be static")
            return
        ends = [get_sharding(value) for value in (operation.operands[0], operation.results[0])]
        if name == "sdy.reshard" and any(is_on_single_device(end, self._meshes) for end in ends):
            _fail(operation, f"is left: {_run_first('sdy-resolve-single-device-sharding')}")
        if has_local_form and (
            are_equivalent_if_given(*ends) or is_change_of_mesh(ends[0], ends[1], self._meshes)
        ):
            return
        if name == "sdy.reshard":
            for end in ends:
                if end is not None:
                    self.check_mesh(end, operation)
        _fail(operation, is_left(name))

    def check_flow(self, operation: ir.Operation) -> None:
        """Check the shardings of values that flow into and out of an operation.

        Args:
            operation: the operation, one of those in `FLOWS`.

        Raises:
            PassError: a value is partial, or its sharding differs from that of the place to which
                it flows.
        """
        for source in self._sources(operation):
            user, index = source.operation, source.index
            found = get_sharding(look_through_barriers(user.operands[index]))
            if not are_equivalent_if_given(found, source.sharding):
                _fail(
                    user,
                    f"operand {index} is {_text(found)}, but the value that it flows to is "
                    f"{_text(source.sharding)}: {_run_first(_RESHARDS)}",
                )

        if operation.name == "func.call":
            made = result_shardings(self._callee(operation))
            for index, (result, found) in enumerate(zip(operation.results, made, strict=True)):
                if not are_equivalent_if_given(found, get_sharding(result)):
                    _fail(
                        operation,
                        f"result {index} is {_text(get_sharding(result))}, but that of the callee "
                        f"is {_text(found)}: {_run_first('sdy-insert-func-call-reshards')}",
                    )

    def _callee(self, call: ir.Operation) -> ir.Operation:
        return self._symbols[callee_of(call)].operation

    def _sources(self, operation: ir.Operation) -> Iterator[Source]:
        if operation.name in DATA_FLOW_OPERATIONS:
            return sources_of(operation)
        if operation.name == "func.func":
            return sources_of_function(operation)
        return sources_of_call(operation, self._callee(operation), self._meshes)

    def local_form(self, known: OperationParts, shardings: Shardings) -> LocalForm:
        """Return the local form of an operation, after checking that it has one.

        Args:
            known: an operation that is device-dependent, or has a sharded operand or result.
            shardings: those of its operands, then results.

        Raises:
            PassError: it has no local form, its tensors have incompatible shardings, or a dimension
                is sharded that needs elements of other shards.
        """
        if record_of(known.name).local_form is None:
            _fail(
                known.operation,
                "has no local form: its operands and results must be replicated; "
                f"run '{_REPLICATE}' first",
            )
        form = self._forms.of(known, shardings, self._shared_form)
        return self._checked_form(known.operation, shardings) if form is None else form

    def _shared_form(self, operation: ir.Operation, shardings: Shardings) -> LocalForm | None:
        """Return the local form of all operations of a signature; None if each has its own."""
        form = self._checked_form(operation, shardings)
        return form if form.in_shards is None else None

    def _checked_form(self, operation: ir.Operation, shardings: Shardings) -> LocalForm:
        record = record_of(operation.name)
        rule = self._rules.rule(operation)
        shardings = on_one_mesh(shardings, self._meshes)
        partial = None
        if rule is not None:
            in_shards = self._form_in_shards(operation, rule, shardings)
            if in_shards is not None:
                return LocalForm(True, None, in_shards)
            rule = rule_on_shards(operation, rule)
            self._check_factors(operation, rule, shardings)
            partial = self._partial_results(operation, rule, shardings)
        elif operation.name == _CUSTOM_CALL and not runs_on_shards(operation):
            _fail(operation, f"has no sharding rule: run '{_REPLICATE}' first")
        is_unchanged = record.local_form is retype_only or (
            record.is_unchanged_locally is not None
            and record.is_unchanged_locally(operation, shardings)
        )
        return LocalForm(not is_unchanged, partial)

    def _form_in_shards(
        self, operation: ir.Operation, rule: OpShardingRule, shardings: Shardings
    ) -> _FormInShards | None:
        """Return the form without communication of an operation whose rule alone requires it."""
        if operation.name not in self._exchanging:
            return None
        given = [each for each in shardings if each is not None and not each.is_fully_replicated]
        mesh = mesh_of(given[0], self._meshes) if given else None
        if mesh is None or mesh.is_maximal:
            return None
        on_shards = rule_on_shards(operation, rule)
        blocked = blocked_factors(operation, on_shards)
        if not any(map(any, axes_of_factors(on_shards, shardings, blocked).values())):
            return None
        found = _form_in_shards(operation, rule, shardings, mesh)
        partial = found and self._partial_results(operation, found.form.rule, shardings)
        return None if partial else found

    def _check_factors(
        self, operation: ir.Operation, rule: OpShardingRule, shardings: Shardings
    ) -> None:
        """Check that no dimension is sharded along a factor that needs elements of other shards."""
        blocked = blocked_factors(operation, rule)
        if not blocked:
            return
        for position, (sharding, mapping) in enumerate(zip(shardings, rule.mappings, strict=True)):
            if sharding is None or not sharding.dim_shardings:
                continue
            dims = zip(sharding.dim_shardings, mapping.dim_mappings, strict=True)
            for dim, (dim_sharding, factors) in enumerate(dims):
                if not dim_sharding.axes or blocked.isdisjoint(factors.factor_indices):
                    continue
                mesh = mesh_of(sharding, self._meshes) or Mesh()
                dealt = deal_axes(dim_sharding, factors.factor_indices, rule.factor_sizes, mesh)
                is_blocked = any(
                    each.overflow_axes or (factor in blocked and each.axes)
                    for factor, each in dealt.items()
                )
                if is_blocked:
                    what = _end(position, len(operation.operands))
                    _fail(
                        operation,
                        f"can't be computed on shards: dimension {dim} of {what} is sharded as "
                        f"{dim_sharding} and needs data of other devices; run '{_REPLICATE}' first",
                    )

    def _partial_results(
        self, operation: ir.Operation, rule: OpShardingRule, shardings: Shardings
    ) -> PartialResults | None:
        """Return the partial results, after checking that all tensors are compatible."""
        given = [each for each in shardings if each is not None and not each.is_fully_replicated]
        mesh = mesh_of(given[0], self._meshes) if given else None
        if mesh is None or mesh.is_maximal:
            return None
        on_mesh = [each if each in given else None for each in shardings]
        projection = ShardingProjection.of(rule, on_mesh, mesh, closed_if_missing=True)
        is_compatible = all(
            len({tensor.axes(factor) for tensor in projection.having(factor)}) <= 1
            for factor in range(rule.num_factors)
        ) and all(mesh_of(each, self._meshes) == mesh for each in given)
        if not is_compatible:
            listed = " and ".join(dict.fromkeys(map(_text, shardings)))
            _fail(
                operation,
                f"has operands and results with incompatible shardings, {listed}: "
                f"{_run_first(_RESHARDS)}",
            )
        result = next(iter(shardings[len(rule.operand_mappings) :]), None)
        unreduced = () if result is None else result.unreduced_axes
        axes = partial_axes(rule, projection, mesh, unreduced)
        return PartialResults(axes, given[0].mesh_or_ref, mesh) if axes else None


def _has_static_shape(value: ir.Value) -> bool:
    return isinstance(value.type, ir.RankedTensorType) and value.type.has_static_shape


def _text(sharding: TensorSharding | None) -> str:
    return "replicated" if sharding is None else f"sharded as {sharding}"


def _run_first(passes: str) -> str:
    return f"run '{passes}' first"


def _end(position: int, num_operands: int) -> str:
    """Return a description of the operand or result at a position."""
    if position < num_operands:
        return f"operand {position}"
    return f"result {position - num_operands}"


def _fail(operation: ir.Operation, problem: str) -> None:
    raise PassError(error(f"'{operation.name}' op {problem}", location_of(operation.location)))


@dataclass(frozen=True, slots=True)
class _FormInShards:
    """The conversion of an operation whose shards need no elements of their neighbors.

    Attributes:
        form: the form of the operation.
        axes: the axes of each factor of the form that is sharded.
        mesh: the mesh.
    """

    form: ExchangeForm
    axes: Mapping[int, AxisTuple]
    mesh: Mesh

    def __call__(self, operation: ir.Operation, builder: LocalBuilder) -> None:
        """Replace an operation whose values have local types by its form."""
        device_axes = {
            factor: DeviceAxis(builder, self.mesh, axes) for factor, axes in self.axes.items()
        }
        types = [result.type for result in operation.results]
        operands = list(operation.operands)
        made = self.form.build(Body(operands, device_axes, builder, types))
        merge_slices(made, operands)
        replace_by(operation, *made)


def _form_in_shards(
    operation: ir.Operation, rule: OpShardingRule, shardings: Shardings, mesh: Mesh
) -> _FormInShards | None:
    """Return the conversion of an operation whose shards need no elements of their neighbors.

        %1 = stablehlo.slice %0 [0:8:2] {sdy.sharding = ...} : (tensor<8xf32>) -> tensor<4xf32>

    on 4 devices becomes

        %1 = stablehlo.slice %0 [0:2:2] : (tensor<2xf32>) -> tensor<1xf32>

    None if there is no such form, if the axes of a factor differ between dimensions, or if axes
    don't divide their dimension.

    Args:
        operation: the operation, whose values have their global types.
        rule: its rule.
        shardings: those of its operands, then results.
        mesh: the mesh of all of them.
    """
    form = form_of(operation, rule)
    if form is None or list(form.operands) != list(operation.operands):
        return None
    values = (*operation.operands, *operation.results)
    if not all(
        sharding is None or sharding.divides(shape_of(value.type), mesh)
        for sharding, value in zip(shardings, values, strict=True)
    ):
        return None
    blocked = blocked_factors(operation, form.rule) - form.factors
    if any(map(any, axes_of_factors(form.rule, shardings, blocked).values())):
        return None
    lists = axes_of_factors(form.rule, shardings, form.factors)
    axes: dict[int, AxisTuple] = {}
    for factor, lists_of_factor in lists.items():
        first, *others = lists_of_factor
        if others or (first and not form.sends_nothing(factor, mesh.axes_size(first))):
            return None
        if first:
            axes[factor] = first
    return _FormInShards(form, axes, mesh) if axes else None
