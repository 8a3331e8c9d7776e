# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which axes each factor of an operation gets, so that devices send the fewest bytes.

`factor_axes` settles disagreements as Shardy does, by the sizes of tensors alone. Here its answer
competes with others:

1. Each factor gets axes that it has in some tensor, or in Shardy's answer, or none.
2. Axes of a factor that must not be sharded may go to another factor that they divide instead, so
   that an all-to-all takes the place of an all-gather.
3. Where results have to be completed, factors of the results may also get an axis that no tensor
   uses: slicing the operands is free, and an all-reduce of a part of the result, with an
   all-gather of it, may send less than an all-reduce of the whole.
4. No axis is used by two factors, nor parts of one that can't coexist.
5. What completes an addend of a sum that a loop adds up is carried out once, after the loop, and
   costs its share in each trip.
6. The cost of an answer is what devices send to reshard the operands, to complete the results and
   to reshard those, and what they compute (see `cost`). The cheapest answer wins; Shardy's does
   unless another one is cheaper.

Example: on a mesh `<["x"=2]>`, `[i, k], [k, j] -> [i, j]` of 4 x 64 and 64 x 64 numbers of four
bytes, the first operand sharded along `k`, the others not at all. Shardy slices the second operand
and completes the result of 1,024 bytes by an all-reduce, in which a device sends as many. Gathering
the first operand sends its half, 512 bytes, and the work of the other half is worth 136; so that is
done. Were the second operand sharded along `k`, too, it would have to be gathered as well, and the
all-reduce would stay.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mlir_sdy.model import (
    AxisRef,
    AxisTuple,
    Mesh,
    OpShardingRule,
    TensorMapping,
    add_or_merge,
    lists_overlap,
    sort_and_merge,
)
from pyshardy.partition.compatibility.factor_axes import Shape
from pyshardy.partition.resharding.cost import (
    completion_cost,
    local_elements,
    reshard_cost,
    work_cost,
)
from pyshardy.partition.resharding.plan import AxesPerDim
from pyshardy.propagation.projection import ShardingProjection

FactorAxes = tuple[AxisTuple, ...]

