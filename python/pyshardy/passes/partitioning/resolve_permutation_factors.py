# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-resolve-permutation-factors`: insert halo exchanges.

An operation that is sharded along a dimension whose shards need elements of each other is replaced
by local code that exchanges these elements.
Other operations are replicated along these dimensions (see `halo` for the forms).

The tensors of each operation are compatible (see `insert_explicit_reshards`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from typing import Literal, NamedTuple

from mlir_sdy.host import ir
from mlir_sdy.model import AxisTuple, OpShardingRule
from mlir_sdy.values import get_sharding, look_through_barriers, result_shardings_of
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE, HardwareOption
from pyshardy.cost.hardware import Hardware, load_hardware
from pyshardy.irtools.analyses import UNCHANGED, Changes
from pyshardy.irtools.collectives import first_free_channel
from pyshardy.irtools.constants import PASSING_ON
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.irtools.walks import may_occur_at_start, operations_named
from pyshardy.partition.function_context import FunctionContext
from pyshardy.partition.halo.computation import ComputationBuilder
from pyshardy.partition.halo.form_lookup import exchanging_operations, form_of
from pyshardy.partition.halo.profitability import axes_of_factors, factors_to_replicate
from pyshardy.partition.halo.reshape import resolve_reshape
from pyshardy.partition.halo.reshard import widen_reshard
from pyshardy.partition.local.device_kind import are_replicas, check_number_of_devices
from pyshardy.partition.op_facts.forms import FormMemo, Forms
from pyshardy.partition.op_facts.trailing_resize import factors_in_place
from pyshardy.partition.padding.replicated import replicate_dims_around
from pyshardy.partition.partial.reductions import blocked_factors
from pyshardy.partition.records.random_numbers import allow_unsafe_rng
from pyshardy.partition.types.compatible_shardings import (
    CompatibleShardings,
    Shardings,
    fully_compatible,
    is_plain,
    majority_mesh,
)
from pyshardy.partition.types.exchange_plan import ExchangeForm
from pyshardy.partition.types.local_builder import LocalBuilder
from pyshardy.passes.options import (
    EnableHaloExchange,
    PartitionCount,
    ReplicaCount,
    RngBitGeneratorUnsafe,
)
from pyshardy.pipeline import register_pass
from pyshardy.rules.signature import OperationParts

_RESHAPE, _RESHARD, _SLICE = "stablehlo.reshape", "sdy.reshard", "stablehlo.slice"
_RNG = "stablehlo.rng_bit_generator"


@register_pass("sdy-resolve-permutation-factors", release="0.10.2")
def resolve_permutation_factors(
    module: ir.Module,
    *,
    enable_halo_exchange: EnableHaloExchange = True,
    replica_count: ReplicaCount = 1,
    partition_count: PartitionCount = 1,
    rng_bit_generator_unsafe: RngBitGeneratorUnsafe = False,
    hardware: HardwareOption = DEFAULT_HARDWARE,
) -> Changes | None:
    """Replace operations that need elements of other shards by halo exchanges.

    Handles operations that are sharded along a dimension where a shard of the result depends on
    other shards of the operands: pads, slices, reversals, concatenations, convolutions and windows.
    Replaces each by an `sdy.manual_computation` in which devices exchange only the elements that
    they need.

    ```mlir
    // %0 and %1 are sharded by [{"x"}] on <["x"=2]>
    %1 = stablehlo.slice %0 [1:8] : (tensor<8xf32>) -> tensor<7xf32>
    ```

    becomes

    ```mlir
    %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x"}]>]
        out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%arg1: tensor<4xf32>) {
      %3 = stablehlo.slice %arg1 [1:4] : (tensor<4xf32>) -> tensor<3xf32>
      %4 = stablehlo.slice %arg1 [0:1] : (tensor<4xf32>) -> tensor<1xf32>
      %5 = "stablehlo.collective_permute"(%4) <{source_target_pairs = dense<[[1, 0]]>}>
      %6 = stablehlo.concatenate %3, %5, dim = 0
      sdy.return %6 : tensor<4xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    %2 = stablehlo.slice %1 [0:7] : (tensor<8xf32>) -> tensor<7xf32>
    ```

    A dimension is unsharded if that sends fewer bytes, if the operation has no halo exchange, and
    without `enable-halo-exchange`. Dimensions of a `stablehlo.reshape` are unsharded if the shards
    of its operand and of its result do not hold the same data:

    ```mlir
    // %0 is sharded by [{}, {"x"}]
    %1 = stablehlo.reshape %0 : (tensor<12x24xf32>) -> tensor<8x36xf32>
    ```

    becomes

    ```mlir
    %1 = sdy.reshard %0 <@mesh, [{}, {}]> : tensor<12x24xf32>
    %2 = stablehlo.reshape %1 : (tensor<12x24xf32>) -> tensor<8x36xf32>
    ```

    Raises:
        PassError: both counts are above one, or a mesh has too many devices.
    """
    if rng_bit_generator_unsafe:
        allow_unsafe_rng(module)
    replicas = are_replicas(replica_count, partition_count, module.operation)
    check_number_of_devices(module)
    with module.context:
        return _ModuleResolver(
            module,
            load_hardware(hardware),
            replicas=replicas,
            exchanges=enable_halo_exchange,
        ).run()


_Needs = Literal["nothing", "exchange", "reshards"]
"""The change that an operation needs; another pass must insert reshards."""


class _Decision(NamedTuple):
    """The decision on the factors of an exchange form.

    Attributes:
        replicated: those to replicate.
        axes: the axes of each other one that is sharded.
        needs: the change that the operation needs if nothing is left to replicate.
    """

    replicated: frozenset[int]
    axes: Mapping[int, AxisTuple]
    needs: _Needs


class _ModuleResolver:
    """One run over a module."""

    def __init__(self, module: ir.Module, hardware: Hardware, *, replicas: bool, exchanges: bool):
        context = FunctionContext.of(module)
        self.module = module
        self.hardware = hardware
        self.meshes = context.meshes
        self.cache = context.cache
        self.rules = context.rules
        self.replicas = replicas
        self.exchanges = exchanges
        self._decisions = FormMemo[_Decision](Forms(context.rules))

    @cached_property
    def builder(self) -> ComputationBuilder:
        """The builder of all exchanges; its channels follow those of the module before them."""
        local = LocalBuilder(
            self.meshes,
            replicas=self.replicas,
            first_channel=first_free_channel(self.module),
            hardware=self.hardware,
        )
        return ComputationBuilder(local, self.cache)

    def run(self) -> Changes | None:
        """Resolve all operations; return what the pass tells of its changes."""
        resolved = {*exchanging_operations(), _RESHAPE, _RNG, _SLICE}
        names = {*resolved, *PASSING_ON, _RESHARD}
        may_occur = may_occur_at_start(names, self.module)
        found = operations_named(names, self.module) if may_occur else []
        if not found:
            return UNCHANGED
        slices = [operation for operation in found if operation.name == _SLICE]
        others = [each for each in found if each.name in resolved and each.name != _SLICE]
        for operation in others:
            if operation.name == _RESHAPE:
                for resizing in resolve_reshape(
                    operation, self.meshes, self.cache, self.hardware, exchanges=self.exchanges
                ):
                    self._resolve(resizing)
            else:
                self._resolve(operation)
        # Concatenations may have taken their parts from the operands of slices.
        for operation in reversed(operations_named(PASSING_ON, self.module)):
            _erase_if_unused(operation)
        for operation in slices:
            if not _erase_if_unused(operation):
                self._resolve(operation)
        for reshard in operations_named({_RESHARD}, self.module) if self.exchanges else ():
            for resizing in widen_reshard(reshard, self.meshes, self.cache):
                self._resolve(resizing)
        return None

    def _resolve(self, operation: ir.Operation) -> None:
        shardings = _shardings_of(operation)
        rule = self.rules.rule(operation)
        if all(map(is_plain, shardings)) or rule is None or rule.is_custom_rule:
            return
        form = form_of(operation, rule)
        if form is None:
            in_place = factors_in_place(operation, rule, self.meshes)
            self._replicate(operation, rule, blocked_factors(operation, rule) - in_place)
            return
        parts = OperationParts.of(operation, operation.name)
        decision = self._decisions.of(parts, shardings, partial(self._decision, form))
        needs = decision.needs
        if self._replicate(operation, form.rule, decision.replicated):
            needs = self._needs(form, decision.replicated, decision.axes)
        if needs == "reshards":
            self._replicate(operation, form.rule, form.factors)
        elif needs == "exchange":
            self._exchange(form, decision.axes, shardings)

    def _decision(self, form: ExchangeForm, _: ir.Operation, shardings: Shardings) -> _Decision:
        """Decide on the factors of a form."""
        lists = axes_of_factors(form.rule, shardings, form.factors)
        replicated = factors_to_replicate(
            form,
            shardings,
            self.meshes,
            partial(self._resolution, form.operation),
            exchanges=self.exchanges,
        )
        replicated |= {factor for factor, axes in lists.items() if len(axes) > 1}
        axes = {
            factor: next(iter(lists[factor]))
            for factor in sorted(form.factors - replicated)
            if any(lists[factor])
        }
        return _Decision(replicated, axes, self._needs(form, replicated, axes))

    def _needs(
        self, form: ExchangeForm, replicated: frozenset[int], axes: Mapping[int, AxisTuple]
    ) -> _Needs:
        """Return the change that an operation needs with its present shardings."""
        compatible = self._resolution(form.operation, form.rule, replicated)
        if compatible is None or any(compatible.shardings):
            return "reshards"
        in_place = factors_in_place(form.operation, form.rule, self.meshes)
        return "nothing" if axes.keys() <= in_place else "exchange"

    def _resolution(
        self, operation: ir.Operation, rule: OpShardingRule, blocked: frozenset[int]
    ) -> CompatibleShardings | None:
        """Return compatible shardings of the tensors of an operation, by their sizes."""
        shapes = tuple(shape_of(each.type) for each in (*operation.operands, *operation.results))
        return fully_compatible(rule, _shardings_of(operation), shapes, blocked, self.meshes)

    def _replicate(
        self, operation: ir.Operation, rule: OpShardingRule, factors: frozenset[int]
    ) -> bool:
        """Replicate the sharded dimensions of these factors; return whether there are any."""
        dims = [
            {
                dim
                for dim, axes in enumerate(() if sharding is None else sharding.dim_axes)
                if axes and factors.intersection(mapping.dim_mappings[dim].factor_indices)
            }
            for mapping, sharding in zip(rule.mappings, _shardings_of(operation), strict=True)
        ]
        if any(dims):
            replicate_dims_around(operation, dims, self.cache, self.meshes)
        return any(dims)

    def _exchange(
        self, form: ExchangeForm, axes: Mapping[int, AxisTuple], shardings: Shardings
    ) -> None:
        name = majority_mesh(shardings, self.meshes)
        mesh = self.meshes.get(name) if isinstance(name, str) else name
        assert name is not None, "compatible tensors have a mesh in common"
        assert mesh is not None, "the verifier refuses shardings without a mesh"
        self.builder.replace(form, axes, name, mesh)


def _erase_if_unused(operation: ir.Operation) -> bool:
    is_unused = not any(operation.results[0].uses)
    if is_unused:
        operation.erase()
    return is_unused


def _shardings_of(operation: ir.Operation) -> Shardings:
    operands = [get_sharding(look_through_barriers(value)) for value in operation.operands]
    results = result_shardings_of(operation) or [None] * len(operation.results)
    return (*operands, *results)
