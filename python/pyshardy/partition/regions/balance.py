# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The time and memory that the change of a region saves.

The time of a program is that of its operations and that of its values: a value is resharded once to
each of the other axes along which it is used. Both depend on the axes only, so that a change that
saves time is never undone by another one.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from itertools import islice
from typing import NamedTuple

from mlir_sdy.model import AxisTuple
from pyshardy.cost.hardware import Hardware
from pyshardy.irtools.tensor_types import shard_elements
from pyshardy.partition.halo.form_lookup import form_of
from pyshardy.partition.halo.profitability import exchange_collectives
from pyshardy.partition.regions.graph import RegionGraph, RegionValue, ValueUse
from pyshardy.partition.regions.growth import AxisRegion
from pyshardy.partition.regions.kinds import OperationKind, RegionFit, StaticTensor
from pyshardy.partition.resharding.completions import completion_cost
from pyshardy.partition.resharding.cost import Reshard, collective_cost, reshard_cost
from pyshardy.partition.types.factor_axes import FactorAxes, axes_of_tensors
from pyshardy.partition.types.steps import AxesPerDim

_ROUNDING = 1e-15
"""The seconds below which a difference is one of rounding."""


class _OperationSaving(NamedTuple):
    """The difference of the costs of an operation outside and in a region.

    Attributes:
        communication: the seconds of the all-reduce and of the halo exchange.
        computation: the seconds of the computation.
        before: the bytes of the result outside.
        after: the bytes of the result in the region.
    """

    communication: float
    computation: float
    before: int
    after: int


class _ValueSaving(NamedTuple):
    """The difference of the costs of a value's reshards before and after a change.

    Attributes:
        communication: the seconds.
        before: their bytes before.
        after: their bytes afterwards.
        is_input: whether the value comes from outside.
        shares_work: whether a reshard slices it for the region, so that devices share the work.
    """

    communication: float
    before: int
    after: int
    is_input: bool
    shares_work: bool


