# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Choice of the axes of each factor of an operation with the least communication.

`factor_axes` resolves conflicts as Shardy does, by the sizes of tensors alone. Here its choice is
compared with other candidates:

1. Each factor gets axes that it has in some tensor, or in Shardy's choice, or none.
2. Axes of a factor that must not be sharded may go to another factor that they divide instead, so
   that an all-to-all replaces an all-gather.
3. Where results have to be completed, factors of the results may also get an axis that no tensor
   uses: slicing the operands is free, and an all-reduce of a part of the result, with an
   all-gather of it, may send less than an all-reduce of the full result.
4. No axis shards two factors, nor do sub-axes that can't coexist. Factors whose dimensions can't be
   padded only get axes that divide them: otherwise their dimensions would be gathered later.
5. The completion of an addend of a sum that a loop accumulates is carried out once, after the
   loop, and its cost is divided by the number of iterations. So is that of a reshard of an operand
   that a loop doesn't change, which is carried out before the loop.
6. The cost of a candidate is the time in which devices reshard the operands, complete the results
   and reshard these, and of the computation on the given hardware (see `pyshardy.cost`). The
   cheapest candidate is taken; Shardy's choice unless another one is cheaper.
7. If shards exchange elements, the time of that counts as well, among the candidates that send no
   more bytes than the one that is cheapest without it.

Example: on a mesh `<["x"=2]>`, `[i, k], [k, j] -> [i, j]` of 4 x 64 and 64 x 64 numbers of four
bytes, the first operand sharded along `k`, the other tensors replicated. Shardy slices the second
operand and completes the result of 1,024 bytes by an all-reduce, in which a device sends as many.
To gather the first operand, a device sends its half, 512 bytes, and on the default hardware it
computes the other half in the time of 136 more; so the operand is gathered. If the second operand
were sharded along `k`, too, it would have to be gathered as well, and the all-reduce would be
cheaper.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mlir_sdy.model import (
    AxisRef,
    AxisTuple,
    Mesh,
    OpShardingRule,
    Shape,
    add_or_merge,
    dividing_axes,
)
from pyshardy.cost.collectives import PlannedCollective, traffic_of
from pyshardy.cost.default_hardware import PreferredKind
from pyshardy.cost.hardware import Hardware
from pyshardy.irtools.tensor_types import shard_elements
from pyshardy.partition.choice.enumerate import combinations
from pyshardy.partition.halo.profitability import exchange_collectives
from pyshardy.partition.op_facts.invariant_computations import MOST_BYTES
from pyshardy.partition.resharding.completions import completion_collectives, completion_cost
from pyshardy.partition.resharding.cost import Reshard, reshard_collectives, reshard_cost
from pyshardy.partition.types.exchange_plan import ExchangeForm
from pyshardy.partition.types.factor_axes import (
    FactorAxes,
    are_disjoint,
    axes_of_tensors,
    contracted_axes,
)
from pyshardy.partition.types.steps import AxesPerDim
from pyshardy.propagation.projection import ShardingProjection

_MOST_ANSWERS = 1024
"""The limit on the number of candidates; above it, Shardy's choice is taken."""


@dataclass(frozen=True, slots=True)
class FactorTensor:
    """An operand or a result.

    Attributes:
        shape: the global shape.
        nbytes: the bytes of an element.
        axes: the axes of each dimension, as it has them, or as its users need them.
        is_accessed: whether the operation reads or writes all of its elements.
    """

    shape: Shape
    nbytes: int
    axes: AxesPerDim
    is_accessed: bool = True

    def reshard(self, source: AxesPerDim, target: AxesPerDim, mesh: Mesh) -> Reshard:
        """Return the reshard between two lists of axes."""
        return Reshard(self.shape, self.nbytes, source, target, mesh)


@dataclass(frozen=True, slots=True)
class ComparedAxes:
    """Axes of the factors of an operation, with what they cost.

    Attributes:
        axes: the axes of each factor.
        collectives: the collectives of the operation with the tensors that they are for, by their
            positions among its operands and results.
        seconds: the time of communication and computation.
    """

    axes: FactorAxes
    collectives: tuple[tuple[int, PlannedCollective], ...]
    seconds: float

    @property
    def nbytes_sent(self) -> int:
        """The bytes that a device sends."""
        return round(sum(each.sent for _, each in self.collectives))


