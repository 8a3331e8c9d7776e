# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Forms without communication, as conversions to the local program.

    %1 = stablehlo.slice %0 [0:8:2] {sdy.sharding = ...} : (tensor<8xf32>) -> tensor<4xf32>

on 4 devices becomes

    %1 = stablehlo.slice %0 [0:2:2] : (tensor<2xf32>) -> tensor<1xf32>
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mlir_sdy.host import ir
from mlir_sdy.model import AxisTuple, Mesh, OpShardingRule
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.partition.compatibility.compatible_shardings import Shardings
from pyshardy.partition.halo.device_axis import DeviceAxis
from pyshardy.partition.halo.form import Body, ExchangeForm
from pyshardy.partition.halo.form_lookup import form_of
from pyshardy.partition.halo.merging import merge_slices
from pyshardy.partition.halo.profitability import axes_of_factors
from pyshardy.partition.local.builder import LocalBuilder
from pyshardy.partition.op_facts.blocked_factors import blocked_factors


@dataclass(frozen=True, slots=True)
class FormInShards:
    """The conversion of an operation whose shards need no elements of each other.

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
        for result, value in zip(operation.results, made, strict=True):
            result.replace_all_uses_with(value)
        operation.erase()


def form_in_shards(
    operation: ir.Operation, rule: OpShardingRule, shardings: Shardings, mesh: Mesh
) -> FormInShards | None:
    """Return the conversion of an operation whose shards need no elements of each other.

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
    return FormInShards(form, axes, mesh) if axes else None
