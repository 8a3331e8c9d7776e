# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Automatic sharding of functions of JAX recovers the plans that experts write."""

import re

import jax
import jax_devices  # noqa: F401 (before JAX looks for devices)
import numpy as np
import pytest
from jax import numpy as jnp
from jax.sharding import PartitionSpec as P

import pyshardy as sdy
from pyshardy.forms import spec_text


def struct(*shape, dtype=jnp.bfloat16):
    return jax.ShapeDtypeStruct(shape, dtype)


def plan_of(function, *arguments, mesh, memory, in_shardings=None):
    """Return the plan, of which the partitioner sends as many bytes as it predicts."""
    module = sdy.jax.trace(function, *arguments, mesh=sdy.Mesh(mesh), in_shardings=in_shardings)
    plan = sdy.auto_shard(module, hardware="h100", memory=memory)
    assert plan.gap <= 0.01
    assert plan.check().difference <= 0.01
    return plan


def specs(plan):
    texts = {name: spec_text(each) for name, each in plan.shardings.items()}
    return {name: re.sub(r"(, None)+\)", ")", text) for name, text in texts.items()}


def attention(weights, x):
    query, key, value = (jnp.einsum("bsd,dhk->bshk", x, weights[name]) for name in "qkv")
    shares = jax.nn.softmax(jnp.einsum("bshk,bthk->bhst", query, key), axis=-1)
    mixed = jnp.einsum("bhst,bthk->bshk", shares, value)
    return jnp.einsum("bshk,hkd->bsd", mixed, weights["o"])


def test_attention_is_sharded_by_heads():
    weights = {name: struct(4096, 32, 128) for name in "qkv"} | {"o": struct(32, 128, 4096)}
    plan = plan_of(attention, weights, struct(1, 2048, 4096), mesh={"model": 8}, memory="120MB")
    assert {specs(plan)[f"weights['{name}']"] for name in "qkv"} == {"P(None, 'model')"}


def step(weights, x, y):
    """Return the loss and the new weights of a multilayer perceptron."""

    def loss(weights):
        hidden = jax.nn.relu(x @ weights["up"])
        return jnp.mean(((hidden @ weights["down"] - y).astype(jnp.float32)) ** 2)

    value, gradients = jax.value_and_grad(loss)(weights)
    return value, jax.tree.map(lambda old, new: old - 1e-3 * new, weights, gradients)


@pytest.mark.parametrize(("batch", "is_fsdp"), [(64, False), (262144, True)])
def test_the_batch_decides_between_tensor_parallelism_and_fsdp(batch, is_fsdp):
    """Small batches send activations, large ones gather weights."""
    weights = {"up": struct(8192, 32768), "down": struct(32768, 8192)}
    plan = plan_of(
        jax.jit(step, donate_argnums=0),
        *(weights, struct(batch, 8192), struct(batch, 8192)),
        mesh={"data": 8},
        memory="9GB",
        in_shardings=(None, P("data"), P("data")),
    )
    found = specs(plan)
    assert found["weights['up']"] == found["result[1]['up']"]  # it is donated
    megatron = {"up": "P(None, 'data')", "down": "P('data')"}
    is_megatron = all(found[f"weights['{name}']"] == each for name, each in megatron.items())
    assert is_megatron is not is_fsdp
    gathered = plan.prediction.bytes_by_kind.get(("all_gather", "data"), 0)
    assert (gathered > 2**28) is is_fsdp


def decoder_step(weights, x, y):
    """Return the loss and the new weights of a decoder layer."""

    def norm(x):
        square = jnp.mean(x.astype(jnp.float32) ** 2, axis=-1, keepdims=True)
        return x * jax.lax.rsqrt(square + 1e-6).astype(x.dtype)

    def loss(weights):
        hidden = x + attention(weights, norm(x))
        hidden += jax.nn.gelu(norm(hidden) @ weights["up"]) @ weights["down"]
        return jnp.mean(((hidden - y).astype(jnp.float32)) ** 2)

    value, gradients = jax.value_and_grad(loss)(weights)
    return value, jax.tree.map(lambda old, new: old - 1e-3 * new, weights, gradients)


@pytest.mark.parametrize("batch", [1, 512])
def test_a_decoder_is_sharded_as_in_megatron_or_by_fsdp(batch):
    """By heads and features for a small batch; a large one gathers sharded weights."""
    weights = {name: struct(4096, 32, 128) for name in "qkv"} | {"o": struct(32, 128, 4096)}
    weights |= {"up": struct(4096, 16384), "down": struct(16384, 4096)}
    x = struct(batch, 512, 4096)
    step = jax.jit(decoder_step, donate_argnums=0)
    plan = plan_of(step, weights, x, x, mesh={"model": 8}, memory="20GB")
    found = {name: specs(plan)[f"weights['{name}']"] for name in weights}
    if batch == 1:
        columns, rows = "P(None, 'model')", "P('model')"
        assert found == dict.fromkeys(("q", "k", "v", "up"), columns) | {"o": rows, "down": rows}
    else:
        assert specs(plan)["x"] == "P('model')"
        assert all("model" in each for each in found.values())
        nbytes = 2 * (4 * 4096**2 + 2 * 4096 * 16384)
        assert plan.prediction.bytes_by_kind["all_gather", "model"] == nbytes * 7 / 8


def test_a_callback_runs_on_one_device():
    """JAX declares a mesh of one device for it, beside the mesh of the program."""

    def function(weights, x):
        hidden = x @ weights
        return hidden + jax.pure_callback(lambda each: each, hidden, hidden)

    arguments = struct(64, 64, dtype=jnp.float32), struct(64, 64, dtype=jnp.float32)
    plan = plan_of(function, *arguments, mesh={"data": 4, "model": 2}, memory=None)
    assert "maximal" in sdy.asm(plan.module)


