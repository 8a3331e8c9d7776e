# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients that loops add up are completed after the last trip, with the same numbers."""

import random

import jax_devices  # noqa: F401 (before JAX)
import numpy as np
import pytest
from case_counts import cases

import pyshardy as sdy
from pyshardy.program import run_unpartitioned

jax = pytest.importorskip("jax")
jnp, lax = jax.numpy, jax.lax
P = jax.sharding.PartitionSpec
TRIPS, ROWS, SIZE = 4, 8, 8
OF_WEIGHTS = (P(), P(None, "model"), P("model"), P("data"), P("data", "model"))
OF_BATCHES = (P(None, "data"), P(None, "data"), P(None, ("data", "model")), P("data"), P())


def loss(rng):
    kind = rng.randrange(4)

    def value(parameters, x):
        w, b = parameters
        if kind == 0:
            return jnp.tanh(x @ w + b).sum()
        if kind == 1:
            return jnp.square((x @ w) * b).mean()
        if kind == 2:
            return (jnp.tanh(x @ w) @ w.T + b).sum()
        return jax.nn.log_softmax(x @ w + b).sum()

    return value


def program(seed):
    """A loop that adds up gradients, scaled or subtracted, by itself or in another loop."""
    rng = random.Random(seed)
    value, shape = loss(rng), rng.randrange(4)
    combine = rng.choice([jnp.add, jnp.subtract, lambda g, n: g + 2 * n, lambda g, n: n / 3 + g])
    starts_with_zero = rng.random() < 0.5

    def run(w, b, xs):
        zero = jax.tree.map(jnp.zeros_like, (w, b)) if starts_with_zero else (w, b)

        def add(state, x):
            return jax.tree.map(combine, state, jax.grad(value)((w, b), x))

        if shape == 0:
            return lax.scan(lambda g, x: (add(g, x), None), zero, xs)[0]
        if shape == 1:
            return lax.fori_loop(0, TRIPS, lambda i, g: add(g, xs[i]), zero)
        if shape == 2:  # the sum is needed in each trip
            return lax.scan(lambda g, x: (add(g, x), g[0].sum()), zero, xs)
        inner = lambda g, x: (add(g, x), None)  # noqa: E731
        return lax.fori_loop(0, 2, lambda _, g: lax.scan(inner, g, xs)[0], zero)

    return run


def sent(made):
    return sum(each.nbytes_sent * (each.repetitions or 1) for each in made.collectives)


def traced(run, specs, rows=ROWS):
    mesh = jax.sharding.Mesh(np.array(jax.devices()).reshape(4, 2), ("data", "model"))
    shapes = (SIZE, SIZE), (SIZE,), (TRIPS, rows, SIZE)
    arguments = [
        jax.ShapeDtypeStruct(shape, jnp.float32, sharding=jax.sharding.NamedSharding(mesh, spec))
        for shape, spec in zip(shapes, specs, strict=True)
    ]
    module = sdy.jax.trace(jax.jit(run), *arguments)
    sdy.propagate(module)
    return module


@pytest.mark.parametrize("seed", range(cases(12)))
def test_loops(seed):
    rng = random.Random(1000 + seed)
    specs = rng.choice(OF_WEIGHTS), P(), rng.choice(OF_BATCHES)
    module = traced(program(seed), specs)
    made = sdy.partition(module)
    sdy.run_pipeline(
        sdy.parse(sdy.asm(module), sdy.Context()), "sdy-partition-pipeline", verify_inside=True
    )
    numbers = np.random.default_rng(seed)
    inputs = [numbers.uniform(-1, 1, port.spec.shape).astype("f4") for port in made.inputs]
    expected = run_unpartitioned(module, inputs)
    for found, wanted in zip(made.run(inputs), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)
    assert sent(made) <= sent(sdy.partition(module, reassociate_reductions=False))


@pytest.mark.parametrize("rows", [4, 8, 64, 256])
@pytest.mark.parametrize("weights", [P(), P(None, "model")])
def test_gradients_of_weights_and_bias_are_completed_once(rows, weights):
    """Neither gathers of small batches nor idle axes, which send less in each trip."""

    def run(w, b, xs):
        zero = jax.tree.map(jnp.zeros_like, (w, b))
        gradient = jax.grad(lambda p, x: jnp.tanh(x @ p[0] + p[1]).sum())
        add = lambda g, x: (jax.tree.map(jnp.add, g, gradient((w, b), x)), None)  # noqa: E731
        return lax.scan(add, zero, xs)[0]

    made = sdy.partition(traced(run, (weights, P(), P(None, "data")), rows))
    assert {(each.kind, each.axes, each.repetitions) for each in made.collectives} <= {
        ("all_reduce", ("data",), 1),
        ("all_gather", ("model",), 1),
    }
    assert sum(each.kind == "all_reduce" for each in made.collectives) == 2
