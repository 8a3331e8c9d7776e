# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The communication of tactics on the training step of a decoder, as their formulas say."""

import functools
from collections import Counter

import jax
import jax.numpy as jnp
import jax_devices  # noqa: F401 (before JAX looks for devices)
import numpy as np
import pytest

import pyshardy as sdy
from mlir_sdy.values import set_sharding
from pyshardy.explain.estimate import estimate

WIDTH, HEADS, HIDDEN = 64, 4, 256
WEIGHTS = 6
SCHEDULE = sdy.Schedule(
    [
        sdy.batch(["x", "y"], axis="data", name="BP"),
        sdy.megatron([f"*['{name}']" for name in ("q", "k", "v", "up")], axis="model", name="MP"),
        sdy.sequence(axis="model", name="SP"),
        sdy.zero(parameters="weights*", axis="data", name="Z3"),
    ]
)


def norm(x):
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6)


def layer(weights, x):
    inputs = norm(x)
    q, k, v = (jnp.einsum("btd,dhe->bhte", inputs, weights[name]) for name in "qkv")
    scores = jax.nn.softmax(q @ k.swapaxes(-1, -2) / 4, axis=-1)
    x = x + jnp.einsum("bhte,hed->btd", scores @ v, weights["o"])
    return x + jnp.tanh(norm(x) @ weights["up"]) @ weights["down"]


def loss(weights, x, y, layer=layer):
    for each in weights:
        x = layer(each, x)
    return jnp.mean((x - y) ** 2)


def step(weights, x, y, layer=layer):
    value, gradients = jax.value_and_grad(loss)(weights, x, y, layer)
    return value, jax.tree.map(lambda old, change: old - 0.1 * change, weights, gradients)


