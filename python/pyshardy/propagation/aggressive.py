# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The aggressive strategy: resolve conflicts between factors and tensors, tensor by tensor.

1. *Compatible axes.* For each factor f compute the list A(f) of its compatible axes, as in the
   basic strategy. All lists are computed before any tensor is expanded.

2. *Preference.* The *sources* of f are the tensors that have f sharded by A(f), or by more. The
   factors are taken in this order:

   1. the one with the largest source first, a tensor's size being the product of the sizes of
      its factors;
   2. of an element-wise operation, the one whose A(f) gives more shards;
   3. the one whose largest source (the first of several) comes first, operands before results;
   4. the one with the lower index.

   A factor without a source comes last.

3. *Expansion.* Each result, then each operand, takes for each of its factors in that order the
   part of A(f) that it can take itself: that `within_factor` and `without_other_factors` allow. An
   operand of an element-wise operation takes at most the axes that each result has by then, so
   that axes that a result refused don't travel sideways from one operand to another.

On a mesh `<["a"=2, "b"=2]>`:

| operation              | operands                         | result becomes                   |
|------------------------|----------------------------------|----------------------------------|
| dot of 8x4 and 4x16    | `[{"a"}, {?}]`, `[{?}, {"a"}]`   | `[{?}, {"a", ?}]`: larger source |
| dot of 8x8 and 8x8     | `[{"a"}, {?}]`, `[{?}, {"a"}]`   | `[{"a", ?}, {?}]`: first source  |
| add                    | `[{"a"}, {?}]`, `[{?}, {"a", "b"}]` | `[{?}, {"a", "b", ?}]`: shards |
| add                    | `[{"a", "b", ?}]`, `[{"a", "c", ?}]` | `[{"a", ?}]`: real conflict   |
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from mlir_sdy.model import (
    AxisTuple,
    Mesh,
    PrefixStatus,
    is_strict_prefix,
    prefix_status,
)
from pyshardy.propagation.basic import (
    StepInputs,
    compatible_major_axes,
    truncate,
    within_factor,
    without_other_factors,
)
from pyshardy.propagation.projection import ShardingProjection, TensorProjection


def propagate_aggressive(projection: ShardingProjection, step: StepInputs) -> set[int]:
    """Expand the factors of `projection` in place, and return the positions of expanded tensors.

    This is a `Strategy`.
    """
    factor_sizes, mesh, is_elementwise = step.factor_sizes, step.mesh, step.is_elementwise
    compatible = [
        compatible_major_axes(projection, factor, direction)
        for factor, direction in enumerate(step.directions)
    ]
    if not any(compatible):
        return set()
    order = preferred_order(projection, compatible, factor_sizes, mesh, is_elementwise)
    results = range(projection.num_operands, len(projection.tensors))
    expanded: set[int] = set()
    for position in (*results, *range(projection.num_operands)):
        tensor = projection.tensors[position]
        # Upper bounds for operands.
        bounds = projection.results if is_elementwise and position not in results else ()
        for factor in order:
            if factor not in tensor.factors:
                continue
            axes = _fitting_axes(
                tensor, factor, compatible[factor], factor_sizes[factor], mesh, step.conservative
            )
            if axes and tensor.expand(factor, _bounded(axes, factor, bounds)):
                expanded.add(position)
    return expanded


def preferred_order(
    projection: ShardingProjection,
    compatible: Sequence[AxisTuple],
    factor_sizes: Sequence[int],
    mesh: Mesh,
    is_elementwise: bool,
) -> list[int]:
    """Return the factors in the order in which they are expanded.

    Args:
        projection: the shardings before anything is expanded.
        compatible: the compatible axes of each factor.
        factor_sizes: the size of each factor.
        mesh: the mesh of all shardings.
        is_elementwise: whether the operation computes element by element.
    """
    sizes = [
        math.prod(factor_sizes[factor] for factor in tensor.factors)
        for tensor in projection.tensors
    ]

    def key(factor: int) -> tuple[int, int, int, int]:
        axes = compatible[factor]
        largest, source = -1, -1
        if axes:
            for position, tensor in enumerate(projection.tensors):
                known = tensor.factors.get(factor)
                if (
                    known is not None
                    and sizes[position] > largest
                    and prefix_status(axes, known.axes) is not PrefixStatus.NOT
                ):
                    largest, source = sizes[position], position
        num_shards = mesh.axes_size(axes) if is_elementwise else 0
        return -largest, -num_shards, source, factor

    return sorted(range(len(compatible)), key=key)


def _fitting_axes(
    tensor: TensorProjection,
    factor: int,
    axes: AxisTuple,
    size: int,
    mesh: Mesh,
    conservative: bool,
) -> AxisTuple:
    """Return the prefix of `axes` that the tensor can newly take along `factor`."""
    known = tensor.factors[factor].axes
    if not is_strict_prefix(known, axes):
        return ()
    within = truncate(
        axes,
        lambda axis, previous: within_factor(tensor, factor, size, axis, previous, mesh),
        mesh,
        conservative=conservative,
    )
    if not is_strict_prefix(known, within):
        return ()
    return truncate(
        within,
        lambda axis, _: without_other_factors(tensor, factor, axis),
        mesh,
        conservative=conservative,
    )


def _bounded(axes: AxisTuple, factor: int, bounds: Iterable[TensorProjection]) -> AxisTuple:
    """Cut `axes` to what all tensors of `bounds` have along `factor`."""
    for tensor in bounds:
        known = tensor.factors.get(factor)
        if known is not None and is_strict_prefix(known.axes, axes):
            axes = known.axes
    return axes
