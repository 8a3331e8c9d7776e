# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cost of strategies and of reshards between them.

All costs are those by which the partitioner and the reports estimate a program: the work of
operations (`cost.op_work`), the plans of reshards (`partition.resharding`), and the time of
collectives (`cost.collectives`). A `CostModel` replaces the time of operations and collectives,
such as by measured values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Protocol

from mlir_sdy.model import AxisTuple, Mesh
from pyshardy.cost.collectives import collective_traffic
from pyshardy.cost.hardware import Hardware
from pyshardy.cost.op_work import Work
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


@dataclass(slots=True)
class ReshardCosts:
    """The collectives of reshards and completions, computed once for each pair of shardings.

    All shards are even, so that the plan of a reshard doesn't depend on the shape, and the bytes
    that are sent are proportional to those of the tensor.

    Attributes:
        mesh: the mesh.
        model: the cost of collectives.
    """

    mesh: Mesh
    model: CostModel
    _plans: dict[tuple[AxesPerDim, AxesPerDim, AxisTuple], Collectives] = field(
        default_factory=dict[tuple[AxesPerDim, AxesPerDim, AxisTuple], Collectives]
    )

    def collectives(
        self, nbytes: int, source: AxesPerDim, target: AxesPerDim, reduced: AxisTuple = ()
    ) -> Collectives:
        """Return the collectives that complete a tensor along some axes, and reshard it.

        Args:
            nbytes: the bytes of the unsharded tensor.
            source: the axes of each dimension before.
            target: the axes of each dimension afterwards.
            reduced: the axes along which the tensor is partial.
        """
        if source == target and not reduced:
            return ()
        key = source, target, reduced
        plan = self._plans.get(key)
        if plan is None:
            shape = (self.mesh.total_size,) * len(source)
            reshard = Reshard(shape, 1, source, target, self.mesh)
            plan = (
                completion_collectives(reshard, reduced)
                if reduced
                else reshard_collectives(reshard)
            )
            unit = math.prod(shape)
            plan = tuple(replace(each, sent=each.sent / unit) for each in plan)
            self._plans[key] = plan
        return tuple(replace(each, sent=each.sent * nbytes) for each in plan)

    def cost(
        self, nbytes: int, source: AxesPerDim, target: AxesPerDim, reduced: AxisTuple = ()
    ) -> float:
        """Return the cost of these collectives."""
        if source == target and not reduced:
            return 0.0
        model = self.model
        return sum(
            model.collective(each) for each in self.collectives(nbytes, source, target, reduced)
        )
