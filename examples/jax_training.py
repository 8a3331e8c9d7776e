# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A step of training in JAX, partitioned here and run among JAX's own functions."""

import os

import jax
from jax import numpy as jnp
from jax.sharding import PartitionSpec as P

import pyshardy as sdy

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"  # before JAX looks for devices


def loss(weights, x, y):
    """How far a small network is off."""
    found = jnp.tanh(x @ weights["in"]) @ weights["out"]
    return jnp.mean((found - y) ** 2)


def step(weights, x, y):
    """Better weights, and how far the old ones were off."""
    value, gradients = jax.value_and_grad(loss)(weights, x, y)
    return jax.tree.map(lambda w, g: w - 0.1 * g, weights, gradients), value


keys = jax.random.split(jax.random.key(0), 4)
weights = {"in": jax.random.normal(keys[0], (16, 8)), "out": jax.random.normal(keys[1], (8, 16))}
x, y = jax.random.normal(keys[2], (64, 16)), jax.random.normal(keys[3], (64, 16))

mesh = sdy.Mesh.of({"data": 2, "model": 4})
megatron = {"in": P(None, "model"), "out": P("model", None)}
module = sdy.jax.trace(
    step,
    weights,
    x,
    y,
    in_shardings=(megatron, P("data"), P("data")),
    out_shardings=(megatron, P()),
    mesh=mesh,
)
record = sdy.propagate(module)
program = sdy.partition(module)
for one in program.collectives:
    place = f"line {one.location.line}" if one.location else "an argument"
    print(f"{place}: {one.kind} of {one.nbytes} bytes along {', '.join(one.axes)}")

compiled = program.as_jax()
normalized = jax.jit(lambda x: x / jnp.linalg.norm(x, axis=1, keepdims=True))
(of_weights, of_x, of_y), _ = compiled.in_shardings
weights = jax.device_put(weights, of_weights)
x, y = normalized(jax.device_put(x, of_x)), jax.device_put(y, of_y)
for _ in range(3):
    weights, value = compiled(weights, x, y)  # shards stay on their devices
    print(f"loss {value:.4f}, weights {weights['in'].sharding.spec}")
