# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shardings that stopped at calls are carried on when these are inlined, with the same numbers."""

import random
from pathlib import Path

import jax_devices  # noqa: F401 (before JAX)
import numpy as np
import pytest
from case_counts import cases

import pyshardy as sdy
from pyshardy.program import run_unpartitioned

jax = pytest.importorskip("jax")
jnp, lax = jax.numpy, jax.lax
P = jax.sharding.PartitionSpec
SIZE, LAYERS = 16, 3
CORPUS = Path(__file__).parents[1] / "corpus" / "mlir"
OF_STACKS = (P(None, "x"), P(None, None, "x"), P(None, None, "y"), P(None, "x", "y"), P())
OF_STATE = (P("x"), P("y"), P("x", "y"), P(None, "y"), P())


@jax.jit
def mixed(c, w):
    return jnp.tanh(c @ w)


@jax.jit
def gated(c, w):
    return jax.nn.silu(c @ w) * c


def layer(rng):
    """The body of a loop, of functions that are called more than once, and their gradients."""
    kind = rng.randrange(5)

    def body(c, w):
        if kind == 0:
            return mixed(mixed(c, w), w.T)
        if kind == 1:
            return c + gated(c, w)
        if kind == 2:
            return gated(c.T, w).T + mixed(c, w)
        if kind == 3:
            return jnp.where(c > 0, mixed(c, w), jax.nn.softmax(c, -1))
        return mixed(c, w) - c.mean(-1, keepdims=True)

    return body


def program(seed):
    """A loop over stacked weights, or its gradient, whose second loop reads what the first kept."""
    rng = random.Random(seed)
    first, second = layer(rng), layer(rng)
    if rng.random() < 0.5:
        first = jax.checkpoint(first)
    is_gradient, shape = rng.random() < 0.7, rng.randrange(3)

    def value(c, ws, vs):
        if shape == 0:
            return lax.scan(lambda c, w: (first(c, w), None), c, ws)[0].sum()
        if shape == 1:  # what one loop keeps is what the next one takes row by row
            c, kept = lax.scan(lambda c, w: (first(c, w), c), c, ws)
            return lax.scan(lambda c, w: (second(c, w), None), c, kept + vs)[0].sum()
        inner = lambda c, w: (second(c, w), c.sum())  # noqa: E731
        return lax.scan(lambda c, w: (lax.scan(inner, first(c, w), vs)[0], None), c, ws)[0].sum()

    return jax.grad(value, (0, 1, 2)) if is_gradient else value


def specs(seed):
    rng = random.Random(1000 + seed)
    return rng.choice(OF_STATE), rng.choice(OF_STACKS), rng.choice(OF_STACKS)


def sent(made):
    return sum(each.nbytes_sent * (each.repetitions or 1) for each in made.collectives)


def waits(made):
    return sum(each.repetitions or 1 for each in made.collectives)


def traced(seed, dtype):
    """Return the program of a seed on 2 x 4 devices, propagated."""
    mesh = jax.sharding.Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
    shapes = (SIZE, SIZE), (LAYERS, SIZE, SIZE), (LAYERS, SIZE, SIZE)
    arguments = [
        jax.ShapeDtypeStruct(shape, dtype, sharding=jax.sharding.NamedSharding(mesh, spec))
        for shape, spec in zip(shapes, specs(seed), strict=True)
    ]
    with jax.enable_x64(dtype == np.float64):
        module = sdy.jax.trace(jax.jit(program(seed)), *arguments)
    sdy.propagate(module)
    return module


@pytest.mark.parametrize("seed", range(cases(5)))
def test_numbers_of_loops(seed):
    """In 64 bits, since loops and their gradients amplify rounding errors."""
    module = traced(seed, np.float64)
    made = sdy.partition(module)
    numbers = np.random.default_rng(seed)
    inputs = [numbers.uniform(-1, 1, port.spec.shape) for port in made.inputs]
    expected = run_unpartitioned(module, inputs)
    for found, wanted in zip(made.run(inputs), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-10 * np.abs(wanted).max())


@pytest.mark.parametrize("seed", range(cases(5)))
def test_communication_of_loops(seed):
    module = traced(seed, np.float32)
    stopped = sdy.partition(module, propagate_past_calls=False)
    made = sdy.partition(module)
    sdy.run_pipeline(
        sdy.parse(sdy.asm(module), sdy.Context()), "sdy-partition-pipeline", verify_inside=True
    )
    assert sent(made) + 256 * waits(made) <= sent(stopped) + 256 * waits(stopped)
    assert made.in_shardings == stopped.in_shardings
    assert made.out_shardings == stopped.out_shardings


@pytest.mark.parametrize(
    ("name", "share"),
    [
        ("scan_lstm_gradient", 0.6),
        ("transformer_scan_remat", 0.82),
        ("transformer_scan_train", 0.97),
    ],
)
def test_what_a_loop_keeps_for_the_next(name, share):
    module = sdy.parse((CORPUS / f"{name}.mlir").read_text(), sdy.Context())
    sdy.propagate(module)
    stopped = sdy.partition(module, propagate_past_calls=False)
    assert sent(sdy.partition(module)) <= share * sent(stopped)
