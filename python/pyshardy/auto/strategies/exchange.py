# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The communication of operations whose shards need elements of other shards.

A window of 3 over an image whose rows are sharded needs one row of each neighbor: two permutes. The
rows are then joined to the shard, which copies it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir_sdy.model import Mesh, Shape
from pyshardy.auto.strategies.costs import Collectives
from pyshardy.auto.strategies.padding import MASK_BYTES
from pyshardy.auto.strategies.strategy import Strategy
from pyshardy.irtools.tensor_types import shard_elements
from pyshardy.partition.halo.emit_exchange import joined_places
from pyshardy.partition.halo.profitability import (
    bytes_beside,
    exchange_collectives,
    places_of,
    shard_sizes,
)
from pyshardy.partition.types.exchange_plan import ExchangeForm, ExchangePlan


@dataclass(frozen=True, slots=True)
class Exchange:
    """An exchange between shards.

    Attributes:
        collectives: its collectives.
        accessed: the bytes that are read and written where elements are cut, joined and selected.
        shapes: the shapes of the operands on a device afterwards.
    """

    collectives: Collectives
    accessed: float
    shapes: tuple[Shape, ...]


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
    operands = strategy.operands
    collectives = exchange_collectives(form, strategy.factors, operands, shapes, nbytes, mesh)
    if collectives is None:
        return None
    accessed = 0.0
    sizes = shard_sizes(operands, shapes, mesh)
    for factor in sorted(form.factors):
        num_shards = mesh.axes_size(strategy.factors[factor])
        if num_shards == 1:
            continue
        places = places_of(form, factor)
        rest = bytes_beside(form, factor, sizes, nbytes)
        shard_size = max((sizes[at][dim] for at, dim in places), default=0)
        for plan in form.exchange_plans(factor, num_shards):
            accessed += _accessed(plan, shard_size, nbytes[0]) * rest / nbytes[0]
        for at, dim in places:
            sizes[at][dim] = form.size_after(factor, num_shards, sizes[at][dim])
    accessed += _masked(form, strategy, shapes, nbytes, mesh)
    return Exchange(collectives, accessed, tuple(map(tuple, sizes)))


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
            accessed += shard_elements(shape, axes, mesh) * (padded * MASK_BYTES + 4 * nbytes[at])
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
