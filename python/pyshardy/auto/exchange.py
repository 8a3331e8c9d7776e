# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The communication of operations whose shards need elements of other shards.

A window of 3 over an image whose rows are sharded needs one row of each neighbor: two permutes. The
rows are then joined to the shard, which copies it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mlir_sdy.model import Mesh
from mlir_sdy.model.communication import share_sent
from pyshardy.auto.costs import Collectives
from pyshardy.auto.padding import MASK_BYTES
from pyshardy.auto.strategies import Strategy
from pyshardy.partition.compatibility.factor_axes import Shape
from pyshardy.partition.halo.emit_exchange import joined_places
from pyshardy.partition.halo.exchange_plan import ExchangePlan
from pyshardy.partition.halo.form import ExchangeForm
from pyshardy.partition.resharding.cost import PlannedCollective, local_elements
from pyshardy.partition.resharding.steps import AxesPerDim


@dataclass(frozen=True, slots=True)
class Exchange:
    """An exchange between shards.

    Attributes:
        collectives: its collectives.
        accessed: the bytes that are read and written where elements are cut, joined and selected.
    """

    collectives: Collectives = ()
    accessed: float = 0.0


def exchange_of(
    form: ExchangeForm,
    strategy: Strategy,
    shapes: Sequence[Shape],
    nbytes: Sequence[int],
    mesh: Mesh,
) -> Exchange | None:
    """Return the exchange of a strategy; None if that along a factor isn't profitable.

    Args:
        form: the exchange form of the operation.
        strategy: a strategy by the rule of the form.
        shapes: the global shapes of the operands, then results.
        nbytes: the bytes of an element of each.
        mesh: the mesh.
    """
    found: list[PlannedCollective] = []
    accessed = 0.0
    for factor in sorted(form.factors):
        axes = strategy.factors[factor]
        num_shards = mesh.axes_size(axes)
        if num_shards == 1:
            continue
        if not form.is_profitable(factor, num_shards):
            return None
        names = tuple(dict.fromkeys(axis.name for axis in axes))
        places = [
            (at, dim)
            for at, mapping in enumerate(form.rule.operand_mappings)
            for dim, factors in enumerate(mapping.dim_mappings)
            if factor in factors.factor_indices
        ]
        rest = max(
            (
                nbytes[at] * _elements_beside(shapes[at], strategy.operands[at], dim, mesh)
                for at, dim in places
            ),
            default=0,
        )
        shard_size = max((-(-shapes[at][dim] // num_shards) for at, dim in places), default=0)
        sent = float(form.gathered(factor) * rest * share_sent("all_gather", num_shards))
        if sent:
            found.append(PlannedCollective("all_gather", num_shards, names, sent))
        for plan in form.exchange_plans(factor, num_shards):
            accessed += _accessed(plan, shard_size, nbytes[0]) * rest / nbytes[0]
            found += [
                PlannedCollective(
                    "collective_permute", mesh.total_size, names, float(permute.length * rest)
                )
                for permute in plan.permutes
                if not permute.is_local
            ]
    return Exchange(tuple(found), accessed + _masked(form, strategy, shapes, nbytes, mesh))


def _masked(
    form: ExchangeForm,
    strategy: Strategy,
    shapes: Sequence[Shape],
    nbytes: Sequence[int],
    mesh: Mesh,
) -> float:
    """Return the bytes that are accessed to overwrite padding; see `exchange_of`."""
    accessed = 0.0
    for at, mapping in enumerate(form.rule.operand_mappings):
        shape, axes = shapes[at], strategy.operands[at]
        padded = sum(
            shape[dim] % mesh.axes_size(axes[dim]) != 0
            for dim, factors in enumerate(mapping.dim_mappings)
            if form.factors.intersection(factors.factor_indices)
        )
        if padded:
            accessed += local_elements(shape, axes, mesh) * (padded * MASK_BYTES + 4 * nbytes[at])
    return accessed


def _accessed(plan: ExchangePlan, shard_size: int, nbytes: int) -> float:
    """Return the bytes that are accessed to fill a buffer; see `emit_exchange`.

    Args:
        plan: the exchange.
        shard_size: the elements of a shard along the dimension.
        nbytes: the bytes of an element.
    """
    permutes = sorted(plan.permutes, key=lambda permute: min(permute.places))
    if not any(not permute.is_local or len({*permute.begins}) > 1 for permute in permutes):
        return 0.0
    total = sum(permute.length for permute in permutes)
    cut = 2 * sum(permute.length for permute in permutes if permute.length < shard_size)
    places = joined_places(permutes)
    if places is not None:
        is_exact = {*places} == {0} and total == plan.length
        joined = 2 * total if len(permutes) > 1 else 0
        return float(nbytes * (cut + joined + (0 if is_exact else 2 * plan.length)))
    moved = sum(permute.length + 3 * plan.length for permute in permutes)
    selected = (len(permutes) - 1) * plan.length
    return float(nbytes * (cut + moved) + (MASK_BYTES + 3 * nbytes) * selected)


def _elements_beside(shape: Shape, axes: AxesPerDim, dim: int, mesh: Mesh) -> int:
    """Return the elements of a shard for one position of a dimension."""
    return math.prod(
        -(-size // mesh.axes_size(each))
        for at, (size, each) in enumerate(zip(shape, axes, strict=True))
        if at != dim
    )
