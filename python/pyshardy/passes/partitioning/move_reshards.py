# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-move-reshards`: compute regions in the shardings that reshards lead to.

`RegionGrowth` states what a region is, and `RegionBalance` when it is changed. Of

    %1 = sdy.reshard %0 <@mesh, [{}, {}]> : tensor<8x8xf32>            // from [{"x"}, {}]
    %2 = stablehlo.convert %1 : (tensor<8x8xf32>) -> tensor<8x8xbf16>  // in [{}, {}]

the conversion is computed on shards, and half as many bytes are gathered; of two operands that are
gathered to be added, their sum is gathered instead.

The tensors of each operation are compatible.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from mlir_sdy.fold import canonicalize
from mlir_sdy.host import ir
from mlir_sdy.model import mesh_of
from mlir_sdy.values import get_sharding
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE, HardwareOption
from pyshardy.cost.hardware import Hardware, load_hardware
from pyshardy.irtools.analyses import OF_SHARDINGS, UNCHANGED, Changes
from pyshardy.irtools.walks import may_occur_at_start, operations_named
from pyshardy.partition.function_context import FunctionContext
from pyshardy.partition.regions.balance import RegionBalance, RegionCosts
from pyshardy.partition.regions.graph import (
    RegionGraph,
    RegionOperation,
    RegionValue,
    ValueUse,
)
from pyshardy.partition.regions.growth import AxisRegion, RegionGrowth
from pyshardy.partition.regions.kinds import RegionFit
from pyshardy.partition.regions.writing import RegionWriter
from pyshardy.pipeline import register_pass

_RESHARD = "sdy.reshard"
_MOST_VISITS = 4  # of a reshard; a change saves time, so that they would end without a limit, too

_Start: TypeAlias = tuple[ValueUse, bool]
"""A reshard, and whether a region is before it."""


@register_pass("sdy-move-reshards", anchor="func.func", release="pyshardy")
def move_reshards(
    function: ir.Operation | ir.OpView,
    *,
    hardware: HardwareOption = DEFAULT_HARDWARE,
) -> Changes:
    """Move reshards across regions.

    Changes the shardings of the operations before or after a reshard, if that takes less time and
    no more memory, so that the reshard isn't needed there. A region consists of elementwise
    operations, reductions, broadcasts, reshapes, transposes, slices, concatenations, paddings and
    reverses. The cost includes the reshards around it, all-reduces and halo exchanges.

    ```mlir
    // %0 is sharded as <@mesh, [{}, {"x"}]>
    %1 = stablehlo.slice %0 [0:8, 0:4] : (tensor<8x8xf32>) -> tensor<8x4xf32>
    %2 = sdy.reshard %1 <@mesh, [{"x"}, {}]> : tensor<8x4xf32>
    %3 = stablehlo.slice %0 [0:8, 4:8] : (tensor<8x8xf32>) -> tensor<8x4xf32>
    %4 = sdy.reshard %3 <@mesh, [{"x"}, {}]> : tensor<8x4xf32>
    ```

    becomes

    ```mlir
    %1 = sdy.reshard %0 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
    %2 = stablehlo.slice %1 [0:8, 0:4] : (tensor<8x8xf32>) -> tensor<8x4xf32>
    %3 = stablehlo.slice %1 [0:8, 4:8] : (tensor<8x8xf32>) -> tensor<8x4xf32>
    ```

    Raises:
        UsageError: there is no such hardware.
    """
    devices = load_hardware(hardware)
    if not may_occur_at_start({_RESHARD}, function):
        return UNCHANGED
    canonicalize(function, {"sdy-reshard"})  # merges reshards of reshards
    context = FunctionContext.of(function)
    reshards = operations_named({_RESHARD}, function)
    targets = [get_sharding(reshard.results[0]) for reshard in reshards]
    for target in {each.mesh_or_ref: each for each in targets if each is not None}.values():
        mesh = mesh_of(target, context.meshes)
        if mesh is not None and not mesh.is_maximal:
            graph = RegionGraph(target.mesh_or_ref, mesh, context.meshes, context.rules)
            mover = _RegionMover(graph, devices)
            mover.run([each for each in reshards if graph.target(each) is not None])
            RegionWriter(graph, context.cache).write(mover.changed)
    for reshard in reversed(reshards):
        if not any(reshard.results[0].uses):
            reshard.erase()
    return Changes({_RESHARD}, OF_SHARDINGS)