class RegionCosts:
    """The costs of operations and values on a mesh, each computed once.

    Args:
        graph: the values and operations.
        hardware: the devices and links.
    """

    def __init__(self, graph: RegionGraph, hardware: Hardware):
        self._mesh = graph.mesh
        self._hardware = hardware
        self._operations: dict[tuple[RegionFit, int], _OperationSaving] = {}
        self._nbytes: dict[tuple[StaticTensor, AxesPerDim], int] = {}
        self._uses: dict[Hashable, float] = {}

    def nbytes(self, tensor: StaticTensor, axes: AxesPerDim) -> int:
        """Return the bytes of a shard, padding included."""
        key = tensor, axes
        known = self._nbytes.get(key)
        if known is None:
            elements = shard_elements(tensor.shape, axes, self._mesh)
            known = self._nbytes[key] = tensor.element_bytes * elements
        return known

    # --- Values -----------------------------------------------------------------------------

    def uses(
        self,
        value: RegionValue,
        own: AxesPerDim,
        reduced: AxisTuple,
        wanted: Collection[AxesPerDim],
    ) -> float:
        """Return the seconds of the reshards of a value, each from the cheapest source.

        If an all-reduce completes the value only to reshard it once, a reduce-scatter may do both:
        the seconds are what the reshard adds to the all-reduce, and may be negative.

        Args:
            value: the value.
            own: the axes along which it is computed.
            reduced: the axes along which an all-reduce completes it.
            wanted: the axes along which it is used.
        """
        others = [each for each in wanted if each != own]
        if not others:
            return 0.0
        addends = value.addends if reduced else 1
        key = value.tensor, own, reduced, (*wanted,), addends
        seconds = self._uses.get(key)
        if seconds is None:
            if reduced and len(others) == len(wanted) == 1:
                (target,) = others
                seconds = self._completion(value.tensor, own, target, reduced, addends)
            else:
                seconds = self._tree(value.tensor, own, others)
            self._uses[key] = seconds
        return seconds

    def _completion(
        self,
        tensor: StaticTensor,
        source: AxesPerDim,
        target: AxesPerDim,
        reduced: AxisTuple,
        addends: int,
    ) -> float:
        reshard = Reshard(*tensor, source, target, self._mesh)
        seconds = completion_cost(reshard, reduced, self._hardware, addends)
        return seconds - self._all_reduce(tensor, source, reduced) / addends

    def _tree(
        self, tensor: StaticTensor, source: AxesPerDim, targets: Sequence[AxesPerDim]
    ) -> float:
        """Return the seconds of several reshards; the source of one may be the target of another.

        Each one could be the first. The cheapest one from those before comes next.
        """
        return min(self._made_after(tensor, source, first, targets) for first in targets)

    def _made_after(
        self,
        tensor: StaticTensor,
        source: AxesPerDim,
        first: AxesPerDim,
        targets: Sequence[AxesPerDim],
    ) -> float:
        left = {each: self._reshard(tensor, source, each) for each in targets}
        seconds, made = left.pop(first), first
        while left:
            for each, known in left.items():
                left[each] = min(known, self._reshard(tensor, made, each))
            made = min(left, key=left.__getitem__)
            seconds += left.pop(made)
        return seconds

    def _reshard(self, tensor: StaticTensor, source: AxesPerDim, target: AxesPerDim) -> float:
        return reshard_cost(Reshard(*tensor, source, target, self._mesh), self._hardware)

    def _all_reduce(self, tensor: StaticTensor, axes: AxesPerDim, reduced: AxisTuple) -> float:
        nbytes = self.nbytes(tensor, axes)
        return collective_cost("all_reduce", reduced, nbytes, self._mesh, self._hardware)

    # --- Operations -------------------------------------------------------------------------

    def operation(self, fit: RegionFit, addends: int) -> _OperationSaving:
        """Return what an operation costs less in a region.

        Args:
            fit: how it fits.
            addends: the number of results that share its all-reduce.
        """
        saving = self._operations.get((fit, addends))
        if saving is None:
            kind = fit.kind
            before = self._communication(kind, kind.factors, kind.axes, kind.reduced, addends)
            after = self._communication(kind, fit.factors, fit.axes, fit.reduced, addends)
            work = self._computation(kind, kind.factors, kind.axes)
            saving = self._operations[fit, addends] = _OperationSaving(
                before - after,
                work - self._computation(kind, fit.factors, fit.axes),
                self.nbytes(kind.tensors[-1], kind.axes[-1]),
                self.nbytes(kind.tensors[-1], fit.axes[-1]),
            )
        return saving

    def _computation(
        self, kind: OperationKind, factors: FactorAxes, axes: Sequence[AxesPerDim]
    ) -> float:
        """Return the seconds of the computation of an operation."""
        operations = shard_elements(kind.rule.factor_sizes, factors, self._mesh)
        accessed = sum(map(self.nbytes, kind.tensors, axes))
        return self._hardware.work_seconds(operations, accessed)

    def _communication(
        self,
        kind: OperationKind,
        factors: FactorAxes,
        axes: Sequence[AxesPerDim],
        reduced: AxisTuple,
        addends: int,
    ) -> float:
        """Return the seconds of the all-reduce and of the halo exchange of an operation."""
        seconds = 0.0
        if reduced:
            seconds = self._all_reduce(kind.tensors[-1], axes[-1], reduced) / addends
        if any(factors[factor] for factor in kind.rule.permutation_factors):
            seconds += self._exchange(kind, factors, axes[:-1])
        return seconds

    def _exchange(
        self, kind: OperationKind, factors: FactorAxes, operands: Sequence[AxesPerDim]
    ) -> float:
        """Return the seconds of a halo exchange, or of the all-gathers that replace it."""
        form = form_of(kind.operation, kind.rule)
        if form is not None and form.rule == kind.rule:
            shapes, nbytes = zip(*kind.tensors[:-1], strict=True)
            collectives = exchange_collectives(form, factors, operands, shapes, nbytes, self._mesh)
            if collectives is not None:
                return sum(each.traffic(self._hardware).seconds for each in collectives)
        permuted = kind.rule.permutation_factors
        gathered = tuple(() if at in permuted else each for at, each in enumerate(factors))
        targets = axes_of_tensors(kind.rule, gathered, self._mesh)
        return sum(map(self._reshard, kind.tensors, operands, targets))


