# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutional networks, forward and with gradients."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from registry import P, array, lower, mesh, program

NUMBERS = ("NHWC", "HWIO", "NHWC")


def conv(x: jax.Array, kernel: jax.Array, stride: int = 1, **options: Any) -> jax.Array:
    return lax.conv_general_dilated(
        x, kernel, (stride, stride), "SAME", dimension_numbers=NUMBERS, **options
    )


def network(weights: Any, x: jax.Array) -> jax.Array:
    x = jax.nn.relu(conv(x, weights[0]))
    x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    x = jax.nn.relu(conv(x, weights[1], 2))
    return x.mean((1, 2)) @ weights[2]


WEIGHTS = (array(3, 3, 4, 16), array(3, 3, 16, 32), array(32, 8))


@program
def convnet_batch() -> str:
    where = mesh(data=8)
    return lower(network, (WEIGHTS, array(16, 16, 16, 4)), where, ((P(), P(), P()), P("data")))


@program
def convnet_spatial() -> str:
    where = mesh(data=2, rows=4)
    return lower(
        network, (WEIGHTS, array(4, 16, 16, 4)), where, ((P(), P(), P()), P("data", "rows"))
    )


@program
def convnet_features() -> str:
    where = mesh(data=4, model=2)
    specs = (P(None, None, None, "model"), P(None, None, "model", None), P(None, "model"))
    return lower(network, (WEIGHTS, array(16, 16, 16, 4)), where, (specs, P("data")))


@program
def convnet_train() -> str:
    """Max-pooling's gradient is a select-and-scatter; kernels' gradients are convolutions."""

    def loss(weights: Any, x: jax.Array) -> jax.Array:
        return (network(weights, x) ** 2).mean()

    where = mesh(data=4, model=2)
    specs = (P(None, None, None, "model"), P(None, None, "model", None), P())
    return lower(jax.grad(loss), (WEIGHTS, array(16, 16, 16, 4)), where, (specs, P("data")))


@program
def depthwise_convolution() -> str:
    def run(x: jax.Array, kernel: jax.Array) -> jax.Array:
        return conv(x, kernel, feature_group_count=16)

    where = mesh(data=4, model=2)
    arguments = (array(8, 16, 16, 16), array(3, 3, 1, 16))
    return lower(run, arguments, where, (P("data", None, None, "model"), P()))


@program
def batch_norm_by_hand() -> str:
    def run(x: jax.Array, scale: jax.Array, bias: jax.Array) -> jax.Array:
        mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
        return (x - mean) * lax.rsqrt(variance + 1e-5) * scale + bias

    where = mesh(data=4, model=2)
    arguments = (array(8, 8, 8, 16), array(16), array(16))
    return lower(run, arguments, where, (P("data", None, None, "model"), P("model"), P()))


@program
def unet_step() -> str:
    """Down by pooling, up by resizing, joined by a concatenation."""

    def run(weights: Any, x: jax.Array) -> jax.Array:
        down = jax.nn.relu(conv(x, weights[0]))
        low = lax.reduce_window(down, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        low = jax.nn.relu(conv(low, weights[1]))
        up = jax.image.resize(low, down.shape, "nearest")
        return conv(jnp.concatenate([down, up], -1), weights[2])

    where = mesh(data=4, model=2)
    weights = (array(3, 3, 4, 8), array(3, 3, 8, 8), array(3, 3, 16, 4))
    return lower(run, (weights, array(8, 16, 16, 4)), where, ((P(), P(), P()), P("data", "model")))


@program
def transposed_convolution() -> str:
    def run(x: jax.Array, kernel: jax.Array) -> jax.Array:
        return lax.conv_transpose(x, kernel, (2, 2), "SAME", dimension_numbers=NUMBERS)

    where = mesh(data=4, model=2)
    arguments = (array(8, 8, 8, 4), array(3, 3, 4, 8))
    return lower(run, arguments, where, (P("data", "model"), P()))
