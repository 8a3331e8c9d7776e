# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy.mpmd.auto` puts names on meshes such that a step is short, and the program runs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from mpmd_models import products

import pyshardy as sdy
from pyshardy.mpmd.planning import peak_bytes
from pyshardy.mpmd.reference import without_names
from pyshardy.program import compile_unpartitioned

MESH = {"data": 2, "model": 1}


def planned(model, meshes=2, **options):
    options = {**model.options, "mesh": MESH, "hardware": "h100", **options}
    return sdy.mpmd.auto(model.step, *model.arguments, meshes=meshes, **options)


def wide_step(widths, microbatches=4):
    """Return a step of layers of a width each, and the shapes of its arguments."""

    def layer(weights, x):
        return x + jnp.tanh(x @ weights["up"]) @ weights["down"]

    def loss_of(parameters, x):
        for index, weights in enumerate(parameters):
            x = sdy.mpmd.named_computation(layer, name=f"layer{index}")(weights, x)
        return sdy.mpmd.named_computation(lambda x: (x**2).mean(), name="loss")(x)

    def step(parameters, x):
        gradients = sdy.mpmd.microbatched(jax.value_and_grad(loss_of), microbatches)
        loss, found = gradients(parameters, x)
        return loss, jax.tree.map(lambda old, new: old - 0.1 * new, parameters, found)

    def array(*shape):
        return jax.ShapeDtypeStruct(shape, jnp.float32)

    parameters = [{"up": array(512, width), "down": array(width, 512)} for width in widths]
    return step, (parameters, array(32768, 512))


def test_a_plan_computes_and_takes_the_simulated_time():
    model = products(4)
    plan = planned(model)
    assert list(plan.assignment) == ["embed", *(f"layer{i}" for i in range(4)), "loss"]
    expected = compile_unpartitioned(without_names(plan.module), "interpreter")(model.flat)
    for array, right in zip(plan.program.run(model.flat), expected, strict=True):
        np.testing.assert_allclose(array, right, rtol=1e-5, atol=1e-6)
    taken = float(plan.program.timeline("h100").total)
    assert taken == pytest.approx(plan.best.seconds, rel=0.2)
    assert f'schedule = "{plan.best.schedule}"' in plan.to_toml()
    assert '"embed" = "m0"' in plan.to_toml()


def test_a_wide_layer_is_alone():
    step, arguments = wide_step([512, 512, 4096, 512, 512])
    plan = sdy.mpmd.auto(
        step, *arguments, meshes=3, mesh={"data": 2}, hardware="h100", schedules=("1f1b", "gpipe")
    )
    on_second = [name for name, mesh in plan.assignment.items() if mesh == "m1"]
    assert on_second == ["layer2"]
    times = [each.seconds for each in plan.candidates]
    assert times == sorted(times)
    assert {each.schedule for each in plan.candidates} == {"1f1b", "gpipe"}
    assert plan.bound == min(each.boundaries.total for each in plan.candidates)
    taken = float(plan.program.timeline("h100").total)
    assert taken == pytest.approx(plan.best.seconds, rel=0.1)


def test_the_memory_of_a_plan_is_that_of_its_program():
    """The arguments of the first mesh are freed on the way, which the plan leaves out."""
    step, arguments = wide_step([512, 512, 4096, 512, 512])
    plan = sdy.mpmd.auto(step, *arguments, meshes=3, mesh={"data": 2}, hardware="h100")
    line = plan.program.timeline("h100")
    for number, (interval, mesh) in enumerate(
        zip(plan.best.boundaries.intervals, line.meshes.values(), strict=True)
    ):
        planned = peak_bytes([plan.layers[at] for at in interval], 3 - number)
        assert 0.6 * planned < mesh.peak_memory < 1.1 * planned


def test_names_that_are_pinned():
    model = products(4)
    plan = planned(model, pinned={"layer1": 1})
    assert plan.assignment["embed"] == "m0"
    assert plan.assignment["layer1"] == "m1"
    for pinned, message in (
        ({"layer7": 1}, "'pinned' has 'layer7', which the program doesn't"),
        ({"layer1": 2}, "'pinned' has 2 for 'layer1': expected the number of a mesh, 0 to 1"),
        ({"layer1": "m1"}, "'pinned' has 'm1' for 'layer1'"),
    ):
        with pytest.raises(sdy.UsageError, match=message):
            planned(model, pinned=pinned)


def test_what_does_not_fit():
    model = products(2)
    with pytest.raises(sdy.UsageError, match="4 layers can't be on 6 meshes"):
        planned(model, meshes=6)
    with pytest.raises(sdy.UsageError, match=r"no boundaries fit into 100 bytes of a device: .*"):
        planned(model, memory=100)
    with pytest.raises(sdy.UsageError, match="no schedule '1f1c'; did you mean '1f1b'"):
        planned(model, schedules=["1f1c"])
    with pytest.raises(sdy.UsageError, match="'schedules' needs at least one schedule"):
        planned(model, schedules=[])
    assert planned(model, schedules="gpipe").best.schedule == "gpipe"
    with pytest.raises(sdy.UsageError, match="the program has no names of computations"):
        sdy.mpmd.auto(lambda x: x, *model.flat[:1], meshes=1, mesh={"data": 2})