_MOST_ANSWERS = 1024
"""Where there are more, Shardy's answer stands."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """An operand or a result.

    Attributes:
        shape: the global shape.
        nbytes: the bytes of an element.
        axes: the axes of each dimension that it has, or that its users want.
    """

    shape: Shape
    nbytes: int
    axes: AxesPerDim


def cheapest_factor_axes(
    rule: OpShardingRule,
    projection: ShardingProjection,
    tensors: Sequence[Tensor],
    blocked: frozenset[int],
    answer: FactorAxes,
    mesh: Mesh,
    taken: frozenset[str] = frozenset(),
    addends: int = 1,
) -> FactorAxes:
    """The axes for each factor that cost the least.

    Args:
        rule: the sharding rule of the operation.
        projection: the shardings of its operands and results by factors.
        tensors: its operands, then results.
        blocked: the factors that must not be sharded.
        answer: what `choose_factor_axes` says, without axes for blocked factors.
        mesh: the mesh of all shardings.
        taken: the names of axes that no dimension may have: those of manual computations around,
            and those that some tensor is explicitly replicated along.
        addends: how many of these results a loop adds up (see `trips_of_accumulation`).
    """
    if rule.has_dims_with_several_factors:
        return answer
    judge = _Judge(rule, tuple(tensors), mesh, addends)
    if judge.communication(answer) == 0:
        return answer
    options = _options(rule, projection, blocked, answer, mesh, taken)
    if math.prod(map(len, options)) > _MOST_ANSWERS:
        return answer
    cheapest, lowest = answer, judge.cost(answer)
    for other in _without_overlaps(options):
        cost = judge.cost(other)
        if cost < lowest:
            cheapest, lowest = other, cost
    return cheapest


def _options(
    rule: OpShardingRule,
    projection: ShardingProjection,
    blocked: frozenset[int],
    answer: FactorAxes,
    mesh: Mesh,
    taken: frozenset[str],
) -> list[list[AxisTuple]]:
    """The lists of axes that each factor may get."""
    unsharded = blocked.union(rule.need_replication_factors)
    freed = [
        tensor.axes(factor)
        for factor in sorted(unsharded)
        for tensor in projection.having(factor)
        if tensor.axes(factor)
    ]
    idle: list[AxisTuple] = []
    if any(answer[factor] for factor in rule.reduction_factors):
        axes = _idle_axes(projection, answer, mesh)
        idle = [(axis,) for axis in axes if axis.name not in taken]
    options: list[list[AxisTuple]] = []
    for factor in range(rule.num_factors):
        if factor in unsharded:
            options.append([()])
            continue
        seen = {answer[factor]: None, (): None}  # a dictionary keeps the order
        seen |= {tensor.axes(factor): None for tensor in projection.having(factor)}
        added = freed if factor in rule.reduction_factors else [*freed, *idle]
        for axes, more in itertools.product(list(seen), added):
            longer = axes
            for axis in more:
                longer = add_or_merge(longer, axis, mesh)
            is_new = not _conflict(axes, more)
            if is_new and rule.factor_sizes[factor] % mesh.axes_size(longer) == 0:
                seen[longer] = None
        options.append(list(seen))
    return options


def _idle_axes(projection: ShardingProjection, answer: FactorAxes, mesh: Mesh) -> Iterator[AxisRef]:
    """The axes of the mesh along which nothing is sharded, neither before nor in the answer."""
    used = {axis.name for axes in answer for axis in axes}
    for tensor in projection.tensors:
        used |= {axis.name for sharding in tensor.factors.values() for axis in sharding.axes}
    return (AxisRef(name) for name in mesh.axis_names if name not in used)


def _without_overlaps(options: Sequence[Sequence[AxisTuple]]) -> Iterator[FactorAxes]:
    """All choices of an option for each factor in which no axis is used twice."""

    def extended(chosen: FactorAxes) -> Iterator[FactorAxes]:
        if len(chosen) == len(options):
            yield chosen
            return
        for axes in options[len(chosen)]:
            if not any(_conflict(axes, other) for other in chosen):
                yield from extended((*chosen, axes))

    return extended(())


def _conflict(axes: AxisTuple, others: AxisTuple) -> bool:
    """Whether two lists have a part of an axis in common, or parts that no mesh can tell apart."""
    return lists_overlap(axes, others) or not all(
        axis.can_coexist(other) for axis in axes for other in others
    )


class _Judge:
    """What answers cost."""

    def __init__(
        self, rule: OpShardingRule, tensors: tuple[Tensor, ...], mesh: Mesh, addends: int = 1
    ):
        self.rule = rule
        self.mesh = mesh
        self.addends = addends
        pairs = list(zip(rule.mappings, tensors, strict=True))
        self.operands = pairs[: len(rule.operand_mappings)]
        self.results = pairs[len(rule.operand_mappings) :]

    def cost(self, answer: FactorAxes) -> float:
        """What devices send, and what they compute meanwhile, in bytes."""
        pieces = zip(self.rule.factor_sizes, answer, strict=True)
        operations = 2 * math.prod(-(-size // self.mesh.axes_size(axes)) for size, axes in pieces)
        accessed = sum(
            tensor.nbytes * local_elements(tensor.shape, _axes(mapping, answer), self.mesh)
            for mapping, tensor in (*self.operands, *self.results)
        )
        return self.communication(answer) + work_cost(operations, accessed)

    def communication(self, answer: FactorAxes) -> float:
        """The bytes that devices send."""
        mesh = self.mesh
        reduced = sort_and_merge(
            (axis for factor in self.rule.reduction_factors for axis in answer[factor]), mesh
        )
        return sum(
            reshard_cost(tensor.shape, tensor.nbytes, tensor.axes, _axes(mapping, answer), mesh)
            for mapping, tensor in self.operands
        ) + sum(
            completion_cost(
                tensor.shape,
                tensor.nbytes,
                _axes(mapping, answer),
                reduced,
                tensor.axes,
                mesh,
                self.addends,
            )
            for mapping, tensor in self.results
        )


def _axes(mapping: TensorMapping, answer: FactorAxes) -> AxesPerDim:
    """The axes of each dimension of a tensor; no dimension has several factors."""
    return tuple(
        answer[dim.factor_indices[0]] if dim.factor_indices else () for dim in mapping.dim_mappings
    )
