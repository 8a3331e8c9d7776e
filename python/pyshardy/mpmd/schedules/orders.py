# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Schedules: the complete order of the units of each mesh.

A schedule is a function of a pipeline and a mesh d, with options; N is the number of meshes, M of
microbatches, V of stages on each mesh. For N = 3 and M = 4, these are the orders of the meshes:

    gpipe   F0 F1 F2 F3 B0 B1 B2 B3   F0 F1 F2 F3 B0 B1 B2 B3   F0 F1 F2 F3 B0 B1 B2 B3
    1f1b    F0 F1 F2 B0 F3 B1 B2 B3   F0 F1 B0 F2 B1 F3 B2 B3   F0 B0 F1 B1 F2 B2 F3 B3

Upstream leaves the order of units of one kind to the program. These are the orders that it finds if
gradients are summed from microbatch to microbatch; for schedules without such an order upstream,
such as zero bubbles with fewer microbatches than meshes, they have fewer gaps.

Sources: GPipe (Huang et al. 2019), 1F1B (Narayanan et al. 2019) and its interleaved form (Narayanan
et al. 2021), zero bubbles (Qi et al. 2024), circular pipelines (praxis).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, Literal

from mlir_sdy.diagnostics import UsageError, error
from pyshardy.mpmd.schedules.units import Orders, Pipeline, SchedulingUnit

Order = Callable[..., Iterable[SchedulingUnit]]


def gpipe(pipeline: Pipeline, mesh: int) -> Iterable[SchedulingUnit]:
    """Run all forward units, then all backward units."""
    for kind in "FB":
        for microbatch in range(pipeline.microbatches):
            yield SchedulingUnit(kind, microbatch, mesh)


def one_forward_one_backward(
    pipeline: Pipeline, mesh: int, *, warmup: Literal["least", "eager"] = "least"
) -> Iterable[SchedulingUnit]:
    """Alternate forward and backward units as soon as there is a gradient.

    Options:
        warmup: `least` for N - d forward units before the first backward unit, with least
            memory; `eager` for 2 (N - d) - 1, which hide transfers of up to one unit.
    """
    left = pipeline.meshes - mesh
    first = min(left if warmup == "least" else 2 * left - 1, pipeline.microbatches)
    for microbatch in range(first):
        yield SchedulingUnit("F", microbatch, mesh)
    for microbatch in range(pipeline.microbatches):
        yield SchedulingUnit("B", microbatch, mesh)
        if first + microbatch < pipeline.microbatches:
            yield SchedulingUnit("F", first + microbatch, mesh)


def gpipe_with_1f1b_last(pipeline: Pipeline, mesh: int) -> Iterable[SchedulingUnit]:
    """Run all forward units first, but alternate them with backward units on the last mesh."""
    is_last = mesh == pipeline.meshes - 1
    return one_forward_one_backward(pipeline, mesh) if is_last else gpipe(pipeline, mesh)


def zero_bubble_h1(pipeline: Pipeline, mesh: int) -> Iterable[SchedulingUnit]:
    """Fill gaps by gradients of weights, with the memory of 1F1B."""
    ahead = pipeline.meshes - mesh
    return _zero_bubble(pipeline, mesh, ahead, mesh + 1)


def zero_bubble_h2(
    pipeline: Pipeline, mesh: int, *, latency: float = 0.0
) -> Iterable[SchedulingUnit]:
    """Fill all gaps by gradients of weights, with up to twice the memory of 1F1B.

    Options:
        latency: the time of a transfer, in times of a unit.
    """

    def ahead(position: int) -> int:
        left = pipeline.meshes - position
        return math.floor(2 * left - 1 + 2 * (left - 1) * latency)

    return _zero_bubble(pipeline, mesh, ahead(mesh), ahead(pipeline.meshes - 1 - mesh))


def _zero_bubble(pipeline: Pipeline, mesh: int, ahead: int, late: int) -> Iterable[SchedulingUnit]:
    """Order split backward units.

    1. The first `ahead` forward units come first. Then, until all units are placed:
    2. the next Ba;
    3. the next Bw, if `late` Ba aren't followed by their Bw, or no Ba is left;
    4. the next F, if fewer than `ahead` of them aren't followed by their Ba.

    On the first mesh, B stands for Ba and Bw.
    """
    count = pipeline.microbatches
    forward, activations, weights = min(ahead, count), 0, 0
    for microbatch in range(forward):
        yield SchedulingUnit("F", microbatch, mesh)
    while weights < count:
        if activations < count:
            yield SchedulingUnit("Ba" if mesh else "B", activations, mesh)
            activations += 1
        if activations - weights >= late or activations == count:
            if mesh:
                yield SchedulingUnit("Bw", weights, mesh)
            weights += 1
        if forward < min(count, activations + ahead):
            yield SchedulingUnit("F", forward, mesh)
            forward += 1


