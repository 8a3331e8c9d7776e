# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random loops of JAX, in any sharding and with any options, compute what JAX computes."""

import random

import jax
import jax_devices  # noqa: F401 (before JAX)
import numpy as np
import pytest
from case_counts import cases
from jax import lax
from jax import numpy as jnp
from jax.sharding import PartitionSpec

import pyshardy as sdy

SIZE = 8
MESHES = ((4, 2), (2, 2), (2, 4), (8, 1))
OPTIONS = {
    "combine_collectives": True,
    "enable_halo_exchange": False,
    "enable_rgv3": True,
    "hoist_reshards": False,
    "inline_functions": False,
    "overlap": "all",
    "reassociate_reductions": False,
}


KINDS = [
    "branches",
    "column",
    "cumulative",
    "gram",
    "loop",
    "mask",
    "maximum",
    "mean",
    "product",
    "roll",
    "rows",
    "sum",
    "tanh",
    "transposed",
    "update",
]


class RandomStep:
    """A random function of a matrix, a square matrix, a vector and the number of the iteration."""

    def __init__(self, rng, depth=0):
        nested = ("branches", "loop")
        self.kind = rng.choice([each for each in KINDS if depth < 2 or each not in nested])
        self.axis, self.count = rng.choice((0, 1)), rng.choice((2, 3))
        self.indices = np.array([rng.randrange(SIZE) for _ in range(SIZE)])
        self.inner = [RandomStep(rng, depth + 1) for _ in range(2)] if self.kind in nested else []

    def __call__(self, x, w, b, i):
        result = self._result(x, w, b, i)
        return result if result.shape == x.shape else x + 0.01 * jnp.sum(result)

    def _result(self, x, w, b, i):
        axis, (first, second) = self.axis, self.inner or (None, None)
        return {
            "branches": lambda: lax.cond(
                i % 2 == 0, lambda y: first(y, w, b, i), lambda y: second(y, w, b, i), x
            ),
            "column": lambda: lax.dynamic_slice(x, (0, i), (x.shape[0], 1)),
            "cumulative": lambda: 0.1 * jnp.cumsum(x, axis=axis),
            "gram": lambda: 0.05 * (x.T @ x),
            "loop": lambda: lax.fori_loop(0, self.count, lambda j, y: first(y, w, b, j), x),
            "mask": lambda: jnp.where(jnp.arange(x.shape[0])[:, None] > i, x, -x),
            "maximum": lambda: 0.5 * x + 0.1 * jnp.max(x, axis=axis, keepdims=True),
            "mean": lambda: 0.5 * x + 0.1 * jnp.mean(x, axis=axis, keepdims=True),
            "product": lambda: x @ w,
            "roll": lambda: jnp.roll(x, self.count, axis=axis),
            "rows": lambda: jnp.take(x, self.indices[: x.shape[axis]] % x.shape[axis], axis=axis),
            "sum": lambda: x + b,
            "tanh": lambda: jnp.tanh(0.5 * x),
            "transposed": lambda: x @ w.T,
            # Its place is clamped to the end.
            "update": lambda: lax.dynamic_update_slice(
                x, 0.3 * x[:2, :2], (i + 6, i) if axis else (i, i + 5)
            ),
        }[self.kind]()


def random_function(rng):
    """Return a function of a matrix, several square matrices and a vector."""
    steps = [RandomStep(rng) for _ in range(rng.randint(1, 4))]
    layers, axis, kind = (
        rng.choice((2, 4)),
        rng.choice((0, 1)),
        rng.choice(("scan", "fori", "while")),
    )

    def run(x, w, b, i):
        for each in steps:
            x = each(x, w, b, i)
        return x

    def scanned(x, ws, b):
        def body(carried, w):
            y, total, i = carried
            y = run(y, w, b, i)
            return (y, total + 0.1 * (y.T @ y), i + 1), jnp.sum(y, axis=axis)

        (y, total, _), sums = lax.scan(body, (x, jnp.zeros((SIZE, SIZE)), 0), ws)
        return y, total, sums

    def counted(x, ws, b):
        return lax.fori_loop(0, layers, lambda i, y: run(y, ws[i], b, i), x)

    def conditional(x, ws, b):
        def body(carried):
            return run(carried[0], ws[carried[1]], b, carried[1]), carried[1] + 1

        return lax.while_loop(lambda carried: carried[1] < layers, body, (x, 0))[0]

    def gradient(x, ws, b):
        def loss(ws, b):
            return sum(jnp.sum(each * each) for each in scanned(x, ws, b))

        return jax.grad(loss, argnums=(0, 1))(ws, b)

    if kind == "scan":
        return rng.choice((scanned, scanned, gradient)), layers
    return (counted if kind == "fori" else conditional), layers


def random_sharding(rng, sizes, shape):
    """Return the spec of a value whose axes divide its dimensions."""
    axes = dict(zip(("data", "model"), sizes, strict=True))
    spec = []
    for size in shape:
        fitting = [name for name, count in axes.items() if size % count == 0]
        spec.append(rng.choice(fitting) if fitting and rng.random() < 0.5 else None)
        axes.pop(spec[-1], None)
    return PartitionSpec(*spec)


@pytest.mark.parametrize("seed", range(cases(8)))
def test_random_loops(seed):
    rng = random.Random(seed)
    function, layers = random_function(rng)
    sizes = rng.choice(MESHES)
    shapes = ((rng.choice((6, 8, 12)), SIZE), (layers, SIZE, SIZE), (SIZE,))
    module = sdy.jax.trace(
        function,
        *(jax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes),
        mesh=sdy.Mesh(dict(zip(("data", "model"), sizes, strict=True))),
        in_shardings=tuple(random_sharding(rng, sizes, shape) for shape in shapes),
    )
    sdy.propagate(module)
    chosen = {name: value for name, value in OPTIONS.items() if rng.random() < 0.4}
    program = sdy.partition(module, **chosen)
    generator = np.random.default_rng(seed)
    inputs = [0.5 * generator.standard_normal(shape).astype("f4") for shape in shapes]
    expected = jax.tree.leaves(function(*map(jnp.asarray, inputs)))
    for found, wanted in zip(program.run(inputs), expected, strict=True):
        largest = max(1.0, float(jnp.max(jnp.abs(wanted))))
        np.testing.assert_allclose(found, wanted, rtol=2e-3, atol=2e-4 * largest)