@dataclass(frozen=True, slots=True)
class AxisComparison:
    """The comparison of the axes that the factors of an operation may have.

    Attributes:
        rule: the sharding rule of the operation.
        projection: the shardings of its operands and results by factors.
        tensors: its operands, then results.
        blocked: the factors that must not be sharded.
        answer: the choice of `choose_factor_axes`, without axes for blocked factors.
        mesh: the mesh of all shardings.
        hardware: the devices and links.
        even: the factors that axes must divide, which they do in `answer`.
        taken: the names of axes that no dimension may have: those of enclosing manual computations,
            and those along which some tensor is explicitly replicated.
        addends: the number of such results that a loop accumulates (see `trips_of_accumulation`).
        completed: axes along which the sum that the result is added to is completed in any case.
        uses: for each operand how often loops use it unchanged; empty if none is. It is resharded
            once for all of these, if loops may keep it.
        form: the form of an exchange whose time counts.
    """

    rule: OpShardingRule
    projection: ShardingProjection
    tensors: Sequence[FactorTensor]
    blocked: frozenset[int]
    answer: FactorAxes
    mesh: Mesh
    hardware: Hardware
    even: frozenset[int] = frozenset()
    taken: frozenset[str] = frozenset()
    addends: float = 1
    completed: AxisTuple = ()
    uses: Sequence[int] = ()
    form: ExchangeForm | None = None

    def cheapest(self, prefer: PreferredKind = "none") -> FactorAxes:
        """Return the cheapest axes for each factor.

        Args:
            prefer: a kind of collective. The cheapest candidate that has collectives of this kind,
                and no others, is taken if there is one.
        """
        if self.rule.has_dims_with_several_factors or self._communication(self.answer) == 0:
            return self.answer
        candidates = self._candidates()
        if self.form is not None:
            most = self._sent(replace(self, form=None).cheapest(prefer))
            candidates = [each for each in candidates if self._sent(each) <= most]
        if prefer != "none":
            kinds = ({each.kind for _, each in self._collectives(axes)} for axes in candidates)
            pairs = zip(candidates, kinds, strict=True)
            candidates = [axes for axes, found in pairs if found == {prefer}] or candidates
        return min(candidates, key=self._cost)

    def alternatives(self) -> list[ComparedAxes]:
        """Return what `cheapest` compares, the cheapest first; Shardy's choice wins ties."""
        candidates = [self.answer]
        if not self.rule.has_dims_with_several_factors:
            candidates = self._candidates()
        compared = (
            ComparedAxes(each, self._collectives(each), self._cost(each)) for each in candidates
        )
        return sorted(compared, key=lambda each: each.seconds)

    # --- Candidates -------------------------------------------------------------------------

    def _candidates(self) -> list[FactorAxes]:
        """Return the axes to compare: Shardy's choice first, and alone if there are too many."""
        options = self._options()
        if math.prod(map(len, options)) > _MOST_ANSWERS:
            return [self.answer]
        return [self.answer, *(each for each in combinations(options) if each != self.answer)]

    def _options(self) -> list[list[AxisTuple]]:
        """Return the lists of axes that each factor may get."""
        rule, projection, answer, mesh = self.rule, self.projection, self.answer, self.mesh
        unsharded = self.blocked.union(rule.need_replication_factors)
        freed = [
            tensor.axes(factor)
            for factor in sorted(unsharded)
            for tensor in projection.having(factor)
            if tensor.axes(factor)
        ]
        idle: list[AxisTuple] = []
        if any(answer[factor] for factor in rule.reduction_factors):
            idle = [(axis,) for axis in self._idle_axes() if axis.name not in self.taken]
        options: list[list[AxisTuple]] = []
        for factor in range(rule.num_factors):
            having = list(projection.having(factor))
            if factor in unsharded or not having:  # no tensor has what a halo form replaced
                options.append([()])
                continue
            seen = {answer[factor]: None, (): None}  # a dictionary preserves the order
            for tensor in having:
                axes = tensor.axes(factor)
                if factor in self.even:
                    axes = dividing_axes(axes, rule.factor_sizes[factor], mesh)
                seen[axes] = None
            added = freed if factor in rule.reduction_factors else [*freed, *idle]
            for axes, more in itertools.product(list(seen), added):
                longer = axes
                for axis in more:
                    longer = add_or_merge(longer, axis, mesh)
                is_new = are_disjoint((axes, more))
                if is_new and rule.factor_sizes[factor] % mesh.axes_size(longer) == 0:
                    seen[longer] = None
            options.append(list(seen))
        return options

    def _idle_axes(self) -> Iterator[AxisRef]:
        """Yield the axes of the mesh that shard nothing, in the tensors or in Shardy's choice."""
        used = {axis.name for axes in self.answer for axis in axes}
        for tensor in self.projection.tensors:
            used |= {axis.name for sharding in tensor.factors.values() for axis in sharding.axes}
        return (AxisRef(name) for name in self.mesh.axis_names if name not in used)

    # --- Costs ------------------------------------------------------------------------------

    def _cost(self, answer: FactorAxes) -> float:
        """Return the seconds of communication and computation."""
        operations = 2 * shard_elements(self._sizes(), answer, self.mesh)
        accessed = sum(
            tensor.nbytes * shard_elements(tensor.shape, axes, self.mesh)
            for tensor, axes in self._with_axes(answer)
            if tensor.is_accessed
        )
        return self._communication(answer) + self.hardware.work_seconds(operations, accessed)

    def _sizes(self) -> Shape:
        """Return the sizes of the factors; 1 for a factor that a halo form has replaced."""
        return tuple(
            [
                size if any(self.projection.having(factor)) else 1
                for factor, size in enumerate(self.rule.factor_sizes)
            ]
        )

    def _with_axes(self, answer: FactorAxes) -> list[tuple[FactorTensor, AxesPerDim]]:
        """Return the tensors with their axes for those of the factors."""
        return list(zip(self.tensors, axes_of_tensors(self.rule, answer, self.mesh), strict=True))

    def _collectives(self, answer: FactorAxes) -> tuple[tuple[int, PlannedCollective], ...]:
        """Return the collectives with the tensors that they are for."""
        mesh = self.mesh
        reduced = contracted_axes(self.rule, answer, mesh)
        found: list[tuple[int, PlannedCollective]] = []
        for position, (tensor, axes) in enumerate(self._with_axes(answer)):
            if position < len(self.rule.operand_mappings):
                planned = reshard_collectives(tensor.reshard(tensor.axes, axes, mesh))
            else:
                reshard = tensor.reshard(axes, tensor.axes, mesh)
                planned = (
                    completion_collectives(reshard, reduced)
                    if reduced
                    else reshard_collectives(reshard)
                )
            found += ((position, each) for each in planned if each.sent)
        return tuple(found)

    def _communication(self, answer: FactorAxes) -> float:
        """Return the seconds of communication."""
        mesh, hardware = self.mesh, self.hardware
        num_operands = len(self.rule.operand_mappings)
        reduced = contracted_axes(self.rule, answer, mesh)
        pairs = self._with_axes(answer)
        seconds = 0.0
        all_uses = self.uses or (1,) * num_operands
        for (tensor, axes), uses in zip(pairs[:num_operands], all_uses, strict=True):
            reshard = tensor.reshard(tensor.axes, axes, mesh)
            kept = tensor.nbytes * shard_elements(tensor.shape, reshard.target, mesh)
            seconds += reshard_cost(reshard, hardware) / (uses if kept <= MOST_BYTES else 1)
        completions = 0.0
        addends = math.inf if reduced and reduced == self.completed else self.addends
        for tensor, axes in pairs[num_operands:]:
            reshard = tensor.reshard(axes, tensor.axes, mesh)
            completions += completion_cost(reshard, reduced, hardware, addends)
        exchange = self._exchange(answer)
        if exchange is None:
            return math.inf
        return seconds + completions + traffic_of(exchange, hardware).seconds

    def _exchange(self, answer: FactorAxes) -> tuple[PlannedCollective, ...] | None:
        """Return the collectives of the exchange; None if a gather replaces it."""
        if self.form is None:
            return ()
        tensors, axes = zip(*self._with_axes(answer), strict=True)
        shapes, nbytes = [each.shape for each in tensors], [each.nbytes for each in tensors]
        return exchange_collectives(self.form, answer, axes, shapes, nbytes, self.mesh)

    def _sent(self, answer: FactorAxes) -> float:
        """Return the bytes that a device sends, in an exchange, too."""
        exchange = self._exchange(answer)
        if exchange is None:
            return math.inf
        others = (each for _, each in self._collectives(answer))
        return sum(each.sent for each in (*exchange, *others))
