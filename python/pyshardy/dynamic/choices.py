# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The partitioner's choices at the hints, for programs that communicate alike at all sizes.

The partitioner takes the axes along which an operation is computed that send the least at a size.
With `freeze="all"`, those at the hints are recorded and become planned axes of the operations of
the dynamic program (see `partition.types.planned_axes`), which it keeps at every size.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from mlir_sdy.host import ir
from mlir_sdy.traversal import operations_in
from mlir_sdy.values import get_sharding
from pyshardy.dynamic.plan import number_of, remove_numbers
from pyshardy.partition.function_context import FunctionContext
from pyshardy.partition.halo.form_lookup import form_of
from pyshardy.partition.op_facts.record import rule_on_shards
from pyshardy.partition.types.compatible_shardings import majority_mesh
from pyshardy.partition.types.factor_axes import FactorAxes, compatible_axes
from pyshardy.partition.types.planned_axes import set_planned_axes
from pyshardy.pipeline import Instrumentation, Step
from pyshardy.propagation.projection import ShardingProjection
from pyshardy.sizes.signature import entry_of

Freeze: TypeAlias = Literal["shardings", "all"]

FREEZES: tuple[Freeze, ...] = get_args(Freeze)

_PASS = "sdy-insert-explicit-reshards"


@dataclass
class ChoiceRecorder(Instrumentation):
    """Records the axes of factors that the partitioner chooses, by the numbers of operations."""

    axes: dict[int, FactorAxes] = field(default_factory=dict[int, FactorAxes])

    def after_pass(self, step: Step, module: ir.Module) -> None:
        """Record the axes once the tensors of each operation are compatible."""
        if step.argument != _PASS:
            return
        context = FunctionContext.of(module)
        for view in operations_in(entry_of(module)):
            operation = view.operation
            number = number_of(operation)
            axes = None if number is None else _axes_of(operation, context)
            if number is not None and axes is not None:
                self.axes[number] = axes

    def freeze(self, dynamic: ir.Module) -> None:
        """Give the operations of a dynamic program these axes instead of numbers."""
        for view in operations_in(entry_of(dynamic)):
            number = number_of(view.operation)
            if number in self.axes:
                set_planned_axes(view.operation, self.axes[number])
        remove_numbers(dynamic)


def _axes_of(operation: ir.Operation, context: FunctionContext) -> FactorAxes | None:
    """Return the axes along which an operation is computed; None if it has no rule."""
    rule = context.rules.rule(operation)
    if rule is None:
        return None
    rule = rule_on_shards(operation, rule)
    form = form_of(operation, rule)
    rule = rule if form is None else form.rule
    values = (*operation.operands, *operation.results)
    shardings = tuple(get_sharding(value) for value in values)
    reference = majority_mesh(shardings, context.meshes)
    mesh = context.meshes.get(reference) if isinstance(reference, str) else reference
    if mesh is None or mesh.is_maximal:
        return None
    projection = ShardingProjection.of(rule, shardings, mesh, closed_if_missing=True)
    return compatible_axes(rule, projection)
