# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The axes of the factors of an operation that a plan has chosen.

    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      {sdy.factor_axes = #sdy<list_of_axis_ref_lists[{"x"}, {}, {}]>}

is computed on shards of its first factor along `x`, whatever the shardings of its operands and
results. The shardings of values alone don't determine that: with an operand that several
operations use, it can be cheaper for all of them together to gather it than for each of them.
"""

from __future__ import annotations

from mlir_sdy.attributes import attribute_of, value_of
from mlir_sdy.discardable import get_discardable, has_discardable, set_discardable
from mlir_sdy.host import ir
from mlir_sdy.model import AxisRefList, ListOfAxisRefLists, Mesh, OpShardingRule, lists_overlap
from pyshardy.partition.types.factor_axes import FactorAxes

FACTOR_AXES = "sdy.factor_axes"
"""The attribute."""


def set_planned_axes(operation: ir.Operation, axes: FactorAxes) -> None:
    """Set the axes of the factors of an operation's rule."""
    lists = ListOfAxisRefLists(tuple(map(AxisRefList, axes)))
    set_discardable(operation, FACTOR_AXES, attribute_of(lists, operation.context))


def has_planned_axes(operation: ir.Operation) -> bool:
    """Whether a plan has chosen the axes of an operation."""
    return has_discardable(operation, FACTOR_AXES)


def planned_axes(
    operation: ir.Operation, rule: OpShardingRule, blocked: frozenset[int], mesh: Mesh
) -> FactorAxes | None:
    """Return the axes that a plan has chosen for an operation; None if it can't have them.

    It can't if the rule has another number of factors, a factor must not be sharded, or an axis is
    not one of the mesh or shards two factors: a pass has changed the operation since.

    Args:
        operation: the operation.
        rule: the rule by which it is partitioned.
        blocked: the factors that must not be sharded.
        mesh: the mesh of its tensors.
    """
    attribute = get_discardable(operation, FACTOR_AXES)
    if attribute is None:
        return None
    lists = value_of(attribute)
    if not isinstance(lists, ListOfAxisRefLists) or len(lists.value) != rule.num_factors:
        return None
    axes = tuple(each.value for each in lists.value)
    if any(ref.name not in mesh.axis_names for each in axes for ref in each):
        return None
    if any(lists_overlap(each, other) for at, each in enumerate(axes) for other in axes[:at]):
        return None
    return None if any(axes[factor] for factor in blocked) else axes
