# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations on arrays that move elements, select them, or accumulate."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from registry import P, array, integers, lower, mesh, program

GRID = P("data", "model")


@program
def sort_and_take() -> str:
    def run(x: jax.Array) -> Any:
        order = jnp.argsort(x, axis=-1)
        return jnp.take_along_axis(x, order, -1), jnp.sort(x, axis=0)

    return lower(run, (array(16, 32),), mesh(data=4, model=2), (GRID,))


@program
def cumulative() -> str:
    def run(x: jax.Array) -> Any:
        return jnp.cumsum(x, 0), jnp.cumprod(x, 1), lax.cummax(x, 1, reverse=True)

    return lower(run, (array(16, 32),), mesh(data=4, model=2), (GRID,))


@program
def fourier() -> str:
    def run(x: jax.Array) -> jax.Array:
        return jnp.fft.irfft(jnp.fft.rfft(x, axis=-1) * 2.0, axis=-1) + jnp.fft.fft2(x).real

    return lower(run, (array(8, 16, 32),), mesh(data=4, model=2), (P("data", "model"),))


@program
def dynamic_windows() -> str:
    def run(x: jax.Array, at: jax.Array) -> jax.Array:
        window = lax.dynamic_slice(x, (at, 0, at), (4, 16, 8))
        return lax.dynamic_update_slice(x, jnp.tanh(window), (0, 0, at))

    where = mesh(data=4, model=2)
    return lower(run, (array(8, 16, 32), integers()), where, (P(None, "data", "model"), P()))


@program
def padding_and_rolling() -> str:
    def run(x: jax.Array) -> jax.Array:
        y = jnp.pad(x, ((1, 1), (0, 0)))
        return y[2:] + jnp.roll(x, 3, axis=0) - y[:-2] + jnp.roll(x, 1, axis=1)

    return lower(run, (array(16, 32),), mesh(data=4, model=2), (GRID,))


@program
def stencil() -> str:
    def run(x: jax.Array) -> jax.Array:
        def body(_: int, y: jax.Array) -> jax.Array:
            inside = (y[:-2, 1:-1] + y[2:, 1:-1] + y[1:-1, :-2] + y[1:-1, 2:]) / 4
            return y.at[1:-1, 1:-1].set(inside)

        return lax.fori_loop(0, 10, body, x)

    return lower(run, (array(32, 32),), mesh(data=4, model=2), (GRID,))


@program
def concatenations() -> str:
    def run(x: jax.Array, y: jax.Array) -> Any:
        return jnp.concatenate([x, y], 0), jnp.concatenate([x, x * 2, y], 1), jnp.stack([x, y], 1)

    return lower(run, (array(16, 32), array(16, 32)), mesh(data=4, model=2), (GRID, P("data")))


@program
def reshapes_and_transposes() -> str:
    def run(x: jax.Array) -> jax.Array:
        y = x.reshape(8, 4, 8, 4).transpose(2, 0, 3, 1).reshape(64, 16)
        return y.reshape(4, 16, 16).swapaxes(0, 1).reshape(256, 4) @ jnp.ones((4, 12))

    return lower(run, (array(32, 32),), mesh(data=4, model=2), (GRID,))


@program
def gather_in_batches() -> str:
    def run(x: jax.Array, at: jax.Array) -> jax.Array:
        return jax.vmap(lambda row, index: row[index])(x, at) * 2.0

    where = mesh(data=4, model=2)
    return lower(run, (array(16, 32, 8), integers(16, 5)), where, (P("data", None, "model"), P()))


@program
def scatter_of_all_kinds() -> str:
    def run(x: jax.Array, at: jax.Array, y: jax.Array) -> Any:
        return x.at[at].add(y), x.at[at].max(y), x.at[at].set(y), x.at[:, at].multiply(2.0)

    where = mesh(data=4, model=2)
    arguments = (array(32, 32), integers(8), array(8, 32))
    return lower(run, arguments, where, (GRID, P("data"), P("data", "model")))


@program
def top_k_and_argmax() -> str:
    def run(x: jax.Array) -> Any:
        return lax.top_k(x, 4), jnp.argmax(x, 0), jnp.argmin(x, 1), jnp.max(x, 1)

    return lower(run, (array(16, 32),), mesh(data=4, model=2), (GRID,))


@program
def random_numbers() -> str:
    def run(data: jax.Array, x: jax.Array) -> jax.Array:
        key = jax.random.wrap_key_data(data)
        left, right = jax.random.split(key)
        noise = jax.random.normal(left, x.shape) + jax.random.uniform(right, x.shape)
        return x + noise

    where = mesh(data=4, model=2)
    key = jax.ShapeDtypeStruct((2,), jnp.uint32)
    return lower(run, (key, array(16, 32)), where, (P(), GRID))


@program
def statistics() -> str:
    def run(x: jax.Array) -> Any:
        return jnp.median(x, 0), jnp.histogram(x, 8)[0], jnp.cov(x), jnp.quantile(x, 0.3, axis=1)

    return lower(run, (array(16, 32),), mesh(data=4, model=2), (GRID,))


@program
def flips_and_tiles() -> str:
    def run(x: jax.Array) -> jax.Array:
        return jnp.tile(jnp.flip(x, (0, 1)), (2, 1)) + jnp.repeat(x, 2, 0)

    return lower(run, (array(16, 32),), mesh(data=4, model=2), (P("model", "data"),))


@program
def bit_casts() -> str:
    def run(x: jax.Array) -> Any:
        bits = lax.bitcast_convert_type(x, jnp.uint32)
        halves = lax.bitcast_convert_type(bits, jnp.uint16)
        return bits ^ 7, halves, lax.population_count(bits)

    return lower(run, (array(16, 32),), mesh(data=4, model=2), (GRID,))


@program
def iota_masks() -> str:
    def run(x: jax.Array) -> jax.Array:
        rows = lax.broadcasted_iota(jnp.int32, x.shape, 0)
        return jnp.where(rows > jnp.arange(x.shape[1]), x, jnp.eye(*x.shape)) + jnp.tri(*x.shape)

    return lower(run, (array(16, 32),), mesh(data=4, model=2), (GRID,))


@program
def k_means() -> str:
    def run(points: jax.Array, centers: jax.Array) -> jax.Array:
        def body(_: int, centers: jax.Array) -> jax.Array:
            distances = ((points[:, None] - centers[None]) ** 2).sum(-1)
            nearest = jnp.argmin(distances, 1)
            sums = jax.ops.segment_sum(points, nearest, 8)
            counts = jnp.bincount(nearest, length=8)
            return sums / jnp.maximum(counts, 1)[:, None]

        return lax.fori_loop(0, 5, body, centers)

    return lower(run, (array(64, 16), array(8, 16)), mesh(data=8), (P("data"), P()))
