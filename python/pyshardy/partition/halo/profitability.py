# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The factors along which halo exchange is profitable, and those to replicate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from mlir_sdy.model import AxisTuple, Mesh, OpShardingRule, Shape
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.partition.partial.blocked_factors import blocked_factors
from pyshardy.partition.types.compatible_shardings import CompatibleShardings, Shardings
from pyshardy.partition.types.exchange_form import ExchangeForm

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