class RegionBalance:
    """The time that the change of a region saves, while the region grows.

    1. The cost of a region is the time of its computation; of the all-reduces, halo exchanges and
       all-gathers of its operations; and of the reshards of its inputs and results. It must be
       less, and that of the communication alone must not be more.
    2. A value that each device can compute costs nothing.
    3. The region needs no more memory. It needs that of its resharded inputs, then that of its
       results and their reshards: the larger one counts.
    4. The results don't become larger if a reshard slices an input: devices share the work of the
       region, as the user or propagation wants it. An input of which an operation with unsharded
       dimensions, such as `stablehlo.cholesky`, is the source doesn't count.

    Args:
        region: the region.
        costs: the costs of operations and values.
    """

    def __init__(self, region: AxisRegion, costs: RegionCosts):
        self._region = region
        self._costs = costs
        self._communication = self._computation = 0.0
        self._before = self._after = self._count = 0
        self._values: dict[RegionValue, _ValueSaving | None] = {}

    def saved(self) -> float:
        """Return the seconds that the change saves; 0 if it violates a condition."""
        changed: dict[RegionValue, None] = {}  # no set: its order would depend on addresses
        members = self._region.members
        for operation, fit in islice(members.items(), self._count, None):
            saving = self._costs.operation(fit, operation.result.addends)
            self._communication += saving.communication
            self._computation += saving.computation
            self._before += saving.before
            self._after += saving.after
            pairs = zip(operation.uses, fit.axes, strict=True)
            moved = [use.value for use, axes in pairs if axes != use.axes]
            changed.update(dict.fromkeys(moved))
        self._count = len(members)
        for value in changed:
            self._values[value] = self._value(value)
        values = [each for each in self._values.values() if each is not None]
        return self._total(values)

    def _total(self, values: Sequence[_ValueSaving]) -> float:
        communication = self._communication + sum(each.communication for each in values)
        inputs, results = [0, 0], [self._before, self._after]
        for each in values:
            counted = inputs if each.is_input else results
            counted[0] += each.before
            counted[1] += each.after
        if communication < -_ROUNDING or max(inputs[1], results[1]) > max(inputs[0], results[0]):
            return 0.0
        if self._after > self._before and any(each.shares_work for each in values):
            return 0.0
        saved = communication + self._computation
        return saved if saved > _ROUNDING else 0.0

    def _value(self, value: RegionValue) -> _ValueSaving | None:
        """Return what the reshards of a value cost less; None if they don't change."""
        region, own, tensor = self._region, value.axes, value.tensor
        fit = None if value.maker is None else region.members.get(value.maker)
        new, reduced = (own, value.reduced) if fit is None else (fit.axes[-1], fit.reduced)
        uses = value.uses
        if len(uses) == 1 and self._keeps_uses(next(iter(uses.values())), new):
            return None
        wanted: dict[AxesPerDim, None] = {}
        after: dict[AxesPerDim, None] = {}
        shares_work = False
        for axes, use in uses.items():
            if not use.users:
                continue
            wanted[axes] = None
            inside = region.inside.get(use, 0)
            if inside < len(use.users):
                after[axes] = None
            elif fit is None and use.is_resharded and region.after[use] != axes:
                shares_work = shares_work or self._slices(use)
            if inside:
                after[region.after[use]] = None
        is_kept = wanted.keys() <= {own} and after.keys() <= {new}
        if is_kept or (own == new and wanted == after):
            return None
        if value.is_made_by_each_device:
            return None
        costs = self._costs
        saved = costs.uses(value, own, value.reduced, wanted)
        saved -= costs.uses(value, new, reduced, after)
        return _ValueSaving(
            saved,
            sum(costs.nbytes(tensor, axes) for axes in wanted if axes != own),
            sum(costs.nbytes(tensor, axes) for axes in after if axes != new),
            fit is None,
            shares_work,
        )

    def _keeps_uses(self, use: ValueUse, new: AxesPerDim) -> bool:
        """Whether a value with a use, without a reshard, needs none in the region either."""
        inside = self._region.inside.get(use, 0)
        if new == use.axes:
            return not inside or self._region.after[use] == new
        return inside == len(use.users)

    def _slices(self, use: ValueUse) -> bool:
        """Whether a reshard makes the shards of a value smaller, so that devices share work."""
        value = use.value
        before, after = (self._costs.nbytes(value.tensor, each) for each in (value.axes, use.axes))
        return after < before and not value.needs_replication
