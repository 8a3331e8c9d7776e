# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops, branches, and calls of functions."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from registry import P, array, constrain, integers, lower, mesh, program


@program
def while_until_converged() -> str:
    """Power iteration: the condition depends on a norm."""

    def run(matrix: jax.Array, start: jax.Array) -> jax.Array:
        def unfinished(state: Any) -> jax.Array:
            return (jnp.abs(state[1] - state[0]).max() > 1e-3) & (state[2] < 100)

        def body(state: Any) -> Any:
            vector, _, count = state
            after = matrix @ vector
            return after / jnp.linalg.norm(after), vector, count + 1

        return lax.while_loop(unfinished, body, (start, jnp.zeros_like(start), 0))[0]

    where = mesh(rows=4, columns=2)
    return lower(run, (array(64, 64), array(64)), where, (P("rows", "columns"), P("columns")))


@program
def scan_recurrent_cell() -> str:
    def run(weights: Any, xs: jax.Array, state: jax.Array) -> Any:
        def cell(state: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
            state = jnp.tanh(x @ weights[0] + state @ weights[1])
            return state, state * 2

        return lax.scan(cell, state, xs)

    where = mesh(data=4, model=2)
    weights = (array(16, 32), array(32, 32))
    specs = ((P(None, "model"), P(None, "model")), P(None, "data"), P("data"))
    return lower(run, (weights, array(10, 8, 16), array(8, 32)), where, specs)


@program
def scan_lstm_gradient() -> str:
    def loss(weights: jax.Array, xs: jax.Array) -> jax.Array:
        def cell(carry: Any, x: jax.Array) -> Any:
            hidden, memory = carry
            gates = jnp.concatenate([x, hidden], -1) @ weights
            i, f, g, o = jnp.split(gates, 4, -1)
            memory = jax.nn.sigmoid(f) * memory + jax.nn.sigmoid(i) * jnp.tanh(g)
            return (jax.nn.sigmoid(o) * jnp.tanh(memory), memory), None

        zeros = jnp.zeros((8, 16))
        return lax.scan(cell, (zeros, zeros), xs)[0][0].sum()

    where = mesh(data=4, model=2)
    return lower(
        jax.grad(loss), (array(32, 64), array(6, 8, 16)), where, (P(None, "model"), P(None, "data"))
    )


@program
def cond_on_scalar() -> str:
    def run(flag: jax.Array, x: jax.Array, y: jax.Array) -> jax.Array:
        return lax.cond(flag > 0, lambda: x @ y, lambda: jnp.sin(x) + y.T)

    where = mesh(data=4, model=2)
    arguments = (integers(), array(32, 32), array(32, 32))
    return lower(run, arguments, where, (P(), P("data"), P(None, "model")))


@program
def switch_of_branches() -> str:
    def run(index: jax.Array, x: jax.Array) -> Any:
        branches = [
            lambda v: (v * 2, v.sum(0)),
            lambda v: (v.T @ v @ v.T, v.mean(0)) if False else (jnp.cos(v), v.max(0)),
            lambda v: (jnp.flip(v, 0), v[0]),
        ]
        return lax.switch(index, branches, x)

    where = mesh(data=4, model=2)
    return lower(run, (integers(), array(16, 8)), where, (P(), P("data", "model")))


@program
def fori_matrix_power() -> str:
    def run(x: jax.Array) -> jax.Array:
        return lax.fori_loop(0, 5, lambda _, y: (y @ x) / 10.0, x)

    where = mesh(rows=4, columns=2)
    return lower(run, (array(32, 32),), where, (P("rows", "columns"),), P("columns", "rows"))


@program
def nested_loops() -> str:
    def run(x: jax.Array, weights: jax.Array) -> jax.Array:
        def outer(x: jax.Array, w: jax.Array) -> tuple[jax.Array, None]:
            return lax.fori_loop(0, 3, lambda _, y: jnp.tanh(y @ w), x), None

        return lax.scan(outer, x, weights)[0]

    where = mesh(data=4, model=2)
    arguments = (array(16, 32), array(4, 32, 32))
    return lower(run, arguments, where, (P("data"), P(None, None, "model")))


@program
def calls_of_one_function() -> str:
    """One jitted function called with different shardings."""

    @jax.jit
    def layer(x: jax.Array, w: jax.Array) -> jax.Array:
        return jax.nn.relu(x @ w)

    where = mesh(data=4, model=2)

    def run(x: jax.Array, w: jax.Array, v: jax.Array) -> jax.Array:
        y = layer(x, w)
        z = layer(y, v)
        return layer(z + x, w)

    arguments = (array(16, 32), array(32, 32), array(32, 32))
    return lower(run, arguments, where, (P("data"), P(None, "model"), P("model", None)))


@program
def nested_calls() -> str:
    @jax.jit
    def inner(x: jax.Array) -> jax.Array:
        return jnp.sin(x) * 2

    @jax.jit
    def middle(x: jax.Array, y: jax.Array) -> Any:
        return inner(x) + y, inner(y)

    where = mesh(data=4, model=2)

    def run(x: jax.Array, y: jax.Array) -> Any:
        a, b = middle(x, y)
        c, d = middle(b, constrain(a, where, None, "model"))
        return inner(c), d

    return lower(run, (array(16, 8), array(16, 8)), where, (P("data"), None))


@program
def custom_derivative() -> str:
    @jax.custom_vjp
    def clip(x: jax.Array) -> jax.Array:
        return x

    clip.defvjp(lambda x: (x, None), lambda _, g: (jnp.clip(g, -1, 1),))

    def loss(w: jax.Array, x: jax.Array) -> jax.Array:
        return (clip(x @ w) ** 2).sum()

    where = mesh(data=4, model=2)
    return lower(
        jax.grad(loss), (array(32, 16), array(8, 32)), where, (P(None, "model"), P("data"))
    )


@program
def associative_scan() -> str:
    where = mesh(data=4, model=2)
    return lower(
        lambda x: lax.associative_scan(jnp.multiply, x, axis=1),
        (array(8, 16),),
        where,
        (P("data", "model"),),
    )


@program
def map_over_rows() -> str:
    where = mesh(data=4, model=2)
    return lower(
        lambda x, w: lax.map(lambda row: jnp.tanh(row @ w), x),
        (array(16, 8, 32), array(32, 16)),
        where,
        (P(None, "data"), P(None, "model")),
    )