def circular(pipeline: Pipeline, mesh: int, *, reversed: bool = False) -> Iterable[SchedulingUnit]:  # noqa: A002
    """Send N microbatches through all stages of a mesh before the next N start.

    Options:
        reversed: run the backward units in the opposite order of the forward units, which needs
            gradients that are summed after the loop.
    """
    meshes, count = pipeline.meshes, pipeline.microbatches
    stages = range(mesh, pipeline.stages, meshes)
    groups = [range(first, min(first + meshes, count)) for first in range(0, count, meshes)]
    forward = [
        SchedulingUnit("F", each, stage) for group in groups for stage in stages for each in group
    ]
    yield from forward
    if reversed:
        for unit in forward[::-1]:
            yield SchedulingUnit("B", unit.microbatch, unit.stage)
        return
    for group in groups:
        for stage in stages[::-1]:
            for microbatch in group:
                yield SchedulingUnit("B", microbatch, stage)


def interleaved_1f1b(pipeline: Pipeline, mesh: int) -> Iterable[SchedulingUnit]:
    """Alternate forward and backward units of several stages on each mesh; N must divide M."""
    meshes, chunks = pipeline.meshes, pipeline.stages_per_mesh
    count = pipeline.microbatches * chunks

    def unit(kind: str, position: int) -> SchedulingUnit:
        microbatch = position // (meshes * chunks) * meshes + position % meshes
        chunk = position // meshes % chunks
        if kind == "B":
            chunk = chunks - 1 - chunk
        return SchedulingUnit(kind, microbatch, mesh + meshes * chunk)

    first = min(2 * (meshes - mesh - 1) + (chunks - 1) * meshes, count)
    for position in range(count + first):
        if position < count:
            yield unit("F", position)
        if position >= first:
            yield unit("B", position - first)


def wrap_around(pipeline: Pipeline, mesh: int) -> Iterable[SchedulingUnit]:
    """Start each of N microbatches on a mesh of its own, for forward passes only.

    Stage s of microbatch i runs on mesh i + s modulo N.
    """
    meshes, count = pipeline.meshes, pipeline.microbatches
    for first in range(0, count, meshes):
        for stage in range(meshes):
            microbatch = first + (mesh - stage) % meshes
            if microbatch < count:
                yield SchedulingUnit("F", microbatch, stage)


ORDERS: dict[str, Order] = {
    "gpipe": gpipe,
    "1f1b": one_forward_one_backward,
    "gpipe-1f1b-last": gpipe_with_1f1b_last,
    "zb-h1": zero_bubble_h1,
    "zb-h2": zero_bubble_h2,
    "circular": circular,
    "interleaved-1f1b": interleaved_1f1b,
    "wrap-around": wrap_around,
}

WITH_STAGES = ("circular", "interleaved-1f1b")
"""The schedules for several stages on each mesh."""


def orders_of(name: str, pipeline: Pipeline, options: dict[str, Any]) -> Orders:
    """Return the orders of all meshes.

    Args:
        name: a key of `ORDERS`.
        pipeline: the numbers of meshes, microbatches and stages.
        options: the keyword arguments of the schedule.

    Raises:
        UsageError: the schedule isn't for such a pipeline.
    """
    if pipeline.stages_per_mesh > 1 and name not in WITH_STAGES:
        several = " or ".join(f"'{each}'" for each in WITH_STAGES)
        message = (
            f"schedule '{name}' is for one stage on each mesh, got {pipeline.stages_per_mesh}: "
            f"use {several}"
        )
        raise UsageError(error(message))
    if name == "interleaved-1f1b" and pipeline.microbatches % pipeline.meshes:
        message = (
            f"schedule '{name}' needs a multiple of {pipeline.meshes} microbatches, the number of "
            f"meshes, got {pipeline.microbatches}: use 'circular', or other microbatches"
        )
        raise UsageError(error(message))
    order = ORDERS[name]
    return tuple(tuple(order(pipeline, mesh, **options)) for mesh in range(pipeline.meshes))
