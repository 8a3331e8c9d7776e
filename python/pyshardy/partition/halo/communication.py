# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The communication of operations whose shards need elements of other shards.

A window of 3 over an image whose rows are sharded needs one row of each neighbor: two permutes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from mlir_sdy.model import Mesh
from mlir_sdy.model.communication import share_sent
from pyshardy.partition.compatibility.factor_axes import FactorAxes, Shape
from pyshardy.partition.halo.form import ExchangeForm
from pyshardy.partition.resharding.cost import PlannedCollective
from pyshardy.partition.resharding.steps import AxesPerDim


def exchange_collectives(
    form: ExchangeForm,
    factors: FactorAxes,
    operands: Sequence[AxesPerDim],
    shapes: Sequence[Shape],
    nbytes: Sequence[int],
    mesh: Mesh,
) -> tuple[PlannedCollective, ...] | None:
    """Return the collectives of an exchange; None if it isn't profitable along a factor.

    Args:
        form: the exchange form of the operation.
        factors: the axes of each factor of the form's rule.
        operands: the axes of the operands.
        shapes: the global shapes of the operands.
        nbytes: the bytes of an element of each.
        mesh: the mesh.
    """
    found: list[PlannedCollective] = []
    for factor in sorted(form.factors):
        axes = factors[factor]
        num_shards = mesh.axes_size(axes)
        if num_shards == 1:
            continue
        if not form.is_profitable(factor, num_shards):
            return None
        names = tuple(dict.fromkeys(axis.name for axis in axes))
        rest = bytes_beside(form, factor, operands, shapes, nbytes, mesh)
        sent = float(form.gathered(factor) * rest * share_sent("all_gather", num_shards))
        if sent:
            found.append(PlannedCollective("all_gather", num_shards, names, sent))
        for plan in form.exchange_plans(factor, num_shards):
            found += [
                PlannedCollective(
                    "collective_permute", mesh.total_size, names, float(permute.length * rest)
                )
                for permute in plan.permutes
                if not permute.is_local
            ]
    return tuple(found)


def bytes_beside(
    form: ExchangeForm,
    factor: int,
    operands: Sequence[AxesPerDim],
    shapes: Sequence[Shape],
    nbytes: Sequence[int],
    mesh: Mesh,
) -> int:
    """Return the bytes of a shard for one position along a factor, of the largest operand.

    The arguments are those of `exchange_collectives`.
    """
    return max(
        (
            nbytes[at] * _elements_beside(shapes[at], operands[at], dim, mesh)
            for at, dim in places_of(form, factor)
        ),
        default=0,
    )


def places_of(form: ExchangeForm, factor: int) -> list[tuple[int, int]]:
    """Return the operands and dimensions that have a factor."""
    return [
        (at, dim)
        for at, mapping in enumerate(form.rule.operand_mappings)
        for dim, of_dim in enumerate(mapping.dim_mappings)
        if factor in of_dim.factor_indices
    ]


def _elements_beside(shape: Shape, axes: AxesPerDim, dim: int, mesh: Mesh) -> int:
    """Return the elements of a shard for one position of a dimension."""
    return math.prod(
        -(-size // mesh.axes_size(each))
        for at, (size, each) in enumerate(zip(shape, axes, strict=True))
        if at != dim
    )
