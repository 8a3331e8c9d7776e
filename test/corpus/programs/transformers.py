# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transformers: forward and training, with scan over layers and unrolled."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from registry import P, array, constrain, integers, lower, mesh, program

DIM, HEADS, HIDDEN, VOCABULARY = 64, 4, 128, 256

Tree = dict[str, Any]


def norm(x: jax.Array, scale: jax.Array) -> jax.Array:
    variance = jnp.mean(x * x, axis=-1, keepdims=True)
    return x * jax.lax.rsqrt(variance + 1e-6) * scale


def layer_norm(x: jax.Array, scale: jax.Array, bias: jax.Array) -> jax.Array:
    mean = x.mean(-1, keepdims=True)
    variance = jnp.var(x, -1, keepdims=True)
    return (x - mean) / jnp.sqrt(variance + 1e-5) * scale + bias


def attention(x: jax.Array, weights: Tree, causal: bool = True) -> jax.Array:
    batch, length, _ = x.shape
    size = DIM // HEADS
    q, k, v = (
        (x @ weights[name]).reshape(batch, length, HEADS, size) for name in ("wq", "wk", "wv")
    )
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / size**0.5
    if causal:
        mask = jnp.tril(jnp.ones((length, length), bool))
        scores = jnp.where(mask, scores, -1e30)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, -1), v)
    return mixed.reshape(batch, length, DIM) @ weights["wo"]


def feed_forward(x: jax.Array, weights: Tree) -> jax.Array:
    return (jax.nn.silu(x @ weights["gate"]) * (x @ weights["up"])) @ weights["down"]


def block(x: jax.Array, weights: Tree) -> jax.Array:
    x = x + attention(norm(x, weights["norm1"]), weights)
    return x + feed_forward(norm(x, weights["norm2"]), weights)


def block_shapes() -> Tree:
    return {
        "norm1": array(DIM),
        "norm2": array(DIM),
        **{name: array(DIM, DIM) for name in ("wq", "wk", "wv", "wo")},
        "gate": array(DIM, HIDDEN),
        "up": array(DIM, HIDDEN),
        "down": array(HIDDEN, DIM),
    }


def block_specs(data: str | None = None, model: str | None = "model") -> Tree:
    return {
        "norm1": P(),
        "norm2": P(),
        **{name: P(data, model) for name in ("wq", "wk", "wv", "gate", "up")},
        "wo": P(model, data),
        "down": P(model, data),
    }


def stacked(tree: Tree, layers: int) -> Tree:
    return {name: array(layers, *leaf.shape) for name, leaf in tree.items()}


def stacked_specs(tree: Tree) -> Tree:
    return {name: P(None, *spec) for name, spec in tree.items()}


def model(parameters: Tree, tokens: jax.Array) -> jax.Array:
    x = parameters["embedding"][tokens]
    for layer in range(2):
        x = block(x, parameters[f"layer{layer}"])
    return norm(x, parameters["norm"]) @ parameters["embedding"].T


def model_shapes() -> Tree:
    return {
        "embedding": array(VOCABULARY, DIM),
        "norm": array(DIM),
        "layer0": block_shapes(),
        "layer1": block_shapes(),
    }


def model_specs(data: str | None = None) -> Tree:
    return {
        "embedding": P("model", data),
        "norm": P(),
        "layer0": block_specs(data),
        "layer1": block_specs(data),
    }


def loss(parameters: Tree, tokens: jax.Array) -> jax.Array:
    logits = model(parameters, tokens[:, :-1])
    log_probabilities = jax.nn.log_softmax(logits, -1)
    picked = jnp.take_along_axis(log_probabilities, tokens[:, 1:, None], -1)
    return -picked.mean()


def scanned(parameters: Tree, x: jax.Array) -> jax.Array:
    return jax.lax.scan(lambda x, weights: (block(x, weights), None), x, parameters)[0]


@program
def transformer_forward() -> str:
    where = mesh(data=4, model=2)
    return lower(model, (model_shapes(), integers(8, 32)), where, (model_specs(), P("data")))


@program
def transformer_forward_3d() -> str:
    """Batch, sequence and model axes."""
    where = mesh(data=2, sequence=2, model=2)
    specs = (model_specs(), P("data", "sequence"))
    return lower(model, (model_shapes(), integers(8, 32)), where, specs)


