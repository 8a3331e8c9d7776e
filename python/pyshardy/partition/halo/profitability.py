# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The communication of halo exchange, and the factors along which it is profitable.

A window of 3 over an image whose rows are sharded needs one row of each neighbor: two permutes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from mlir_sdy.model import AxisTuple, Mesh, OpShardingRule, Shape
from pyshardy.cost.collectives import PlannedCollective
from pyshardy.irtools.tensor_types import shape_of, shard_shape
from pyshardy.partition.partial.reductions import blocked_factors
from pyshardy.partition.types.compatible_shardings import CompatibleShardings, Shardings
from pyshardy.partition.types.exchange_plan import ExchangeForm
from pyshardy.partition.types.factor_axes import FactorAxes
from pyshardy.partition.types.steps import AxesPerDim

ResolveByRule = Callable[[OpShardingRule, frozenset[int]], CompatibleShardings | None]
"""Returns compatible shardings by a rule, given the factors that must not be sharded."""


def factors_to_replicate(
    form: ExchangeForm,
    shardings: Shardings,
    meshes: Mapping[str, Mesh],
    resolve: ResolveByRule,
    *,
    exchanges: bool = True,
) -> frozenset[int]:
    """Return the factors that must not be sharded, if shards exchange data along all others.

    1. Blocked factors along which the form exchanges nothing.
    2. Factors along which shards would receive more than by gathering the tensors, in the
       compatible shardings; or anything at all, if shards must not exchange data.
    3. All factors of the form, if a dimension of several factors would be padded: the padding would
       not stay at the end of each group.

    Args:
        form: the form of the operation.
        shardings: those of its operands, then results.
        meshes: the meshes of the module by name.
        resolve: returns compatible shardings by a rule.
        exchanges: whether shards may exchange data.
    """
    values = (*form.operation.operands, *form.operation.results)
    shapes = tuple(shape_of(each.type) for each in values)
    replicated = blocked_factors(form.operation, form.rule) - form.factors
    while (compatible := resolve(form.rule, replicated)) is not None:
        chosen = tuple(new or old for new, old in zip(compatible.shardings, shardings, strict=True))
        refused = _refused(form, chosen, shapes, _mesh(compatible, meshes), exchanges) - replicated
        if not refused:
            break
        replicated |= refused
    return replicated


def axes_of_factors(
    rule: OpShardingRule, shardings: Shardings, factors: frozenset[int]
) -> dict[int, set[AxisTuple]]:
    """Return the distinct axes of the dimensions of the factors.

    Each must be the only factor of its dimensions.
    """
    found: dict[int, set[AxisTuple]] = {factor: set() for factor in factors}
    for mapping, sharding in zip(rule.mappings, shardings, strict=True):
        for dim, dim_mapping in enumerate(mapping.dim_mappings):
            for factor in factors.intersection(dim_mapping.factor_indices):
                found[factor].add(() if sharding is None else sharding.dim_axes[dim])
    return found


def _mesh(compatible: CompatibleShardings, meshes: Mapping[str, Mesh]) -> Mesh:
    mesh = compatible.mesh_or_ref
    return meshes[mesh] if isinstance(mesh, str) else mesh


def _refused(
    form: ExchangeForm,
    shardings: Shardings,
    shapes: Sequence[Shape],
    mesh: Mesh,
    exchanges: bool,
) -> frozenset[int]:
    """Return the factors of conditions 2 and 3 of `factors_to_replicate`."""
    if _pads_a_group(form, shardings, shapes, mesh):
        return form.factors
    is_accepted = form.is_profitable if exchanges else form.sends_nothing
    return frozenset(
        factor
        for factor, lists in axes_of_factors(form.rule, shardings, form.factors).items()
        if any(axes and not is_accepted(factor, mesh.axes_size(axes)) for axes in lists)
    )


def _pads_a_group(
    form: ExchangeForm, shardings: Shardings, shapes: Sequence[Shape], mesh: Mesh
) -> bool:
    """Whether a dimension would be padded that has more than a factor above 1."""
    for mapping, sharding, shape in zip(form.rule.mappings, shardings, shapes, strict=True):
        if sharding is None or sharding.divides(shape, mesh):
            continue
        padded = sharding.global_shape(sharding.local_shape(shape, mesh), mesh)
        for dim, dim_mapping in enumerate(mapping.dim_mappings):
            factors = dim_mapping.factor_indices
            is_padded = padded[dim] != shape[dim] and not form.factors.intersection(factors)
            if is_padded and (len(factors) != 1 or form.rule.factor_sizes[factors[0]] == 1):
                return True
    return False


# --- The communication of an exchange -------------------------------------------------------------


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
    """Return the exchanged operands and their dimensions that have a factor."""
    return [
        (at, dim)
        for at, mapping in enumerate(form.rule.operand_mappings)
        if form.moves(at)
        for dim, of_dim in enumerate(mapping.dim_mappings)
        if factor in of_dim.factor_indices
    ]