class _RegionMover:
    """Changes regions before and after reshards, if that saves time (see `RegionBalance`).

    1. Of the regions before and after a reshard, the one is changed that saves most.
    2. If none saves anything, the same regions aren't tried again from their other reshards, unless
       a value in them changes.
    3. Reshards that a change makes are visited, too, and each one at most 4 times.

    Args:
        graph: the values and operations.
        hardware: the devices and links.
    """

    def __init__(self, graph: RegionGraph, hardware: Hardware):
        self.changed: dict[RegionOperation, None] = {}
        self._graph = graph
        self._growth = RegionGrowth(graph)
        self._costs = RegionCosts(graph, hardware)
        self._rejected: set[_Start] = set()
        self._regions: list[tuple[Mapping[RegionValue, None], list[_Start]]] = []  # of the rejected

    def run(self, reshards: Sequence[ir.Operation]) -> None:
        """Visit reshards, and those that changes make."""
        waiting = dict.fromkeys(self._graph.use(reshard.results[0]) for reshard in reshards)
        visits: Counter[ValueUse] = Counter()
        while waiting:
            use = next(iter(waiting))
            del waiting[use]
            is_left = bool(use.value.uses) and use.is_resharded and bool(use.users)
            if is_left and visits[use] < _MOST_VISITS:
                visits[use] += 1
                waiting |= dict.fromkeys(self._visit(use))

    def _visit(self, use: ValueUse) -> list[ValueUse]:
        """Change the region before or after a reshard, and return the reshards to visit again."""
        most, best = 0.0, None
        if use.value.is_made_by_each_device:
            return []
        for is_before, with_users in itertools.product((True, False), repeat=2):
            if (use, is_before) in self._rejected:
                continue
            region = self._growth.before(use) if is_before else self._growth.after(use)
            balance = RegionBalance(region, self._costs)
            for _ in self._growth.steps(region, with_users=with_users):
                saved = balance.saved()
                if saved > most:
                    most, best = saved, tuple(region.members.items())
            if best is None:
                self._reject(region)
        return [] if best is None else self._change(best)

    def _reject(self, region: AxisRegion) -> None:
        """Note the reshards from which the same region would be found again."""
        starts: list[_Start] = []
        values = region.values
        for value in values:
            if len(value.uses) == 1:
                continue
            result = region.after.get(value.along(value.axes))
            is_result = value.maker in region.members
            for use in value.uses.values():
                if use.is_resharded and use.users:
                    if region.after.get(use) == value.axes:
                        starts.append((use, False))
                    if is_result and result == use.axes:
                        starts.append((use, True))
        self._rejected.update(starts)
        self._regions.append((values, starts))

    def _change(self, members: Sequence[tuple[RegionOperation, RegionFit]]) -> list[ValueUse]:
        """Change the axes of operations, and return the reshards to visit."""
        changed: dict[RegionValue, None] = {}
        for operation, fit in members:
            changed.update(dict.fromkeys([use.value for use in operation.uses]))
            operation.move(fit)
        self.changed.update(dict.fromkeys([operation for operation, _ in members]))
        found = [use for value in changed for use in value.uses.values()]
        kept: list[tuple[Mapping[RegionValue, None], list[_Start]]] = []
        for values, starts in self._regions:
            if values.keys().isdisjoint(changed):
                kept.append((values, starts))
            else:
                self._rejected.difference_update(starts)
                found += [use for use, _ in starts]
        self._regions = kept
        return found
