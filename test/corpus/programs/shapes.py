# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Uneven shapes, meshes of one to three axes, open dimensions, and conflicts."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from registry import P, array, constrain, lower, mesh, program


def perceptron(weights: Any, x: jax.Array) -> jax.Array:
    return jnp.tanh(jnp.tanh(x @ weights[0]) @ weights[1])


@program
def uneven_matmul() -> str:
    """No size is divided by its axis; constraints may do what arguments may not."""
    where = mesh(data=4, model=2)

    def run(x: jax.Array, w: jax.Array) -> jax.Array:
        x, w = constrain(x, where, "data", None), constrain(w, where, None, "model")
        return jax.nn.softmax(x @ w)

    return lower(run, (array(10, 7), array(7, 5)), where)


@program
def uneven_reshape() -> str:
    where = mesh(data=4, model=2)

    def run(x: jax.Array) -> jax.Array:
        y = constrain(x, where, ("data", "model")).reshape(6, 10)
        return constrain(y.T.reshape(4, 15), where, "data", None)

    return lower(run, (array(60),), where)


@program
def mesh_of_one_axis() -> str:
    weights = (array(16, 64), array(64, 16))
    where = mesh(x=8)
    return lower(perceptron, (weights, array(32, 16)), where, ((P(None, "x"), P("x")), P()))


@program
def mesh_of_three_axes() -> str:
    weights = (array(16, 64), array(64, 16))
    where = mesh(x=2, y=2, z=2)
    specs = ((P("y", "z"), P("z", "y")), P(("x", "y")))
    return lower(perceptron, (weights, array(32, 16)), where, specs, P("x", ("y", "z")))


@program
def mesh_with_axis_of_one() -> str:
    weights = (array(16, 64), array(64, 16))
    where = mesh(x=8, y=1)
    specs = ((P("y", "x"), P("x", "y")), P(("y",)))
    return lower(perceptron, (weights, array(32, 16)), where, specs)


@program
def several_axes_on_a_dimension() -> str:
    where = mesh(x=2, y=2, z=2)

    def run(x: jax.Array) -> jax.Array:
        y = constrain(x, where, ("x", "y", "z")).reshape(4, 8)
        return constrain(y.sum(0) + y, where, None, ("z", "x"))

    return lower(run, (array(32),), where)


@program
def unconstrained_dimensions() -> str:
    where = mesh(data=4, model=2)

    def run(x: jax.Array, w: jax.Array) -> jax.Array:
        x = constrain(x, where, P.UNCONSTRAINED, None)
        y = constrain(x @ w, where, "data", P.UNCONSTRAINED)
        return constrain(jnp.sin(y), where, P.UNCONSTRAINED, P.UNCONSTRAINED)

    return lower(run, (array(16, 32), array(32, 8)), where, (None, P(None, "model")))


@program
def conflicting_operands() -> str:
    """The same axis comes along both dimensions."""
    where = mesh(data=4, model=2)
    return lower(
        lambda x, y: (x + y) * 2 - x,
        (array(16, 16), array(16, 16)),
        where,
        (P("data"), P(None, "data")),
    )


@program
def conflicting_products() -> str:
    where = mesh(data=4, model=2)

    def run(x: jax.Array, w: jax.Array, v: jax.Array) -> jax.Array:
        return (x @ w) @ v + x

    arguments = (array(16, 16), array(16, 16), array(16, 16))
    specs = (P("data", "model"), P("data", "model"), P("model", "data"))
    return lower(run, arguments, where, specs, P("model", "data"))


@program
def conflicting_constraints() -> str:
    where = mesh(data=4, model=2)

    def run(x: jax.Array) -> jax.Array:
        y = constrain(jnp.sin(x), where, "data", None)
        z = constrain(y, where, None, "data")
        w = constrain(y * 2, where, "model", "data")
        return z + w + y

    return lower(run, (array(16, 16),), where, (P("model"),))


@program
def shard_alike_values() -> str:
    """Values in sharding groups."""
    from jax.experimental.shard_alike import shard_alike  # noqa: PLC0415

    where = mesh(data=4, model=2)

    def run(x: jax.Array, y: jax.Array) -> Any:
        a, b = shard_alike(jnp.sin(x), jnp.cos(y))
        c, d = shard_alike(a * 2, jnp.zeros_like(a))
        return a + b, c - d

    return lower(run, (array(16, 32), array(16, 32)), where, (P("data", "model"), P()))


@program
def replicated_and_scalars() -> str:
    where = mesh(data=4, model=2)

    def run(x: jax.Array, rate: jax.Array) -> Any:
        return x * rate, x.sum(), (x * 0 + 1).mean(0)

    return lower(run, (array(16, 32), array()), where, (P("data"), P()), (None, P(), P("model")))


@program
def mixed_precision() -> str:
    def loss(weights: Any, x: jax.Array) -> jax.Array:
        low = jax.tree.map(lambda w: w.astype(jnp.bfloat16), weights)
        return (perceptron(low, x.astype(jnp.bfloat16)).astype(jnp.float32) ** 2).mean()

    where = mesh(data=4, model=2)
    weights = (array(16, 64), array(64, 16))
    specs = ((P(None, "model"), P("model")), P("data"))
    return lower(jax.value_and_grad(loss), (weights, array(32, 16)), where, specs)


@program
def quantised_matmul() -> str:
    def run(x: jax.Array, w: jax.Array, scale: jax.Array) -> jax.Array:
        steps = jnp.round(x * 16).astype(jnp.int8)
        product = jax.lax.dot(steps, w, preferred_element_type=jnp.int32)
        return product.astype(jnp.float32) * scale / 16

    where = mesh(data=4, model=2)
    arguments = (array(16, 32), array(32, 64, dtype=jnp.int8), array(64))
    return lower(run, arguments, where, (P("data"), P(None, "model"), P()))
