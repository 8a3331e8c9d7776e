# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The search for the steps of a reshard: rounds of slices, permutes, moves and gathers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from mlir_sdy.model import (
    AllToAllParam,
    AxisRef,
    AxisTuple,
    Mesh,
    add_or_merge,
    first_overlapping,
)
from pyshardy.partition.types.steps import (
    AllGather,
    AllSlice,
    AllToAll,
    AxesPerDim,
    CollectivePermute,
    ReshardStep,
)
from pyshardy.propagation.projection import split_axis

_MOST_STEPS = 64
"""A limit above the length of any plan that reaches its target."""


def _merged(axes: Iterable[AxisRef], mesh: Mesh) -> AxisTuple:
    merged: AxisTuple = ()
    for axis in axes:
        merged = add_or_merge(merged, axis, mesh)
    return merged


class ReshardPlanner:
    """The state of planning.

    Attributes:
        done: the axes of each dimension that are final.
        current: the axes after these, which have to be gathered or moved.
        wanted: the axes that have to follow `done` in the target.
    """

    def __init__(
        self,
        source: AxesPerDim,
        target: AxesPerDim,
        shape: Sequence[int],
        mesh: Mesh,
        reorder: bool,
    ):
        self.mesh = mesh
        self.shape = shape
        self.dims = range(len(source))
        self.needs_reorder = reorder
        self.steps: list[ReshardStep] = []
        self.current = self._aligned(source, (axis for axes in target for axis in axes))
        self.wanted = self._aligned(target, (axis for axes in source for axis in axes))
        self.done: list[list[AxisRef]] = [[] for _ in self.dims]
        for dim in self.dims:
            self._settle_common(dim)
        self._index()

    def run(self) -> bool:
        """Plan the steps; return whether the plan reaches the target."""
        while not self._is_finished():
            count = len(self.steps)
            self._slice()
            if not self._permute():
                return False
            self._move(strictly=True)
            self._move(strictly=False)
            self._gather()
            if len(self.steps) == count or count > _MOST_STEPS:
                return False
        return True

    def _is_finished(self) -> bool:
        return not (any(self.current) or any(self.wanted) or self.needs_reorder)

    # --- State ------------------------------------------------------------------------------

    def _aligned(
        self, lists: Iterable[Sequence[AxisRef]], others: Iterable[AxisRef]
    ) -> list[list[AxisRef]]:
        """Return the lists with their refs cut so that overlapping refs are equal."""
        sorted_others = sorted(others)
        return [
            [part for axis in axes for part in self._cut(axis, sorted_others)] for axes in lists
        ]

    def _cut(self, axis: AxisRef, others: Sequence[AxisRef]) -> list[AxisRef]:
        parts: list[AxisRef] = []
        rest: AxisRef | None = axis
        while rest is not None:
            other = first_overlapping(rest, others)
            if other is None or not rest.can_coexist(other) or other.contains(rest):
                parts.append(rest)
                break
            ends = (rest.prefix_without_overlap(other), rest.overlap(other))
            parts += [end for end in ends if end is not None]
            rest = rest.suffix_without_overlap(other, self.mesh)
        return parts

    def _settle_common(self, dim: int) -> None:
        """Move the common prefix of both lists of a dimension to `done`."""
        current, wanted = self.current[dim], self.wanted[dim]
        while current and wanted and current[0] == wanted[0]:
            self.done[dim].append(current.pop(0))
            wanted.pop(0)

    def _index(self) -> None:
        """Index the refs in use, and the positions of target refs."""
        self.in_use = {axis for axes in self.current for axis in axes}
        self.place = {
            axis: (dim, index)
            for dim, axes in enumerate(self.wanted)
            for index, axis in enumerate(axes)
        }

    def _size(self, axes: Iterable[AxisRef]) -> int:
        return self.mesh.axes_size(axes)

    def _result(self) -> AxesPerDim:
        return tuple(_merged((*self.done[dim], *self.current[dim]), self.mesh) for dim in self.dims)

    def _lists(self, lists: Iterable[Sequence[AxisRef]]) -> AxesPerDim:
        return tuple(_merged(axes, self.mesh) for axes in lists)

    def _fit(self, axis: AxisRef, capacity: int) -> tuple[AxisRef, AxisRef | None, int] | None:
        """Return the part of `axis` that fits, the rest, and the remaining capacity."""
        size = axis.size(self.mesh)
        if capacity <= 1 or (size % capacity and capacity % size):
            return None
        if capacity >= size:
            return axis, None, capacity // size
        leading, rest = split_axis(axis, capacity, self.mesh)
        return leading, rest, 1

    def _distribute(
        self, leftovers: list[AxisRef], capacity: int
    ) -> tuple[list[AxisRef], list[AxisRef], int]:
        """Take refs that fit from `leftovers`; return them, the cut parts, and the capacity."""
        taken: list[AxisRef] = []
        cut: list[AxisRef] = []
        index = 0
        while capacity > 1 and index < len(leftovers):
            fit = self._fit(leftovers[index], capacity)
            if fit is None:
                index += 1
                continue
            part, rest, capacity = fit
            del leftovers[index]
            taken.append(part)
            if rest is not None:
                leftovers.insert(0, rest)
                cut += [part, rest]
                index = 0
        return taken, cut, capacity

    # --- Slice ------------------------------------------------------------------------------

    def _slice(self) -> None:
        """Slice along target axes that are not in use."""
        sliced: list[list[AxisRef]] = [[] for _ in self.dims]
        capacities = [
            self._size(self.wanted[dim])
            // math.gcd(self._size(self.current[dim]), self._size(self.wanted[dim]))
            for dim in self.dims
        ]
        for dim in self.dims:
            self._slice_before_move(dim, sliced, capacities)
        leftovers: list[AxisRef] = []
        for dim in self.dims:
            leftovers += self._slice_in_place(dim, sliced, capacities)
        cut: list[AxisRef] = []
        for dim in self.dims:
            taken, parts, capacities[dim] = self._distribute(leftovers, capacities[dim])
            self.current[dim] += taken
            sliced[dim] += taken
            cut += parts
        self._cut_wanted(cut)
        if any(sliced):
            self.steps.append(AllSlice(self._lists(sliced), self._result()))
        self._index()

    def _cut_wanted(self, parts: list[AxisRef]) -> None:
        if parts:
            # A ref that was cut again is listed beside its parts: only the finest parts count.
            finest = [part for part in parts if not any(part.strictly_contains(o) for o in parts)]
            self.wanted = self._aligned(self.wanted, finest)

    def _slice_before_move(
        self, dim: int, sliced: list[list[AxisRef]], capacities: list[int]
    ) -> None:
        """Slice a dimension from which an all-to-all will move the axes."""
        current = self.current[dim]
        if not current or self.wanted[dim] or current[-1] not in self.place:
            return
        target, position = self.place[current[-1]]
        if self.current[target]:
            return
        wanted, start = self.wanted[target], position + 1
        if start >= len(wanted) or wanted[start] in self.in_use:
            return
        common = 0
        while (
            common < min(len(current), start) and current[-1 - common] == wanted[start - 1 - common]
        ):
            common += 1
        moving = current[len(current) - common :]
        if any(
            self.place.get(axis, (None,))[0] == target for axis in current[: len(current) - common]
        ):
            return
        end = start
        while end < len(wanted) and wanted[end] not in self.in_use:
            end += 1
        axes = wanted[start:end]
        num_shards = self._size((*self.done[dim], *current, *axes))
        if self.shape[dim] < 0 or self.shape[dim] % num_shards:
            return
        current += axes
        sliced[dim] += axes
        self.in_use.update(axes)
        capacities[target] //= self._size(moving) * self._size(axes)

    def _slice_in_place(
        self, dim: int, sliced: list[list[AxisRef]], capacities: list[int]
    ) -> list[AxisRef]:
        """Slice a dimension along its target axes; return those that don't fit."""
        leftovers: list[AxisRef] = []
        rests: set[AxisRef] = set()
        index = 0
        wanted = self.wanted[dim]
        while index < len(wanted):
            axis = wanted[index]
            if axis in self.in_use or axis in rests:
                index += 1
                continue
            fit = self._fit(axis, capacities[dim])
            if fit is None:
                leftovers.append(axis)
                index += 1
                continue
            part, rest, capacities[dim] = fit
            sliced[dim].append(part)
            if not self.current[dim] and index == 0:
                self.done[dim].append(part)
                del wanted[0]
            else:
                self.current[dim].append(part)
                self.in_use.add(part)
                wanted[index] = part
                index += 1
            if rest is not None:
                wanted.insert(index, rest)
                rests.add(rest)
                leftovers.append(rest)
        return leftovers

    # --- Permute ----------------------------------------------------------------------------

    def _permute(self) -> bool:
        """Permute if needed; return False if it would change the size of a dimension."""
        if self._permute_is_needed():
            sizes = [self._size((*self.done[d], *self.current[d])) for d in self.dims]
            self._rearrange()
            if sizes != [self._size((*self.done[d], *self.current[d])) for d in self.dims]:
                return False
        elif not self.needs_reorder:
            return True
        self.steps.append(CollectivePermute(self._result()))
        self.needs_reorder = False
        return True

    def _divide(self, first: AxisRef, second: AxisRef) -> bool:
        sizes = first.size(self.mesh), second.size(self.mesh)
        return max(sizes) % min(sizes) == 0

    def _permute_is_needed(self) -> bool:
        """Whether neither all-to-alls nor gathers bring the axes to their target positions.

        1. A dimension has current and target axes, whose first ones are of compatible sizes.
        2. The target of an axis is its own dimension, or that of an earlier axis, and it does not
           directly follow the axis before it there.
        3. An axis that must be gathered follows one whose target is another dimension, in a
           dimension without target axes.
        4. Some unused axis can replace one that is not in the target, and the sizes are compatible.
        """
        replaceable: AxisRef | None = None
        free: AxisRef | None = None
        for dim in self.dims:
            current, wanted = self.current[dim], self.wanted[dim]
            if current and wanted and self._divide(current[0], wanted[0]):
                return True
            seen: set[int] = set()
            before: tuple[int, int] | None = None
            for axis in current:
                place = self.place.get(axis)
                if place is None:
                    if before is not None and not wanted:
                        return True
                    replaceable = axis
                else:
                    follows = before == (place[0], place[1] - 1)
                    if (place[0] == dim or place[0] in seen) and not follows:
                        return True
                    seen.add(place[0])
                before = place
            for axis in wanted:
                if axis not in self.in_use:
                    free = axis
        return replaceable is not None and free is not None and self._divide(replaceable, free)

    def _rearrange(self) -> None:
        """Exchange axes at constant size, to bring as many as possible to their targets.

        Axes that will be gathered are placed before those that will move to other dimensions.
        """
        capacities: list[int] = []
        leftover_wanted: list[AxisRef] = []
        leftover_current: list[list[AxisRef]] = []
        for dim in self.dims:
            current, wanted = self.current[dim], self.wanted[dim]
            total = capacity = self._size(current)
            while wanted and (fit := self._fit(wanted[0], capacity)) is not None:
                part, rest, capacity = fit
                wanted[:1] = [] if rest is None else [rest]
                self.done[dim].append(part)
            leftover_wanted += wanted
            rest_current = [axis for axis in current if axis not in self.place]
            used, replaced = total // capacity, []
            while rest_current and (fit := self._fit(rest_current[0], used)) is not None:
                part, rest, used = fit
                rest_current[:1] = [] if rest is None else [rest]
                replaced.append(part)
            leftover_current.append(rest_current + replaced)
            capacities.append(capacity)
            self.current[dim] = []
        cut: list[AxisRef] = []
        for dim in self.dims:
            taken, parts, capacities[dim] = self._distribute(leftover_wanted, capacities[dim])
            self.current[dim] += taken
            cut += parts
        self._cut_wanted(cut)
        for dim in self.dims:
            taken, _, capacities[dim] = self._distribute(leftover_current[dim], capacities[dim])
            self.current[dim] = taken + self.current[dim]
        everything = [axis for axes in leftover_current for axis in axes]
        for dim in self.dims:
            taken, _, capacities[dim] = self._distribute(everything, capacities[dim])
            self.current[dim] = taken + self.current[dim]
        self._index()

    # --- Move and gather --------------------------------------------------------------------

    def _move(self, *, strictly: bool) -> None:
        """Move axes at the end of a dimension to their target dimensions by all-to-alls.

        Strictly: only if they are the next target axes there.
        """
        for dim in self.dims:
            while (move := self._movable(dim)) is not None:
                count, target = move
                axes = self.current[dim][-count:]
                if strictly and self.wanted[target][:count] != axes:
                    break
                del self.current[dim][-count:]
                for axis in axes:
                    if not self.current[target] and self.wanted[target][:1] == [axis]:
                        self.done[target].append(self.wanted[target].pop(0))
                    else:
                        self.current[target].append(axis)
                param = AllToAllParam(_merged(axes, self.mesh), dim, target)
                self.steps.append(AllToAll(param, self._result()))

    def _movable(self, dim: int) -> tuple[int, int] | None:
        """Return the number of refs at the end of a dimension with one target, and the target."""
        count, target = 0, None
        for axis in reversed(self.current[dim]):
            place = self.place.get(axis)
            if place is None or place[0] == dim or (target is not None and place[0] != target):
                break
            count, target = count + 1, place[0]
        return None if target is None else (count, target)

    def _gather(self) -> None:
        """Gather the dimensions whose last axis is in no target."""
        gathered: list[Sequence[AxisRef]] = []
        for dim in self.dims:
            current = self.current[dim]
            if current and current[-1] not in self.place:
                gathered.append(current)
                self.current[dim] = []
            else:
                gathered.append(())
        if any(gathered):
            self.steps.append(AllGather(self._lists(gathered), self._result()))
