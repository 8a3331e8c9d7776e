# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decompositions and solvers."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from registry import P, array, lower, mesh, program


@program
def cholesky_solve() -> str:
    def run(a: jax.Array, b: jax.Array) -> jax.Array:
        factor = jnp.linalg.cholesky(a @ a.swapaxes(-1, -2) + jnp.eye(16))
        y = lax.linalg.triangular_solve(factor, b, left_side=True, lower=True)
        return lax.linalg.triangular_solve(factor, y, left_side=True, lower=True, transpose_a=True)

    where = mesh(data=4, model=2)
    arguments = (array(8, 16, 16), array(8, 16, 4))
    specs = (P("data", "model"), P("data", None, "model"))
    return lower(run, arguments, where, specs, platform="tpu")


@program
def triangular_solve_right() -> str:
    def run(a: jax.Array, b: jax.Array) -> jax.Array:
        return lax.linalg.triangular_solve(a, b, left_side=False, lower=False)

    where = mesh(data=4, model=2)
    specs = (P("data", "model"), P("model"))
    return lower(run, (array(16, 16), array(8, 16)), where, specs, platform="tpu")


@program
def conjugate_gradient() -> str:
    def run(root: jax.Array, b: jax.Array) -> jax.Array:
        a = root @ root.T / 64 + jnp.eye(64)

        def body(_: int, state: Any) -> Any:
            x, r, p = state
            ap = a @ p
            alpha = (r @ r) / (p @ ap)
            new = r - alpha * ap
            return x + alpha * p, new, new + (new @ new) / (r @ r) * p

        return lax.fori_loop(0, 8, body, (jnp.zeros_like(b), b, b))[0]

    where = mesh(rows=4, columns=2)
    return lower(run, (array(64, 64), array(64)), where, (P("rows", "columns"), P("rows")))


@program
def orthogonalise() -> str:
    """Newton-Schulz iterations, as optimisers use them."""

    def run(g: jax.Array) -> jax.Array:
        x = g / jnp.linalg.norm(g)

        def body(_: int, x: jax.Array) -> jax.Array:
            a = x @ x.T
            return 3.4 * x - 4.7 * a @ x + 2.0 * a @ a @ x

        return lax.fori_loop(0, 5, body, x)

    return lower(run, (array(32, 64),), mesh(data=4, model=2), (P("data", "model"),))


@program
def batched_einsums() -> str:
    def run(a: jax.Array, b: jax.Array, c: jax.Array) -> Any:
        return jnp.einsum("bij,bjk,kl->bil", a, b, c), jnp.einsum("bii->b", a), jnp.trace(c)

    where = mesh(data=4, model=2)
    arguments = (array(8, 16, 16), array(8, 16, 16), array(16, 16))
    specs = (P("data", "model"), P("data", None, "model"), P("model"))
    return lower(run, arguments, where, specs)
