# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cost of strategies and of reshards between them.

All costs are those by which the partitioner and the reports estimate a program: the work of
operations (`cost.op_work`), the plans of reshards (`partition.resharding`), and the time of
collectives (`cost.collectives`). A `CostModel` replaces the time of operations and collectives,
such as by measured values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from mlir_sdy.model import AxisTuple, Mesh
from pyshardy.auto.problem.arrays import Floats, Ints
from pyshardy.auto.strategies.padding import traffic_of_reshard
from pyshardy.auto.strategies.strategy import is_even
from pyshardy.cost.collectives import collective_traffic
from pyshardy.cost.hardware import Hardware
from pyshardy.cost.op_work import Work
from pyshardy.partition.compatibility.factor_axes import Shape
from pyshardy.partition.halo.reshard import exchanging_reshard_collectives
from pyshardy.partition.resharding.completions import completion_collectives
from pyshardy.partition.resharding.cost import (
    PlannedCollective,
    Reshard,
    reshard_collectives,
)
from pyshardy.partition.resharding.steps import AxesPerDim

Collectives = tuple[PlannedCollective, ...]


class CostModel(Protocol):
    """The cost of operations and of collectives on a device, usually in seconds."""

    def operation(self, name: str, work: Work) -> float:
        """Return the cost of one execution of an operation.

        Args:
            name: the name of the operation.
            work: its arithmetic operations and memory traffic on the device.
        """
        ...

    def collective(self, collective: PlannedCollective) -> float:
        """Return the cost of a collective."""
        ...


@dataclass(frozen=True, slots=True)
class HardwareCosts:
    """The time on some hardware.

    Attributes:
        hardware: the devices and links.
    """

    hardware: Hardware

    def operation(self, name: str, work: Work) -> float:  # noqa: ARG002 (of the protocol)
        """Return the maximum of the time of arithmetic and of memory traffic."""
        return self.hardware.work_seconds(work.operations, work.nbytes)

    def collective(self, collective: PlannedCollective) -> float:
        """Return the time in which its bytes are sent, and its latency."""
        one = collective
        return collective_traffic(
            one.kind, one.group_size, one.sent, one.axes, self.hardware
        ).seconds


@dataclass(frozen=True, slots=True)
class SentBytes:
    """The bytes that a device sends; operations cost nothing."""

    def operation(self, name: str, work: Work) -> float:  # noqa: ARG002 (of the protocol)
        """Return zero."""
        return 0.0

    def collective(self, collective: PlannedCollective) -> float:
        """Return the bytes."""
        return collective.sent


@dataclass(frozen=True, slots=True)
class PricedBytes:
    """The cost of another model, and a price for each byte that a device sends.

    For networks that others use as well, or where bytes are paid for: of two plans, the one that
    sends less may take longer.

    Attributes:
        model: the other model, such as `HardwareCosts`.
        price: the cost of a byte on top of it.
    """

    model: CostModel
    price: float

    def operation(self, name: str, work: Work) -> float:
        """Return the cost of the other model."""
        return self.model.operation(name, work)

    def collective(self, collective: PlannedCollective) -> float:
        """Return the cost of the other model, and the price of the bytes."""
        return self.model.collective(collective) + self.price * collective.sent


class _Plan(NamedTuple):
    """The operations of a reshard of a tensor of one byte.

    Attributes:
        collectives: its collectives.
        accessed: the bytes that its slices access, and pads and cuts.
    """

    collectives: Collectives
    accessed: float = 0.0


class _Form(NamedTuple):
    """The properties of a shape on which the plan of a reshard depends.

    Attributes:
        shape: the shape if shards are padded; otherwise its common divisors with the number of
            devices, since a plan may shard dimensions further on its way if axes divide them.
        is_padded: whether shards are padded.
    """

    shape: Shape
    is_padded: bool


_PairKey: TypeAlias = tuple[_Form, AxesPerDim, AxesPerDim]
_ReshardKey: TypeAlias = tuple[_Form, AxesPerDim, AxesPerDim, AxisTuple]
_ClassesKey: TypeAlias = tuple[_Form, tuple[AxesPerDim, ...], tuple[AxesPerDim, ...]]


