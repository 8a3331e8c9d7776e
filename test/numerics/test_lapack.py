# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What JAX calls of LAPACK on CPUs, in lockstep, against what XLA computes."""

import functools

import jax
import jax_devices  # noqa: F401 (before JAX looks for devices)
import numpy as np
import pytest
from case_counts import cases, spread
from jax import lax
from jax import numpy as jnp

import pyshardy as sdy

linalg = lax.linalg
BATCH = sdy.sharding('<@mesh, [{"x"}, {}, {}]>')
MESH = sdy.Mesh.of({"x": 2})


@pytest.fixture(autouse=True)
def _wide():
    with jax.enable_x64(True):
        yield


def adjoint(a):
    return jnp.swapaxes(a.conj(), -1, -2)


def cholesky(a):
    """The second one fails, and is NaN."""
    return linalg.cholesky(a @ adjoint(a) + 5 * jnp.eye(5)), linalg.cholesky(a)


def upper_cholesky(a):
    return jax.scipy.linalg.cholesky(a @ adjoint(a) + 5 * jnp.eye(5), lower=False)


def triangular_solve(a):
    return [
        linalg.triangular_solve(
            a, a + 1, left_side=left, lower=lower, transpose_a=t, conjugate_a=t, unit_diagonal=unit
        )
        for left in (False, True)
        for lower in (False, True)
        for t in (False, True)
        for unit in (False, True)
    ]


def qr(a):
    return linalg.qr(a[:, :3]), linalg.qr(a[..., :3]), linalg.qr(a, full_matrices=False)


def pivoted_qr(a):
    q, r, pivots = linalg.qr(a, pivoting=True, full_matrices=False)
    return q @ r, pivots, abs(jnp.diagonal(r, axis1=-2, axis2=-1))


def products_with_q(a):
    reflections, taus = jnp.linalg.qr(a, mode="raw")
    return (
        [
            linalg.ormqr(reflections, taus, a, left=left, transpose=transpose)
            for left in (False, True)
            for transpose in (False, True)
        ]
        if hasattr(linalg, "ormqr")
        else linalg.householder_product(reflections, taus)
    )


def lu(a):
    return linalg.lu(a), jnp.linalg.det(a), jnp.linalg.solve(a, a + 2), jnp.linalg.inv(a)


def svd(a):
    thin, full = (linalg.svd(a[:, :3], full_matrices=each) for each in (False, True))
    u, s, v = thin
    orthogonal = [each @ adjoint(each) for each in (full[0], full[2])]
    by_qr = linalg.svd(a, compute_uv=False, algorithm=linalg.SvdAlgorithm.QR)
    return u * s[..., None, :] @ v, *orthogonal, linalg.svd(a, compute_uv=False), by_qr


def eigh(a):
    v, w = linalg.eigh(a + adjoint(a))
    return v * w[..., None, :] @ adjoint(v), w, jnp.linalg.eigvalsh(a + adjoint(a))


def eig(a):
    w, left, right = linalg.eig(a)
    residual = a @ right - right * w[..., None, :]
    other = adjoint(left) @ a - w[..., None] * adjoint(left)
    sizes = jnp.linalg.norm(jnp.concatenate([left, right], -1), axis=-2)
    return residual, other, sizes, jnp.sort(abs(jnp.linalg.eigvals(a)), -1)


def hessenberg(a):
    reduced, taus = linalg.hessenberg(a)
    return reduced, taus, linalg.householder_product(reduced[..., 1:, :-1], taus)


def tridiagonal(a):
    a = a + adjoint(a)
    return [linalg.tridiagonal(a, lower=lower)[1:3] for lower in (False, True)]


def schur(a):
    t, q = linalg.schur(a)
    return q @ t @ adjoint(q), q @ adjoint(q), abs(jnp.tril(t, -2)).sum()


def tridiagonal_solve(a):
    return linalg.tridiagonal_solve(a[..., 0], a[..., 1] + 5, a[..., 2], a)


def gradient(a):
    """Factors and solutions in a function of several steps, in a loop."""

    def loss(x):
        x = x @ adjoint(x) + 5 * jnp.eye(5)
        return abs(
            jnp.linalg.slogdet(x)[1] + jnp.trace(jnp.linalg.inv(x), axis1=-2, axis2=-1)
        ).sum()

    step = jax.grad(lambda x: loss(x).real)
    return lax.fori_loop(0, 2, lambda _, x: x - 0.1 * step(x).conj(), a)


FUNCTIONS = (
    cholesky,
    upper_cholesky,
    triangular_solve,
    qr,
    pivoted_qr,
    products_with_q,
    lu,
    svd,
    eigh,
    eig,
    hessenberg,
    tridiagonal,
    schur,
    tridiagonal_solve,
    gradient,
)


def random_matrices(dtype):
    random = np.random.default_rng(3)
    a = random.standard_normal((4, 5, 5))
    if np.dtype(dtype).kind == "c":
        a = a + 1j * random.standard_normal(a.shape)
    return a.astype(dtype)


DTYPES = (("float32", "complex128"), ("float64", "complex64"))
"""The types of every other function. LAPACK has a routine for each type, found by its name."""


def cases_of_functions():
    """Return pairs of functions and types: all of them in the weekly run."""
    return [
        pytest.param(function, dtype, id=f"{function.__name__}-{dtype}")
        for number, function in enumerate(FUNCTIONS)
        for dtype in (sum(DTYPES, ()) if cases(1) > 1 else DTYPES[number % 2])
    ]


@pytest.mark.parametrize(("function", "dtype"), spread(cases_of_functions(), 12))
def test_as_lapack_does(function, dtype):
    a = random_matrices(dtype)
    expected = jax.tree.leaves(jax.jit(function)(a))
    module = sdy.jax.trace(function, a, mesh=MESH, in_shardings=(BATCH,))
    sdy.propagate(module)
    found = sdy.partition(module).run([a], "jit")
    rounding = (
        1e-9 if np.dtype(dtype).itemsize // (1 + (np.dtype(dtype).kind == "c")) == 8 else 3e-4
    )
    for ours, theirs in zip(found, expected, strict=True):
        scale = max(1, np.nanmax(abs(theirs), initial=0))
        np.testing.assert_allclose(ours, theirs, atol=rounding * scale, rtol=rounding)


@pytest.mark.parametrize("backend", ["interpreter", "iree"])
def test_other_engines(backend):
    a = random_matrices("float32")
    function = functools.partial(linalg.qr, full_matrices=False)
    module = sdy.jax.trace(function, a, mesh=MESH, in_shardings=(BATCH,))
    sdy.propagate(module)
    q, r = sdy.partition(module).run([a], backend)
    np.testing.assert_allclose(q @ r, a, atol=1e-5)


def test_what_does_not_converge_is_not_a_number():
    a = np.full((2, 5, 5), np.nan, np.float32)
    module = sdy.jax.trace(eigh, a, mesh=MESH, in_shardings=(BATCH,))
    sdy.propagate(module)
    assert all(np.isnan(each).all() for each in sdy.partition(module).run([a], "jit"))