def experts(weights, tokens):
    hidden = jax.nn.relu(jnp.einsum("etd,edf->etf", tokens, weights["up"]))
    return jnp.einsum("etf,efd->etd", hidden, weights["down"])


def test_experts_are_sharded_by_expert():
    weights = {"up": struct(8, 4096, 14336), "down": struct(8, 14336, 4096)}
    plan = plan_of(experts, weights, struct(8, 1024, 4096), mesh={"model": 8}, memory="600MB")
    assert specs(plan)["weights['up']"] == specs(plan)["weights['down']"] == "P('model')"
    assert plan.bytes == 0


def convolution(kernel, image):
    numbers = ("NHWC", "HWIO", "NHWC")
    return jax.lax.conv_general_dilated(image, kernel, (1, 1), "SAME", dimension_numbers=numbers)


def test_a_large_image_is_sharded_by_rows():
    plan = plan_of(
        convolution,
        *(struct(3, 3, 32, 32), struct(1, 8192, 8192, 32)),
        mesh={"x": 8},
        memory="2GB",
    )
    assert specs(plan)["image"] == "P(None, 'x')"
    assert set(plan.prediction.bytes_by_kind) == {("collective_permute", "x")}


def language_model(weights, tokens):
    logits = (weights["embedding"][tokens] @ weights["head"]).astype(jnp.float32)
    return jax.nn.logsumexp(logits, axis=-1).mean()


def test_embedding_and_vocabulary_are_sharded():
    weights = {"embedding": struct(131072, 4096), "head": struct(4096, 131072)}
    tokens = struct(4, 512, dtype=jnp.int32)
    plan = plan_of(language_model, weights, tokens, mesh={"model": 8}, memory="480MB")
    assert specs(plan)["weights['head']"] == "P(None, 'model')"
    assert "model" in specs(plan)["weights['embedding']"]


def test_shardings_for_jit():
    """Arguments that are not `AUTO` keep their shardings."""
    weights = {"up": struct(4096, 16384), "down": struct(16384, 4096)}
    found = sdy.jax.auto_shard(
        lambda weights, x: jnp.tanh(x @ weights["up"]) @ weights["down"],
        *(weights, struct(1024, 4096)),
        mesh=sdy.Mesh({"data": 2, "model": 4}),
        memory="90MB",
        in_shardings=({"up": sdy.AUTO, "down": "auto"}, P("data")),
    )
    shardings, x = found.in_shardings
    assert (shardings["up"].spec, shardings["down"].spec) == (P(None, "model"), P("model", None))
    assert x.spec == P("data", None)
    assert found.out_shardings.mesh.axis_names == ("data", "model")


@pytest.mark.parametrize("kind", jax.sharding.AxisType)
def test_a_step_by_jit_is_called_again(kind):
    """The axes of a mesh of `jax.make_mesh` are explicit, which leaves XLA nothing to choose."""
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(kind, kind))
    weights = {"up": jnp.ones((64, 256)) / 64, "down": jnp.ones((256, 64)) / 256}
    arguments = weights, *2 * (jnp.ones((32, 64)),)
    found = sdy.jax.auto_shard(step, *arguments, mesh=mesh, memory="100kB")
    assert "mesh" not in repr(found), "the shardings are as many as the weights"
    assert any(each.spec[0] or each.spec[1] for each in found.in_shardings[0].values())
    run = jax.jit(step, in_shardings=found.in_shardings, out_shardings=found.out_shardings)
    _, once = run(*arguments)
    loss, _ = run(once, *arguments[1:])
    np.testing.assert_allclose(loss, step(step(*arguments)[1], *arguments[1:])[0], rtol=1e-5)


@pytest.mark.parametrize("as_of_jax", [False, True])
def test_shardings_for_jit_along_sub_axes(as_of_jax):
    """JAX knows whole axes only, so that the mesh of the shardings has the parts as axes."""
    mesh = sdy.Mesh({"model": 8})
    found = sdy.jax.auto_shard(
        lambda w, x: jnp.tanh(jnp.einsum("bd,dhe->bhe", x, w)),
        *(struct(4096, 4, 4095), struct(1022, 4096)),
        mesh=jax.sharding.AbstractMesh((8,), ("model",)) if as_of_jax else mesh,
        sub_axes=True,
    )
    weight, _ = found.in_shardings
    assert weight.spec == P(None, "model:(1)4", None)
    assert found.out_shardings.spec == P("model:(4)2", "model:(1)4", None)
    assert {*weight.mesh.shape.items()} == {("model:(1)4", 4), ("model:(4)2", 2)}
    assert found.out_shardings.mesh == weight.mesh


def test_uneven_shards_run_by_xla():
    """No size is a multiple of 2."""

    def mlp(x, up, down):
        return jnp.tanh(x @ up) @ down

    shapes = (301, 401), (401, 2001), (2001, 401)
    arguments = [struct(*shape, dtype=jnp.float32) for shape in shapes]
    module = sdy.jax.trace(mlp, *arguments, mesh=sdy.Mesh({"data": 4, "model": 2}))
    even, uneven = (sdy.auto_shard(module, hardware="cpu", uneven=each) for each in (False, True))
    assert uneven.cost < even.cost
    numbers = np.random.default_rng(0)
    inputs = [numbers.standard_normal(shape).astype("f4") / 16 for shape in shapes]
    (found,) = uneven.program.run(inputs, backend="xla")
    np.testing.assert_allclose(found, mlp(*inputs), rtol=1e-4, atol=1e-5)