@program
def transformer_train_sgd() -> str:
    def step(parameters: Tree, tokens: jax.Array) -> tuple[Tree, jax.Array]:
        value, gradients = jax.value_and_grad(loss)(parameters, tokens)
        return jax.tree.map(lambda p, g: p - 0.1 * g, parameters, gradients), value

    where = mesh(data=4, model=2)
    specs = model_specs()
    return lower(step, (model_shapes(), integers(8, 33)), where, (specs, P("data")), (specs, P()))


@program
def transformer_train_adam_fsdp() -> str:
    """Parameters and the state of the optimiser are sharded over the data axis as well."""

    def step(parameters: Tree, mean: Tree, variance: Tree, tokens: jax.Array) -> Any:
        gradients = jax.grad(loss)(parameters, tokens)
        mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, gradients)
        variance = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, variance, gradients)
        parameters = jax.tree.map(
            lambda p, m, v: p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), parameters, mean, variance
        )
        return parameters, mean, variance

    where = mesh(data=4, model=2)
    specs, shapes = model_specs("data"), model_shapes()
    return lower(
        step,
        (shapes, shapes, shapes, integers(8, 33)),
        where,
        (specs, specs, specs, P("data")),
        (specs, specs, specs),
    )


@program
def transformer_scan() -> str:
    where = mesh(data=4, model=2)
    arguments = (stacked(block_shapes(), 4), array(8, 16, DIM))
    specs = (stacked_specs(block_specs()), P("data"))
    return lower(scanned, arguments, where, specs)


@program
def transformer_scan_train() -> str:
    def step(parameters: Tree, x: jax.Array) -> Tree:
        return jax.grad(lambda p: (scanned(p, x) ** 2).mean())(parameters)

    where = mesh(data=4, model=2)
    arguments = (stacked(block_shapes(), 4), array(8, 16, DIM))
    specs = (stacked_specs(block_specs("data")), P("data"))
    return lower(step, arguments, where, specs)


@program
def transformer_scan_remat() -> str:
    """Scan over checkpointed layers: optimization barriers in the backward pass."""

    def run(parameters: Tree, x: jax.Array) -> jax.Array:
        body = jax.checkpoint(block)
        return jax.lax.scan(lambda x, weights: (body(x, weights), None), x, parameters)[0].sum()

    where = mesh(data=2, model=4)
    arguments = (stacked(block_shapes(), 3), array(8, 16, DIM))
    specs = (stacked_specs(block_specs()), P("data"))
    return lower(jax.grad(run), arguments, where, specs)


@program
def transformer_constraints() -> str:
    """Activations are constrained between layers, partly left to propagation."""
    where = mesh(data=4, model=2)

    def run(weights: Tree, x: jax.Array) -> jax.Array:
        x = constrain(x, where, "data", None, "model")
        x = block(x, weights)
        x = constrain(x, where, "data", P.UNCONSTRAINED, None)
        return constrain(block(x, weights), where, P.UNCONSTRAINED, P.UNCONSTRAINED, "model")

    return lower(run, (block_shapes(), array(8, 16, DIM)), where, (block_specs(), P()))


@program
def transformer_sequence_parallel() -> str:
    where = mesh(data=4, model=2)

    def run(weights: Tree, x: jax.Array) -> jax.Array:
        x = constrain(x, where, "data", "model", None)
        x = x + attention(norm(x, weights["norm1"]), weights)
        x = constrain(x, where, "data", "model", None)
        x = x + feed_forward(norm(x, weights["norm2"]), weights)
        return constrain(x, where, "data", "model", None)

    return lower(run, (block_shapes(), array(8, 16, DIM)), where, (block_specs(), P("data")))


