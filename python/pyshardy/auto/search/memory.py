# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The memory of a program on a device, by the choice of its shardings.

The model is that of `timeline.memory`, for a program whose operations are in one order:

1. Arguments are always live, since the caller owns them.
2. Another value is live from its definition to its last use; in a loop, values from outside are
   live until its end. A result that is fused into its users takes no memory, and its operands are
   live until then. The arguments of functions and loop bodies take none, nor the results of calls,
   of barriers, and of loops whose initial values aren't used elsewhere or which don't change them.
3. While an operation runs, its partial results are live in place of the completed ones.
4. A reshard makes a copy, which is live from the first use to the last. Copies that are smaller
   than a part of the limit are left out (`SMALLEST_PART`). Those of loops with prefetches are live
   in a whole iteration as well, for the next one.
5. A tensor that is sliced unevenly is padded before, at the time of the first use.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from mlir_sdy.model import Mesh, Shape
from pyshardy.auto.graph.sites import Flow
from pyshardy.auto.problem.arrays import Buffer, Copy, Floats, Problem
from pyshardy.auto.search.build import Built, FlowGroup
from pyshardy.auto.search.hiding import hidden_part
from pyshardy.auto.strategies.alternatives import Alternatives
from pyshardy.auto.strategies.padding import padded_bytes
from pyshardy.auto.strategies.strategy import num_parts_of
from pyshardy.irtools.tensor_types import is_even
from pyshardy.partition.resharding.cost import Reshard
from pyshardy.partition.types.steps import AxesPerDim

SMALLEST_PART = 1e-4
"""The share of the limit below which a tensor doesn't count."""


def with_memory(
    built: Built, limit: float | None, num_arguments: int, *, prefetches: bool = False
) -> Problem:
    """Return the problem of a program with its memory.

    Args:
        built: the program.
        limit: the bytes of a device; None for any number.
        num_arguments: the number of arguments of `@main`, which are the first flows.
        prefetches: whether collectives of loops run beside another iteration.
    """
    problem = built.problem
    smallest = SMALLEST_PART * (limit or 0.0)
    buffers = tuple(_buffers(built, smallest, num_arguments))
    copies = tuple(_copies(built, smallest, prefetches)) if limit is not None else ()
    return Problem(problem.nodes, problem.values, buffers, copies, limit)


def _buffers(built: Built, smallest: float, num_arguments: int) -> Iterator[Buffer]:
    graph, mesh = built.graph, built.reshards.mesh
    end = len(graph.times)
    known: dict[tuple[int, int, Shape, int], tuple[Floats, Floats]] = {}
    for number, flow in enumerate(graph.flows):
        if flow.is_tied or not flow.has_memory or flow.memory_of is not None or not flow.nbytes:
            continue
        key = built.colors[flow.producer], flow.result, flow.shape, flow.nbytes
        if key not in known:
            known[key] = _sizes(graph.sites[flow.producer].alternatives, flow, mesh)
        nbytes, partial = known[key]
        if nbytes.max() >= smallest:
            is_argument = number < num_arguments
            start, last = (0, end) if is_argument else (flow.start, flow.uses[1] + 1)
            yield Buffer(start, last, key[0], nbytes)
        if partial.any() and partial.max() >= smallest:
            yield Buffer(flow.start, flow.start + 1, key[0], partial)


def _sizes(alternatives: Alternatives, flow: Flow, mesh: Mesh) -> tuple[Floats, Floats]:
    """Return the bytes of a value, and those of its partial results beyond these."""
    results = alternatives.results[flow.result]
    nbytes = _bytes(flow, results, mesh)
    if not alternatives.computed:
        return nbytes, np.zeros(len(nbytes))
    computed = alternatives.computed[flow.result]
    return nbytes, np.maximum(_bytes(flow, computed, mesh) - nbytes, 0.0)


def _copies(built: Built, smallest: float, prefetches: bool) -> Iterator[Copy]:
    mesh = built.reshards.mesh
    for number, group in enumerate(built.groups):
        if group.flow.is_tied:
            continue
        sizes = _bytes(group.flow, group.targets, mesh)
        for target, size in enumerate(sizes):
            nbytes = np.array([0.0 if s == group.targets[target] else size for s in group.sources])
            if nbytes.max() < smallest or not nbytes.any():
                continue
            for flow in group.members:
                yield Copy(flow.uses[0], flow.uses[1] + 1, number, target, nbytes)
                body = built.graph.bodies[flow.body]
                if body.trips > 1 and prefetches and hidden_part(flow, body, prefetches=True):
                    yield Copy(body.start, body.end, number, target, nbytes)
            padded = _padded(group, group.targets[target], mesh)
            for flow in group.members if padded.any() else ():
                yield Copy(flow.uses[0], flow.uses[0] + 1, number, target, padded)


def _padded(group: FlowGroup, target: AxesPerDim, mesh: Mesh) -> Floats:
    """Return the bytes of the tensor that is padded for a reshard, by the axes of the source."""
    shape = group.flow.shape
    if is_even(shape, target, mesh):
        return np.zeros(len(group.sources))
    element = group.flow.nbytes // math.prod(shape)
    reshards = [Reshard(shape, element, source, target, mesh) for source in group.sources]
    return np.array([padded_bytes(each) for each in reshards])


def _bytes(flow: Flow, axes: Sequence[AxesPerDim], mesh: Mesh) -> Floats:
    """Return the bytes of a shard of a value, padding included, for each of several shardings."""
    return np.array(
        [flow.nbytes / num_parts_of(flow.shape, dims, mesh) for dims in axes], np.float64
    )
