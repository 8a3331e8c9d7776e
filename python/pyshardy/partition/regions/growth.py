# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Regions of operations whose tensors could have other axes.

A reshard from `[{}, {"x"}]` to `[{"x"}, {}]` can move across the operations before or after it:

    %1 = stablehlo.slice %0 [0:8, 0:4]      // along [{}, {"x"}]; a halo exchange
    %2 = sdy.reshard %1 <@mesh, [{"x"}, {}]>

Along `[{"x"}, {}]` the slice sends nothing. Its operand needs these axes, too, and through it the
operation that computes the operand, and its other users. These operations are a region.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pyshardy.partition.regions.graph import RegionGraph, RegionOperation, RegionValue, ValueUse
from pyshardy.partition.regions.kinds import CHEAP, RegionFit
from pyshardy.partition.types.steps import AxesPerDim

_MOST_STEPS = 32


@dataclass(slots=True, eq=False)
class AxisRegion:
    """Operations of a block, with other axes of their tensors.

    Attributes:
        beginning: the operations that are reached first.
        after: the axes in the region that uses have, which are known by their axes outside.
        members: the operations, in the order in which they are found.
        inside: the number of users of each use that are in the region.
    """

    beginning: list[RegionOperation]
    after: dict[ValueUse, AxesPerDim]
    members: dict[RegionOperation, RegionFit] = field(
        default_factory=dict[RegionOperation, RegionFit]
    )
    inside: dict[ValueUse, int] = field(default_factory=dict[ValueUse, int])

    @property
    def values(self) -> Mapping[RegionValue, None]:
        """The operands and results of the operations, in order."""
        return dict.fromkeys([use.value for use in self.after])

    def add(self, operation: RegionOperation, fit: RegionFit) -> None:
        """Add an operation."""
        self.members[operation] = fit
        self.after.update(zip(operation.uses, fit.axes, strict=True))
        for use in operation.uses[:-1]:
            self.inside[use] = self.inside.get(use, 0) + 1


class RegionGrowth:
    """Finds regions.

    1. The operations fit (see `OperationKinds`). The axes of the value that the region begins with
       determine the others, from operation to operation. They are in one block.
    2. The region ends at tensors that keep their axes, at reshards, and at operations that don't
       fit.

    Args:
        graph: the values and operations.
    """

    def __init__(self, graph: RegionGraph):
        self._graph = graph

    def before(self, use: ValueUse) -> AxisRegion:
        """Return the beginning of a region: the operation that computes a value.

        Args:
            use: the use of the value whose axes it has in the region, without a reshard.
        """
        value, maker = use.value, use.value.maker
        if maker is None:
            return AxisRegion([], {})
        return AxisRegion([maker], {value.along(value.axes): use.axes})

    def after(self, use: ValueUse) -> AxisRegion:
        """Return the beginning of a region: the users of a value.

        Args:
            use: the use, which has the axes along which the value is computed in the region.
        """
        return AxisRegion(_users(use), {use: use.value.axes})

    def steps(self, region: AxisRegion, *, with_users: bool) -> Iterator[None]:
        """Add operations to a region, and stop when it has those up to 1, 2, 4 or more steps away.

        At last it is complete, if no operation in it is more than 32 steps away.

        Args:
            region: the region, which grows.
            with_users: whether to include other users of inputs of the region, which can share the
                reshards of these.
        """
        waiting = [*region.beginning]
        after, fit_of = region.after, self._graph.kinds.fit
        seen: set[ValueUse] = set()  # values with many users are operands of many members
        block = waiting[0].block if waiting else None
        step = 0
        while waiting and step < _MOST_STEPS:
            step += 1
            following: list[RegionOperation] = []
            while waiting:
                operation = waiting.pop()
                if operation in region.members or operation.block != block:
                    continue
                kind = operation.kind
                if kind is None:
                    continue
                uses = operation.uses
                fit = fit_of(kind, tuple([after.get(use) for use in uses]))
                if fit is None:
                    continue
                region.add(operation, fit)
                own = uses[-1]
                for use, axes in zip(uses, fit.axes, strict=True):
                    if axes == use.axes or use in seen:
                        continue
                    seen.add(use)
                    if use is own:
                        following += _users(use)
                        continue
                    if not use.is_resharded and use.value.maker is not None:
                        following.append(use.value.maker)
                    if with_users:
                        waiting += _users(use)
            waiting = following
            if region.members and (step.bit_count() == 1 or not waiting):
                yield


def _users(use: ValueUse) -> list[RegionOperation]:
    """Return the operations with a use, as far as regions have such."""
    use.value.read_users()
    return [user.operation for user in use.users if user.operation.name in CHEAP]