@dataclass(slots=True)
class ReshardCosts:
    """The collectives of reshards and completions, computed once for each pair of shardings.

    If all shards are even, the plan of a reshard only depends on the axes that divide dimensions,
    and the bytes that are sent are proportional to those of the tensor. Otherwise shards are
    padded, and the plan is that for the shape.

    Attributes:
        mesh: the mesh.
        model: the cost of collectives.
    """

    mesh: Mesh
    model: CostModel
    _plans: dict[_ReshardKey, _Plan] = field(default_factory=dict[_ReshardKey, _Plan])
    _number_of: dict[_PairKey, int] = field(default_factory=dict[_PairKey, int])
    _numbered: dict[_Plan, int] = field(default_factory=dict[_Plan, int])
    _in_order: list[_Plan] = field(default_factory=list[_Plan])
    _numbers: dict[_ClassesKey, Ints] = field(default_factory=dict[_ClassesKey, Ints])

    def collectives(
        self,
        nbytes: int,
        shape: Shape,
        source: AxesPerDim,
        target: AxesPerDim,
        reduced: AxisTuple = (),
    ) -> Collectives:
        """Return the collectives that complete a tensor along some axes, and reshard it.

        Args:
            nbytes: the bytes of the unsharded tensor.
            shape: its shape.
            source: the axes of each dimension before.
            target: the axes of each dimension afterwards.
            reduced: the axes along which the tensor is partial.
        """
        if source == target and not reduced:
            return ()
        mesh = self.mesh
        has_padding = not (is_even(shape, source, mesh) and is_even(shape, target, mesh))
        plan = self._unit(self._form(shape, has_padding), source, target, reduced)
        return _scaled(plan.collectives, nbytes)

    def _form(self, shape: Shape, has_padding: bool) -> _Form:
        """Return the form of a shape; empty tensors aren't padded."""
        if has_padding and all(shape):
            return _Form(shape, is_padded=True)
        total = self.mesh.total_size
        return _Form(tuple(math.gcd(size, total) for size in shape), is_padded=False)

    def _unit(
        self, form: _Form, source: AxesPerDim, target: AxesPerDim, reduced: AxisTuple
    ) -> _Plan:
        """Return the plan for a tensor of one byte.

        Dimensions that are sharded neither before nor afterwards are left out, unless partial
        results may be scattered along them.

        Args:
            form: the form of its shape.
            source: the axes of each dimension before.
            target: those afterwards.
            reduced: the axes along which the tensor is partial.
        """
        key = form, source, target, reduced
        known = self._plans.get(key)
        if known is not None:
            return known
        if not reduced:
            used = [dim for dim, pair in enumerate(zip(source, target, strict=True)) if any(pair)]
            if len(used) < len(source):
                before, after = (tuple(each[dim] for dim in used) for each in (source, target))
                left = form._replace(shape=tuple(form.shape[dim] for dim in used))
                found = self._plans[key] = self._unit(left, before, after, reduced)
                return found
        shape = form.shape
        reshard = Reshard(shape, 1, source, target, self.mesh)
        if reduced:
            plan = completion_collectives(reshard, reduced)
        elif form.is_padded:
            plan = exchanging_reshard_collectives(reshard)
        else:
            plan = reshard_collectives(reshard)
        unit = math.prod(shape)
        scaled = tuple(replace(each, sent=each.sent / unit) for each in plan)
        found = self._plans[key] = _Plan(
            scaled, 0.0 if reduced else traffic_of_reshard(reshard) / unit
        )
        return found

    def _cost(self, plan: _Plan, nbytes: int) -> float:
        """Return the cost of a plan: collectives, and slices, which are read and written."""
        cost = sum(self.model.collective(each) for each in _scaled(plan.collectives, nbytes))
        if plan.accessed:
            work = Work(0.0, plan.accessed * nbytes)
            cost += self.model.operation("stablehlo.dynamic_slice", work)
        return cost

    def matrix(
        self,
        nbytes: int,
        shape: Shape,
        sources: Sequence[AxesPerDim],
        targets: Sequence[AxesPerDim],
    ) -> Floats:
        """Return the costs of the reshards of a tensor, by source and by target.

        Args:
            nbytes: the bytes of the unsharded tensor.
            shape: its shape.
            sources: the axes of each dimension before.
            targets: those afterwards.
        """
        even = {axes: is_even(shape, axes, self.mesh) for axes in {*sources, *targets}}
        forms = [self._form(shape, has_padding) for has_padding in (False, True)]
        key = forms[not all(even.values())], tuple(sources), tuple(targets)
        numbers = self._numbers.get(key)
        if numbers is None:
            numbers = self._numbers[key] = np.array(
                [
                    [
                        self._number(forms[not (even[source] and even[target])], source, target)
                        for target in targets
                    ]
                    for source in sources
                ]
            )
        used: list[int] = np.unique(numbers).tolist()
        costs = np.zeros(len(self._in_order))
        for number in used:
            costs[number] = self._cost(self._in_order[number], nbytes)
        return costs[numbers]

    def _number(self, form: _Form, source: AxesPerDim, target: AxesPerDim) -> int:
        """Return the number of the plan of a reshard: many reshards have equal ones."""
        key = form, source, target
        number = self._number_of.get(key)
        if number is None:
            plan = _Plan(()) if source == target else self._unit(form, source, target, ())
            number = self._numbered.setdefault(plan, len(self._in_order))
            if number == len(self._in_order):
                self._in_order.append(plan)
            self._number_of[key] = number
        return number


def _scaled(plan: Collectives, nbytes: int) -> Collectives:
    """Return collectives for a tensor of some bytes from those for one byte."""
    return tuple(
        PlannedCollective(each.kind, each.group_size, each.axes, each.sent * nbytes)
        for each in plan
    )
