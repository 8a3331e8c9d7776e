# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The communication of tactics for vocabularies, experts and images, as their formulas say."""

from collections import Counter

import jax
import jax.numpy as jnp
import jax_devices  # noqa: F401 (before JAX looks for devices)
import numpy as np
import pytest

import pyshardy as sdy

RANDOM = np.random.default_rng(0)
VOCABULARY, WIDTH, EXPERTS, CAPACITY = 128, 32, 8, 8


def normal(*shape):
    return RANDOM.normal(0, 0.1, shape).astype(np.float32)


def step_of(loss):
    def step(params, inputs, labels):
        value, gradients = jax.value_and_grad(loss)(params, inputs, labels)
        return value, jax.tree.map(lambda old, change: old - 0.1 * change, params, gradients)

    return step


def counts(plan_step):
    """The number of collectives by kind and axes."""
    collectives = (each.collective for each in plan_step.explain().collectives)
    return Counter((one.kind, ",".join(one.axes)) for one in collectives)


def check_numbers(plan, loss, arguments):
    expected = jax.tree.leaves(step_of(loss)(*arguments))
    found = plan.program.run(jax.tree.leaves(arguments), backend="xla")
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)


def cross_entropy(params, tokens, labels):
    x = params["embed"][tokens]
    x = x + jnp.tanh(x @ params["up"]) @ params["down"]
    scores = jax.nn.log_softmax(x @ params["head"])
    return -jnp.mean(jnp.take_along_axis(scores, labels[..., None], -1))


def test_vocabulary():
    params = {
        "embed": normal(VOCABULARY, WIDTH),
        "up": normal(WIDTH, 4 * WIDTH),
        "down": normal(4 * WIDTH, WIDTH),
        "head": normal(WIDTH, VOCABULARY),
    }
    tokens, labels = RANDOM.integers(0, VOCABULARY, (2, 8, 32)).astype(np.int32)
    arguments = params, tokens, labels
    mesh = sdy.Mesh.of({"data": 4, "model": 2})
    module = sdy.jax.trace(step_of(cross_entropy), *arguments, mesh=mesh)
    plan = sdy.Schedule(
        [
            sdy.batch(["inputs", "labels"], axis="data", name="BP"),
            sdy.megatron("*['up']", axis="model", name="MP"),
            sdy.vocabulary(["*['embed']", "*['head']"], axis="model", name="VP"),
        ]
    ).apply(module)
    assert [each.dim for each in plan[3].assigned] == [0, 1]
    of_block, of_vocabulary = 2, 1 + 1 + 4
    assert counts(plan[3])["all_reduce", "model"] == of_block + of_vocabulary
    assert {kind for kind, _ in counts(plan[3])} == {"all_reduce"}
    check_numbers(plan, cross_entropy, arguments)


def mixture(weights, x):
    """A mixture of experts that dispatches by products, as in GShard."""
    gates = jax.nn.softmax(x @ weights["router"])
    chosen = jax.nn.one_hot(jnp.argmax(gates, -1), EXPERTS)
    position = (jnp.cumsum(chosen, 1) * chosen - 1).astype(jnp.int32)
    dispatch = jax.nn.one_hot(position, CAPACITY) * chosen[..., None]
    inputs = jnp.einsum("btec,btm->ebcm", dispatch, x)
    hidden = jnp.tanh(jnp.einsum("ebcm,emf->ebcf", inputs, weights["up"]))
    outputs = jnp.einsum("ebcf,efm->ebcm", hidden, weights["down"])
    combine = dispatch * jnp.max(gates, -1)[..., None, None]
    return x + jnp.einsum("btec,ebcm->btm", combine, outputs)


def mixture_loss(params, x, y):
    for weights in params:
        x = mixture(weights, x)
    return jnp.mean((x - y) ** 2)


@pytest.mark.parametrize("num_layers", [2, 4])
def test_experts(num_layers):
    params = [
        {
            "router": normal(WIDTH, EXPERTS),
            "up": normal(EXPERTS, WIDTH, 2 * WIDTH),
            "down": normal(EXPERTS, 2 * WIDTH, WIDTH),
        }
        for _ in range(num_layers)
    ]
    arguments = params, normal(8, 16, WIDTH), normal(8, 16, WIDTH)
    mesh = sdy.Mesh.of({"expert": 8})
    module = sdy.jax.trace(step_of(mixture_loss), *arguments, mesh=mesh)
    plan = sdy.Schedule(
        [
            sdy.batch(["inputs", "labels"], axis="expert", name="BP"),
            sdy.expert(["*['up']", "*['down']"], axis="expert", name="EP"),
        ]
    ).apply(module)
    assert counts(plan[1]) == {("all_reduce", "expert"): 3 * num_layers + 1}
    assert counts(plan[2]) == {
        ("all_reduce", "expert"): num_layers + 1,
        ("all_to_all", "expert"): 4 * num_layers - 1,
    }
    check_numbers(plan, mixture_loss, arguments)


def convolutions(params, images, labels):
    for kernel in params:
        images = jax.lax.conv_general_dilated(
            images, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        images = jax.nn.relu(images)
    return jnp.mean((jnp.mean(images, (1, 2)) - labels) ** 2)


@pytest.mark.parametrize("num_layers", [2, 4])
def test_images(num_layers):
    params = [normal(3, 3, 4, 4) for _ in range(num_layers)]
    arguments = params, normal(4, 32, 16, 4), normal(4, 4)
    mesh = sdy.Mesh.of({"data": 2, "height": 4})
    module = sdy.jax.trace(step_of(convolutions), *arguments, mesh=mesh)
    plan = sdy.Schedule(
        [
            sdy.batch(["inputs", "labels"], axis="data", name="BP"),
            sdy.spatial("inputs", axis="height", dim=1, name="rows"),
        ]
    ).apply(module)
    found = counts(plan[2])
    forward, of_kernels, of_inputs = num_layers, num_layers, num_layers - 1
    assert found["collective_permute", "height"] == 2 * (forward + of_kernels + of_inputs)
    assert found["all_reduce", "data,height"] == num_layers, "the gradients of the kernels"
    assert not {kind for kind, _ in found} - {"all_reduce", "collective_permute"}
    check_numbers(plan, convolutions, arguments)


def test_tactics_without_a_use_are_errors():
    module = sdy.jax.trace(
        lambda x, w: jnp.tanh(x) + w, normal(8, 8), normal(8), mesh=sdy.Mesh.of({"a": 2})
    )
    for made, reason in (
        (sdy.sequence(axis="a"), "comes after a tactic"),
        (sdy.vocabulary("w", axis="a"), "no lookup or matrix product uses 'w'"),
        (sdy.expert("w", axis="a"), "no matrix product batches a dimension of 'w'"),
        (sdy.spatial("x", axis="a", dim=3), "has 2 dimensions"),
    ):
        with pytest.raises(sdy.UsageError, match=reason):
            sdy.Schedule([made]).apply(module)
