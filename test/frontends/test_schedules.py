# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The communication of tactics on the training step of a decoder, as their formulas say."""

from collections import Counter

import jax
import jax.numpy as jnp
import jax_devices  # noqa: F401 (before JAX looks for devices)
import numpy as np
import pytest

import pyshardy as sdy

WIDTH, HEADS, HIDDEN = 64, 4, 256
WEIGHTS = 6
SCHEDULE = sdy.Schedule(
    [
        sdy.batch(["x", "y"], axis="data", name="BP"),
        sdy.megatron([f"*['{name}']" for name in ("q", "k", "v", "up")], axis="model", name="MP"),
        sdy.zero(parameters="weights*", axis="data", name="Z3"),
    ]
)


def layer(weights, x):
    q, k, v = (jnp.einsum("btd,dhe->bhte", x, weights[name]) for name in "qkv")
    scores = jax.nn.softmax(q @ k.swapaxes(-1, -2) / 4, axis=-1)
    x = x + jnp.einsum("bhte,hed->btd", scores @ v, weights["o"])
    return x + jnp.tanh(x @ weights["up"]) @ weights["down"]


def loss(weights, x, y):
    for each in weights:
        x = layer(each, x)
    return jnp.mean((x - y) ** 2)


def step(weights, x, y):
    value, gradients = jax.value_and_grad(loss)(weights, x, y)
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


def test_megatron_adds_four_reductions_with_each_layer(plans):
    few, many = (counts(plans[count][2]) for count in (2, 4))
    assert many["all_reduce", "model"] - few["all_reduce", "model"] == 4 * 2
    assert many["all_to_all", "model"] == 0


@pytest.mark.parametrize("num_layers", [2, 4])
def test_zero_gathers_and_scatters_each_weight(plans, num_layers):
    found = counts(plans[num_layers][3])
    assert found["reduce_scatter", "data"] == WEIGHTS * num_layers
    assert found["all_gather", "data"] == WEIGHTS * num_layers
    assert found["all_reduce", "data"] == 1, "the loss"
    memory = [each.explain().cost.argument_bytes for each in plans[num_layers]]
    assert memory == sorted(memory, reverse=True)


def test_numbers(plans):
    inputs = arrays(2)
    expected = step(*inputs)
    found = plans[2].program.run(jax.tree.leaves(inputs), backend="xla")
    for ours, theirs in zip(found, jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=2e-6)
