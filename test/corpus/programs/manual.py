# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Manual computations: shard_map over all axes, or some."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from registry import P, array, constrain, lower, mesh, program


@program
def shard_map_full() -> str:
    where = mesh(data=4, model=2)

    @partial(
        jax.shard_map,
        mesh=where,
        in_specs=(P("data", "model"), P("model", None)),
        out_specs=P("data"),
    )
    def matmul(x: jax.Array, w: jax.Array) -> jax.Array:
        return lax.psum(x @ w, "model")

    def run(x: jax.Array, w: jax.Array) -> jax.Array:
        return jnp.tanh(matmul(x * 2, w)).sum(0)

    return lower(run, (array(16, 32), array(32, 8)), where, (P("data"), P()))


@program
def shard_map_partial() -> str:
    """Manual over one axis; the other is left to propagation, inside as well."""
    where = mesh(data=4, model=2)

    @partial(
        jax.shard_map,
        mesh=where,
        in_specs=(P("data"), P()),
        out_specs=P("data"),
        axis_names={"data"},
        check_vma=False,
    )
    def body(x: jax.Array, w: jax.Array) -> jax.Array:
        y = jnp.tanh(x @ w)
        return y - lax.pmean(y, "data")

    def run(x: jax.Array, w: jax.Array, v: jax.Array) -> jax.Array:
        return body(x, w) @ v

    arguments = (array(16, 32), array(32, 64), array(64, 32))
    return lower(run, arguments, where, (P("data"), P(None, "model"), P("model", None)))


@program
def shard_map_partial_with_constraint() -> str:
    where = mesh(data=2, model=4)

    @partial(
        jax.shard_map,
        mesh=where,
        in_specs=P("data"),
        out_specs=P("data"),
        axis_names={"data"},
        check_vma=False,
    )
    def body(x: jax.Array) -> jax.Array:
        x = lax.with_sharding_constraint(x, P(None, "model"))
        return jnp.sin(x) + lax.axis_index("data")

    return lower(lambda x: body(x) * 2, (array(8, 16),), where, (None,))


@program
def shard_map_ring_attention() -> str:
    """Blocks of keys and values travel around a ring of devices."""
    where = mesh(ring=8)
    ring = [(i, (i + 1) % 8) for i in range(8)]

    @partial(
        jax.shard_map,
        mesh=where,
        in_specs=(P(None, "ring"),) * 3,
        out_specs=P(None, "ring"),
        check_vma=False,
    )
    def attend(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
        def body(_: int, state: Any) -> Any:
            k, v, total, weight = state
            scores = jnp.exp(jnp.einsum("bqd,bkd->bqk", q, k))
            total = total + jnp.einsum("bqk,bkd->bqd", scores, v)
            weight = weight + scores.sum(-1, keepdims=True)
            return lax.ppermute(k, "ring", ring), lax.ppermute(v, "ring", ring), total, weight

        start = (k, v, jnp.zeros_like(q), jnp.zeros((*q.shape[:2], 1)))
        _, _, total, weight = lax.fori_loop(0, 8, body, start)
        return total / weight

    return lower(attend, (array(2, 64, 16),) * 3, where, (P(None, "ring"),) * 3)


@program
def shard_map_all_to_all() -> str:
    """From sequence to head parallelism and back."""
    where = mesh(data=2, model=4)

    @partial(
        jax.shard_map,
        mesh=where,
        in_specs=P("data", "model"),
        out_specs=P("data", "model"),
    )
    def swap(x: jax.Array) -> jax.Array:
        y = lax.all_to_all(x, "model", split_axis=2, concat_axis=1, tiled=True)
        y = jax.nn.softmax(y, axis=1)
        return lax.all_to_all(y, "model", split_axis=1, concat_axis=2, tiled=True)

    return lower(lambda x: swap(x) + 1, (array(4, 16, 8, 4),), where, (P("data", "model"),))


@program
def shard_map_gather_scatter() -> str:
    """Parameters are gathered before use, gradients scattered after: sharded by hand."""
    where = mesh(data=8)

    @partial(
        jax.shard_map,
        mesh=where,
        in_specs=(P("data"), P("data")),
        out_specs=P("data"),
        check_vma=False,
    )
    def step(w: jax.Array, x: jax.Array) -> jax.Array:
        full = lax.all_gather(w, "data", tiled=True)
        gradient = jax.grad(lambda f: (jnp.tanh(x @ f) ** 2).sum())(full)
        return w - 0.1 * lax.psum_scatter(gradient, "data", tiled=True)

    return lower(step, (array(64, 16), array(32, 64)), where, (P("data"), P("data")))


@program
def shard_map_nested() -> str:
    """Manual over one axis, and inside of that over another."""
    where = mesh(data=4, model=2)

    def outer(x: jax.Array) -> jax.Array:
        inner = jax.shard_map(
            lambda y: y * lax.axis_size("model"),
            in_specs=P(None, "model"),
            out_specs=P(None, "model"),
            axis_names={"model"},
            check_vma=False,
        )
        return inner(x + 1)

    mapped = jax.shard_map(
        outer,
        mesh=where,
        in_specs=P("data"),
        out_specs=P("data"),
        axis_names={"data"},
        check_vma=False,
    )
    return lower(mapped, (array(16, 8),), where, (P("data", "model"),))


@program
def shard_map_in_scan() -> str:
    where = mesh(data=4, model=2)

    def layer(x: jax.Array, w: jax.Array) -> tuple[jax.Array, None]:
        mapped = jax.shard_map(
            lambda x, w: lax.psum(x @ w, "model"),
            mesh=where,
            in_specs=(P("data", "model"), P("model", None)),
            out_specs=P("data", None),
        )
        return jnp.tanh(mapped(x, w)), None

    def run(x: jax.Array, weights: jax.Array) -> jax.Array:
        return constrain(lax.scan(layer, x, weights)[0], where, None, "model")

    return lower(run, (array(16, 32), array(3, 32, 32)), where, (P("data"), P()))


@program
def custom_partitioning_rule() -> str:
    """A function with a sharding rule of the user's."""
    from jax.experimental.custom_partitioning import custom_partitioning  # noqa: PLC0415

    @custom_partitioning
    def scale(x: jax.Array, w: jax.Array) -> jax.Array:
        return x * w

    scale.def_partition(
        partition=lambda where, arguments, result: (
            where,
            lambda x, w: x * w,
            result.sharding,
            [a.sharding for a in arguments],
        ),
        sharding_rule="b s d, d -> b s d",
    )

    where = mesh(data=4, model=2)

    def run(x: jax.Array, w: jax.Array) -> jax.Array:
        return jnp.sin(scale(jnp.cos(x), w))

    return lower(run, (array(8, 16, 32), array(32)), where, (P("data"), P("model")))