def arrays(num_layers):
    random = np.random.default_rng(0)

    def normal(*shape):
        return random.normal(0, 0.05, shape).astype(np.float32)

    shapes = {
        **dict.fromkeys("qkv", (WIDTH, HEADS, WIDTH // HEADS)),
        "o": (HEADS, WIDTH // HEADS, WIDTH),
        "up": (WIDTH, HIDDEN),
        "down": (HIDDEN, WIDTH),
    }
    weights = [{name: normal(*shape) for name, shape in shapes.items()} for _ in range(num_layers)]
    return weights, normal(8, 32, WIDTH), normal(8, 32, WIDTH)


@pytest.fixture(scope="module")
def plans():
    mesh = sdy.Mesh.of({"data": 4, "model": 2})
    modules = {count: sdy.jax.trace(step, *arrays(count), mesh=mesh) for count in (2, 4)}
    return {count: SCHEDULE.apply(module) for count, module in modules.items()}


def counts(plan_step):
    """The number of collectives of a kind along an axis, alone or with others."""
    found = Counter()
    for each in plan_step.explain().collectives:
        one = each.collective
        found.update((one.kind, axis) for axis in one.axes)
    return found


@pytest.mark.parametrize("num_layers", [2, 4])
def test_data_parallelism_reduces_each_gradient(plans, num_layers):
    found = counts(plans[num_layers][1])
    assert found["all_reduce", "data"] == WEIGHTS * num_layers + 1
    assert found["all_reduce", "model"] == found["all_gather", "data"] == 0


@pytest.mark.parametrize("num_layers", [2, 4])
def test_megatron_reduces_four_times_in_a_layer(plans, num_layers):
    found = counts(plans[num_layers][2])
    assert found["all_reduce", "model"] == 4 * num_layers - 1
    assert {kind for kind, axis in found if axis == "model"} == {"all_reduce"}


@pytest.mark.parametrize("num_layers", [2, 4])
def test_sequence_parallelism_scatters_and_gathers_instead(plans, num_layers):
    before, after = (plans[num_layers][index].explain().collectives for index in (2, 3))
    found = counts(plans[num_layers][3])
    assert found["reduce_scatter", "model"] == 4 * num_layers - 1
    assert found["all_gather", "model"] == 4 * num_layers
    assert found["all_reduce", "model"] == 1, "the loss, along both axes"
    sent = [
        sum(e.nbytes_total for e in each if "model" in e.collective.axes)
        for each in (before, after)
    ]
    one_gather = 8 // 4 * 32 // 2 * WIDTH * 4
    # The gradient of the input is needed along the sequence only; the input itself is gathered.
    assert sent[1] - sent[0] <= one_gather + 16


@pytest.mark.parametrize("num_layers", [2, 4])
def test_zero_gathers_and_scatters_each_weight(plans, num_layers):
    found = counts(plans[num_layers][4])
    assert found["reduce_scatter", "data"] == WEIGHTS * num_layers
    assert found["all_gather", "data"] == WEIGHTS * num_layers
    assert found["all_reduce", "data"] == 1, "the loss"
    memory = [each.explain().cost.argument_bytes for each in plans[num_layers]]
    assert memory == sorted(memory, reverse=True)


@pytest.mark.parametrize("num_layers", [2, 4])
def test_zero_gathers_weights_again_in_the_backward_pass(num_layers):
    """With rematerialized layers, or with the option; the peak memory falls."""
    arguments = arrays(num_layers)

    def plan_of(step, **options):
        module = sdy.jax.trace(step, *arguments, mesh=sdy.Mesh.of({"data": 8}))
        tactics = [
            sdy.batch(["x", "y"], axis="data"),
            sdy.zero(parameters="weights*", axis="data", **options),
        ]
        return sdy.partition(sdy.Schedule(tactics).propagated(module))

    kept = plan_of(step)
    again = plan_of(step, reshard_after_forward=True)
    rematerialized = plan_of(functools.partial(step, layer=jax.checkpoint(layer)))
    number = WEIGHTS * num_layers
    unneeded = 3  # for the gradient of the first layer's input
    for program, gathers in (
        (kept, number),
        (again, 2 * number - unneeded),
        (rematerialized, 2 * number),
    ):
        found = Counter(each.kind for each in program.collectives)
        assert found == {"all_gather": gathers, "reduce_scatter": number, "all_reduce": 1}
    assert peak(again) < 0.6 * peak(kept)
    sent = [sum(e.nbytes_sent for e in each.collectives) for each in (kept, rematerialized)]
    nbytes = sum(each.nbytes for weights in arguments[0] for each in weights.values())
    assert sent[1] - sent[0] == nbytes * 7 // 8
    if num_layers == 2:
        check_numbers(again)


def peak(program):
    return estimate(program, sdy.load_hardware("h100")).peak_bytes


def test_numbers(plans):
    check_numbers(plans[2].program)


@functools.cache
def expected():
    return jax.tree.leaves(jax.jit(step)(*arrays(2)))


def check_numbers(program):
    found = program.run(jax.tree.leaves(arrays(2)), backend="xla")
    for ours, theirs in zip(found, expected(), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=2e-6)


BY_HAND = {
    **dict.fromkeys("qkv", '{"data", ?}p3, {"model", ?}p2, {?}'),
    "o": '{?}, {?}, {"data", ?}p3',
    "up": '{"data", ?}p3, {"model", ?}p2',
    "down": '{?}, {"data", ?}p3',
}
"""Batch parallelism comes first, then Megatron, then ZeRO."""


def test_the_program_equals_one_that_is_annotated_by_hand():
    mesh, num_layers = sdy.Mesh.of({"data": 4, "model": 2}), 2
    module = sdy.jax.trace(step, *arrays(num_layers), mesh=mesh)
    tactics = [each for each in SCHEDULE.tactics if each.name != "SP"]  # it shards inner values
    plan = sdy.Schedule(tactics).apply(module)
    values = sdy.values(module)
    shardings = dict.fromkeys("xy", '{"data", ?}p1, {?}, {?}')
    for index in range(num_layers):
        shardings |= {f"weights[{index}]['{name}']": dims for name, dims in BY_HAND.items()}
    for name, dims in shardings.items():
        set_sharding(values[name], sdy.sharding(f"<@mesh, [{dims}]>"))
    sdy.propagate(module)
    assert sdy.asm(plan.module, debug_info=False) == sdy.asm(module, debug_info=False)
    expected = sdy.asm(sdy.partition(module).module, debug_info=False)
    assert sdy.asm(plan.program.module, debug_info=False) == expected