@program
def transformer_decode_with_cache() -> str:
    """One token at a time, with dynamic updates of the keys and values seen so far."""

    def step(weights: Tree, keys: jax.Array, values: jax.Array, x: jax.Array, at: jax.Array) -> Any:
        size = DIM // HEADS
        q, k, v = ((x @ weights[n]).reshape(-1, 1, HEADS, size) for n in ("wq", "wk", "wv"))
        keys = jax.lax.dynamic_update_slice(keys, k, (0, at, 0, 0))
        values = jax.lax.dynamic_update_slice(values, v, (0, at, 0, 0))
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, keys)
        scores = jnp.where(jnp.arange(keys.shape[1]) <= at, scores, -1e30)
        mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, -1), values)
        return mixed.reshape(-1, 1, DIM) @ weights["wo"], keys, values

    where = mesh(data=4, model=2)
    cache = array(8, 32, HEADS, DIM // HEADS)
    weights = {name: array(DIM, DIM) for name in ("wq", "wk", "wv", "wo")}
    specs = {"wq": P(None, "model"), "wk": P(None, "model"), "wv": P(None, "model"), "wo": P()}
    held = P("data", None, "model")
    return lower(
        step,
        (weights, cache, cache, array(8, 1, DIM), integers()),
        where,
        (specs, held, held, P("data"), P()),
        (P("data"), held, held),
    )


@program
def transformer_generate_loop() -> str:
    """A whole decoding loop: while with a counter, dynamic slices, argmax and sampling."""

    def run(embedding: jax.Array, weights: Tree, tokens: jax.Array) -> jax.Array:
        def body(at: jax.Array, tokens: jax.Array) -> jax.Array:
            x = block(embedding[tokens], weights)
            here = jax.lax.dynamic_index_in_dim(x, at, 1, keepdims=False)
            best = jnp.argmax(here @ embedding.T, -1).astype(jnp.int32)
            return jax.lax.dynamic_update_index_in_dim(tokens, best, at + 1, 1)

        return jax.lax.fori_loop(0, 15, body, tokens)

    where = mesh(data=4, model=2)
    arguments = (array(VOCABULARY, DIM), block_shapes(), integers(8, 16))
    return lower(run, arguments, where, (P("model"), block_specs(), P("data")))


@program
def grouped_query_attention() -> str:
    def run(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
        k, v = (jnp.repeat(t, 4, axis=2) for t in (k, v))
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k)
        return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)

    where = mesh(data=2, model=4)
    arguments = (array(4, 16, 8, 16), array(4, 16, 2, 16), array(4, 16, 2, 16))
    spec = P("data", None, "model")
    return lower(run, arguments, where, (spec, P("data"), P("data")))


@program
def rotary_embedding() -> str:
    def run(x: jax.Array, positions: jax.Array) -> jax.Array:
        half = x.shape[-1] // 2
        angles = positions[..., None] / 10000 ** (jnp.arange(half) / half)
        sine, cosine = jnp.sin(angles)[:, :, None], jnp.cos(angles)[:, :, None]
        first, second = jnp.split(x, 2, axis=-1)
        return jnp.concatenate(
            [first * cosine - second * sine, second * cosine + first * sine], axis=-1
        )

    where = mesh(data=4, model=2)
    arguments = (array(8, 16, 4, 32), integers(8, 16))
    return lower(run, arguments, where, (P("data", None, "model", None), P("data")))


@program
def bert_layer_with_dropout() -> str:
    def run(weights: Tree, x: jax.Array, key: jax.Array) -> jax.Array:
        y = attention(x, weights, causal=False)
        kept = jax.random.bernoulli(jax.random.wrap_key_data(key), 0.9, y.shape)
        y = jnp.where(kept, y / 0.9, 0)
        x = layer_norm(x + y, weights["norm1"], weights["norm2"])
        return x + jax.nn.gelu(x @ weights["up"], approximate=False) @ weights["down"]

    where = mesh(data=4, model=2)
    key = jax.ShapeDtypeStruct((2,), jnp.uint32)
    return lower(
        run, (block_shapes(), array(8, 16, DIM), key), where, (block_specs(), P("data"), P())
    )


@program
def pipeline_of_stages() -> str:
    """Stages of layers on one axis; activations move on by a roll."""

    def run(weights: jax.Array, x: jax.Array) -> jax.Array:
        def body(state: jax.Array, _: None) -> tuple[jax.Array, jax.Array]:
            state = jnp.tanh(jnp.einsum("sbd,sde->sbe", state, weights))
            return jnp.roll(state, 1, axis=0), state[-1]

        return jax.lax.scan(body, x, None, length=6)[1]

    where = mesh(stage=4, data=2)
    arguments = (array(4, 32, 32), array(4, 8, 32))
    return lower(run, arguments, where, (P("stage"), P("stage", "data")))
