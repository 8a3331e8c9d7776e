# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mixtures of experts, and embeddings."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from registry import P, array, constrain, integers, lower, mesh, program


@program
def moe_top_k() -> str:
    """Tokens go to their two best experts by one-hot dispatch, with a capacity."""
    where = mesh(data=2, expert=4)

    def run(x: jax.Array, router: jax.Array, up: jax.Array, down: jax.Array) -> jax.Array:
        probabilities = jax.nn.softmax(x @ router)
        gates, chosen = jax.lax.top_k(probabilities, 2)
        one_hot = jax.nn.one_hot(chosen, 8)
        position = (jnp.cumsum(one_hot.reshape(-1, 8), 0) * one_hot.reshape(-1, 8)).sum(-1) - 1
        slot = jax.nn.one_hot(position.reshape(chosen.shape), 16)
        dispatch = jnp.einsum("tke,tkc->tec", one_hot, slot)
        combine = jnp.einsum("tk,tke,tkc->tec", gates, one_hot, slot)
        inputs = jnp.einsum("tec,td->ecd", dispatch, x)
        inputs = constrain(inputs, where, "expert", None, None)
        hidden = jax.nn.relu(jnp.einsum("ecd,edf->ecf", inputs, up))
        outputs = jnp.einsum("ecf,efd->ecd", hidden, down)
        return jnp.einsum("tec,ecd->td", combine, outputs)

    arguments = (array(64, 32), array(32, 8), array(8, 32, 64), array(8, 64, 32))
    return lower(run, arguments, where, (P("data"), P(), P("expert"), P("expert")))


@program
def moe_top_k_train() -> str:
    where = mesh(data=2, expert=4)

    def loss(weights: Any, x: jax.Array) -> jax.Array:
        router, up, down = weights
        gates, chosen = jax.lax.top_k(jax.nn.softmax(x @ router), 1)
        dispatch = jax.nn.one_hot(chosen[..., 0], 8)
        inputs = jnp.einsum("te,td->etd", dispatch, x)
        outputs = jnp.einsum(
            "etf,efd->etd", jax.nn.relu(jnp.einsum("etd,edf->etf", inputs, up)), down
        )
        return (jnp.einsum("etd,te->td", outputs, dispatch * gates) ** 2).mean()

    weights = (array(32, 8), array(8, 32, 64), array(8, 64, 32))
    specs = (P(), P("expert", None, None), P("expert", None, None))
    return lower(jax.grad(loss), (weights, array(64, 32)), where, (specs, P("data")))


@program
def moe_sorted_dispatch() -> str:
    """Tokens are sorted by expert, gathered, and scattered back."""

    def run(x: jax.Array, router: jax.Array, weights: jax.Array) -> jax.Array:
        chosen = jnp.argmax(x @ router, -1)
        order = jnp.argsort(chosen)
        groups = x[order].reshape(8, 8, 32)
        outputs = jnp.einsum("etd,edf->etf", groups, weights).reshape(64, 32)
        return jnp.zeros_like(x).at[order].set(outputs)

    where = mesh(data=2, expert=4)
    arguments = (array(64, 32), array(32, 8), array(8, 32, 32))
    return lower(run, arguments, where, (P("data"), P(), P("expert")))


@program
def embedding_lookup() -> str:
    where = mesh(data=4, model=2)
    return lower(
        lambda table, ids: table[ids],
        (array(128, 32), integers(8, 16)),
        where,
        (P("model"), P("data")),
    )


@program
def embedding_lookup_by_columns() -> str:
    where = mesh(data=4, model=2)
    return lower(
        lambda table, ids: jnp.take(table, ids, axis=0, mode="clip") * 2.0,
        (array(128, 32), integers(8, 16)),
        where,
        (P(None, "model"), P("data")),
        P("data", None, "model"),
    )


@program
def embedding_gradient() -> str:
    """The gradient of a lookup is a scatter-add."""

    def run(table: jax.Array, ids: jax.Array, out: jax.Array) -> jax.Array:
        return jax.grad(lambda t: (t[ids] * out).sum())(table)

    where = mesh(data=4, model=2)
    arguments = (array(128, 32), integers(8, 16), array(8, 16, 32))
    return lower(run, arguments, where, (P("model"), P("data"), P("data")), P("model"))


@program
def embedding_bag() -> str:
    def run(table: jax.Array, ids: jax.Array, bags: jax.Array) -> jax.Array:
        return jax.ops.segment_sum(table[ids], bags, num_segments=8)

    where = mesh(data=8)
    arguments = (array(64, 16), integers(32), integers(32))
    return lower(run, arguments, where, (P(), P("data"), P("data")))


@program
def one_hot_classifier() -> str:
    def loss(weights: jax.Array, x: jax.Array, labels: jax.Array) -> jax.Array:
        logits = x @ weights
        return -(jax.nn.one_hot(labels, 16) * jax.nn.log_softmax(logits)).sum(-1).mean()

    where = mesh(data=4, model=2)
    arguments = (array(32, 16), array(64, 32), integers(64))
    return lower(
        jax.value_and_grad(loss), arguments, where, (P(None, "model"), P("data"), P("data"))
    )


@program
def two_towers() -> str:
    """Retrieval: two embeddings, normalised, with a softmax over the batch."""

    def loss(left: Any, right: Any, users: jax.Array, items: jax.Array) -> jax.Array:
        def tower(weights: Any, x: jax.Array) -> jax.Array:
            x = jax.nn.relu(x @ weights[0]) @ weights[1]
            return x / jnp.linalg.norm(x, axis=-1, keepdims=True)

        scores = tower(left, users) @ tower(right, items).T
        return -jnp.diag(jax.nn.log_softmax(scores)).mean()

    where = mesh(data=4, model=2)
    weights = (array(32, 64), array(64, 16))
    spec = (P(None, "model"), P("model", None))
    arguments = (weights, weights, array(32, 32), array(32, 32))
    return lower(
        jax.grad(loss, argnums=(0, 1)), arguments, where, (spec, spec, P("data"), P("data"))
    )
