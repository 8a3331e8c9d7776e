# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The communication of operations whose shards need elements of other shards.

A window of 3 over an image whose rows are sharded needs one row of each neighbor: two permutes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from mlir_sdy.model import Mesh, Shape
from pyshardy.cost.collectives import PlannedCollective
from pyshardy.irtools.tensor_types import shard_shape
from pyshardy.partition.types.exchange_form import ExchangeForm
from pyshardy.partition.types.factor_axes import FactorAxes
from pyshardy.partition.types.steps import AxesPerDim


def exchange_collectives(
    form: ExchangeForm,
    factors: FactorAxes,
    operands: Sequence[AxesPerDim],
    shapes: Sequence[Shape],
    nbytes: Sequence[int],
    mesh: Mesh,
) -> tuple[PlannedCollective, ...] | None:
    """Return the collectives of an exchange; None if it isn't profitable along a factor.

    Factors are exchanged one after the other, so that a later one sends the corners, too: elements
    that an earlier one has received.

    Args:
        form: the exchange form of the operation.
        factors: the axes of each factor of the form's rule.
        operands: the axes of the operands.
        shapes: the global shapes of the operands.
        nbytes: the bytes of an element of each.
        mesh: the mesh.
    """
    found: list[PlannedCollective] = []
    sizes = shard_sizes(operands, shapes, mesh)
    for factor in sorted(form.factors):
        axes = factors[factor]
        num_shards = mesh.axes_size(axes)
        if num_shards == 1:
            continue
        if not form.is_profitable(factor, num_shards):
            return None
        rest = bytes_beside(form, factor, sizes, nbytes)
        gathered = form.gathered(factor) * rest
        if gathered:
            found.append(PlannedCollective.along("all_gather", axes, gathered, mesh))
        for plan in form.exchange_plans(factor, num_shards):
            found += [
                PlannedCollective.along("collective_permute", axes, permute.length * rest, mesh)
                for permute in plan.permutes
                if not permute.is_local
            ]
        for at, dim in places_of(form, factor):
            sizes[at][dim] = form.size_after(factor, num_shards, sizes[at][dim])
    return tuple(found)


def shard_sizes(
    operands: Sequence[AxesPerDim], shapes: Sequence[Shape], mesh: Mesh
) -> list[list[int]]:
    """Return the sizes of a shard of each operand, padding included.

    Args:
        operands: the axes of the operands.
        shapes: the global shapes of the operands.
        mesh: the mesh.
    """
    return [shard_shape(shape, axes, mesh) for shape, axes in zip(shapes, operands, strict=False)]


def bytes_beside(
    form: ExchangeForm, factor: int, sizes: Sequence[Sequence[int]], nbytes: Sequence[int]
) -> int:
    """Return the bytes of a shard for one position along a factor, of the largest operand.

    Args:
        form: the exchange form of the operation.
        factor: the factor.
        sizes: the sizes of the dimensions of a shard of each operand.
        nbytes: the bytes of an element of each.
    """
    return max(
        (
            nbytes[at] * math.prod(size for other, size in enumerate(sizes[at]) if other != dim)
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
