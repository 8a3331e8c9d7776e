# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The work that devices repeat, since an axis of the mesh shards no tensor of an operation.

An operation is repeated along an axis if the axis shards none of its operands and results, and the
operation isn't in a manual computation along the axis. All devices along the axis then do the same
work.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from mlir_sdy.values import manual_axes
from pyshardy.explain.program import ExplainedProgram
from pyshardy.explain.timeline import Timeline
from pyshardy.irtools.walks import operations_named
from pyshardy.propagation.program import NO_OPERATION


@dataclass(frozen=True, slots=True)
class IdleAxis:
    """An axis of the mesh, and the work that devices along it repeat.

    Attributes:
        axis: the name of the axis.
        size: its size.
        seconds: the time of a device in operations that are repeated along it.
        share: the share of this time in that of all computation.
        by_operation: the seconds of each repeated operation, by its number in the record, the
            longest first.
    """

    axis: str
    size: int
    seconds: float
    share: float
    by_operation: Mapping[int, float]


def idle_axes(explained: ExplainedProgram, timeline: Timeline) -> tuple[IdleAxis, ...]:
    """Return the axes along which work is repeated, in the order of the mesh.

    Args:
        explained: the program.
        timeline: its estimated times.
    """
    return _Finder(explained).find(timeline)


class _Finder:
    """Finds the axes of operations; those of equal shardings are collected once."""

    def __init__(self, explained: ExplainedProgram):
        self._explained = explained
        self._engine = explained.record.engine
        self._axes_of_shardings: dict[int, frozenset[str]] = {}
        self._axes_of_operations: dict[int, frozenset[str]] = {}
        number_of = explained.record.later_values.operation
        self._manual_computations = {
            number_of(each): frozenset(manual_axes(each))
            for each in operations_named(("sdy.manual_computation",), explained.module)
        }

    def find(self, timeline: Timeline) -> tuple[IdleAxis, ...]:
        origins = self._explained.origins
        total = 0.0
        repeated: dict[str, defaultdict[int, float]] = {
            axis.name: defaultdict(float)
            for axis in self._explained.program.mesh.axes
            if axis.size > 1
        }
        for event in timeline.events:
            if event.collective is not None or event.is_loop:
                continue
            total += event.seconds
            number = origins[event.operation]
            if number is None:
                continue
            for axis in repeated.keys() - self._axes_of(number):
                repeated[axis][number] += event.seconds
        sizes = {axis.name: axis.size for axis in self._explained.program.mesh.axes}
        return tuple(
            IdleAxis(
                axis,
                sizes[axis],
                sum(seconds.values()),
                sum(seconds.values()) / total,
                dict(sorted(seconds.items(), key=lambda each: -each[1])),
            )
            for axis, seconds in repeated.items()
            if seconds
        )

    def _axes_of(self, number: int) -> frozenset[str]:
        """Return the axes that shard the values of an operation, and the manual axes around it.

        Many local operations may come from one operation of many operands.
        """
        known = self._axes_of_operations.get(number)
        if known is None:
            program, state = self._engine.program, self._engine.state
            values = (*program.operands[number], *program.results[number])
            axes = (self._axes_in(state[program.slots[value]]) for value in values)
            known = self._manual_axes(number).union(*axes)
            self._axes_of_operations[number] = known
        return known

    def _axes_in(self, sharding_number: int) -> frozenset[str]:
        known = self._axes_of_shardings.get(sharding_number)
        if known is None:
            sharding = self._engine.table[sharding_number]
            names = () if sharding is None else (axis.name for axis in sharding.all_axes())
            known = self._axes_of_shardings[sharding_number] = frozenset(names)
        return known

    def _manual_axes(self, number: int) -> frozenset[str]:
        """Return the manual axes of the computations around an operation."""
        axes = frozenset[str]()
        if self._manual_computations:
            parents = self._engine.program.parents
            while (number := parents[number]) != NO_OPERATION:
                axes |= self._manual_computations.get(number, frozenset())
        return axes
