# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Timelines have the times and idle shares that the formulas of schedules give."""

from fractions import Fraction

import pytest
from case_counts import spread

from mlir_sdy.model import Mesh
from mlir_sdy.mpmd.values import NamedMesh, Topology, UserOrigin
from pyshardy.local_program.tensor_spec import TensorSpec
from pyshardy.mpmd.plan import ExecutionPlan, FragmentCall, MeshTransfer
from pyshardy.mpmd.schedules.schedule import read_schedule
from pyshardy.mpmd.schedules.units import Pipeline, inputs_of
from pyshardy.mpmd.simulator import simulate
from pyshardy.mpmd.timeline import run_timeline
from pyshardy.program_interface import Port

SIZES = [(meshes, count) for meshes in range(1, 7) for count in range(1, 14)]
TIMES = [(1, 1, 1), (2, 1, 1), (3, 2, 1)]
SPEC = TensorSpec((4,), "f32")
MESH = Mesh.of({"x": 1})


def plan_of(schedule, pipeline):
    """A program of a fragment for each unit of a schedule, with a transfer to each other mesh."""
    orders = schedule.orders(pipeline)
    mesh_of = {unit: mesh for mesh, units in enumerate(orders) for unit in units}
    times = simulate(orders, pipeline.stages, lambda _: 1).intervals
    names = [f"m{mesh}" for mesh in range(pipeline.meshes)]
    steps, value_of, homes = [], {}, {}
    needs = {each: list(inputs_of(each, pipeline.stages, mesh_of)) for each in mesh_of}
    for unit in sorted(mesh_of, key=lambda each: (times[each].start, mesh_of[each])):
        mesh = mesh_of[unit]
        result = value_of[unit, mesh] = len(homes)
        homes[result] = names[mesh]
        operands = tuple(value_of[each, mesh] for each in needs[unit])
        origin = UserOrigin(f"s{unit.stage}", int(not unit.is_forward))
        half = unit.kind[1:]
        steps.append(
            FragmentCall(
                str(unit), names[mesh], (origin,), unit.microbatch, None, half, operands,
                (result,), None,
            )
        )  # fmt: skip
        users = {mesh_of[each] for each in mesh_of if unit in needs[each]} - {mesh}
        for other in sorted(users):
            arrived = value_of[unit, other] = len(homes)
            homes[arrived] = names[other]
            steps.append(MeshTransfer(len(steps), names[mesh], names[other], result, arrived, None))
    ports = {value: Port("", SPEC, None, SPEC, MESH) for value in homes}
    topology = Topology(tuple(NamedMesh(name, MESH) for name in names))
    return ExecutionPlan(topology, tuple(steps), ports, (), (), (), homes)


def timeline(name, pipeline, forward, activations, weights):
    seconds = {"F": forward, "Ba": activations, "Bw": weights, "B": activations + weights}

    def time(call):
        return Fraction(seconds[call.kind], pipeline.stages_per_mesh)

    plan = plan_of(read_schedule(name), pipeline)
    return run_timeline(plan, time, lambda _: 0, lambda _: 16, lambda _: 0)


@pytest.mark.parametrize(("meshes", "count"), spread(SIZES, 10))
@pytest.mark.parametrize("times", spread(TIMES, 1))
def test_formulas(meshes, count, times):
    forward, activations, weights = times
    backward = activations + weights
    useful = count * (forward + backward)
    pipeline = Pipeline(meshes, count)
    for name in ("gpipe", "1f1b", "1f1b{warmup=eager}", "gpipe-1f1b-last"):
        line = timeline(name, pipeline, *times)
        assert line.total == (count + meshes - 1) * (forward + backward)
        assert line.bubble == Fraction(meshes - 1, count + meshes - 1)
    line = timeline("1f1b", pipeline, *times)
    for mesh, each in enumerate(line.meshes.values()):
        window = each.intervals[-1].end - each.intervals[0].start
        if count >= meshes - mesh:
            assert window - each.busy == (meshes - 1 - mesh) * (forward + backward)
    if count >= meshes and weights <= min(forward, activations):
        line = timeline("zb-h1", pipeline, *times)
        gap = (meshes - 1) * (forward + activations - weights)
        assert line.total == useful + gap
        assert line.bubble == Fraction(gap, line.total)
    if count >= 2 * meshes - 1 and forward == activations == weights:
        line = timeline("zb-h2", pipeline, *times)
        assert line.total == useful + (meshes - 1) * forward
        assert all(each.bubble_in_window == 0 for each in line.meshes.values())
    if count % meshes == 0:
        for stages in (2, 3):
            several = Pipeline(meshes, count, stages)
            for name in ("circular", "interleaved-1f1b"):
                line = timeline(name, several, *times)
                total = Fraction((stages * count + meshes - 1) * (forward + backward), stages)
                assert line.total == total
                assert line.bubble == Fraction(meshes - 1, stages * count + meshes - 1)


def test_transfers_take_links():
    plan = plan_of(read_schedule("1f1b"), Pipeline(4, 8))
    seconds = {"F": 1, "B": 2}
    line = run_timeline(
        plan, lambda call: seconds[call.kind], lambda _: 8, lambda _: 16, lambda _: 1
    )
    assert line.total == 49
    assert line.nbytes == 16 * len(plan.transfers) == 16 * 2 * 3 * 8
    assert all(each.peak_memory >= each.peak_live > 0 for each in line.meshes.values())
    for text in (line.to_html(), line.to_json(), line.to_chrome_trace()):
        assert "F7" in text
        assert "transfer" in text
