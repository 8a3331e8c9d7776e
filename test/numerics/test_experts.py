# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of groups of rows in a row, as experts have them: devices keep rows of their groups."""

import functools
import random

import jax_devices  # noqa: F401 (before JAX)
import numpy as np
import pytest
from case_counts import cases, spread

import pyshardy as sdy

jax = pytest.importorskip("jax")
jnp, lax = jax.numpy, jax.lax
P = jax.sharding.PartitionSpec

MESHES = ({"data": 2, "model": 4}, {"data": 4, "model": 2}, {"model": 4}, {"data": 2, "model": 2})


def multiplied(form, x, w, sizes):
    """The product of the rows with the matrices of their groups."""
    if form == "ragged":
        return lax.ragged_dot(x, w, sizes)
    return jnp.einsum("tg,tk,gkn->tn", one_hot(x, sizes), x, w)


def one_hot(x, sizes):
    ends, row = jnp.cumsum(sizes), jnp.arange(len(x))[:, None]
    return ((row >= ends - sizes) & (row < ends)).astype(x.dtype)


def experts(form, x, w1, w3, w2, sizes):
    if form == "ragged":
        gate, up = (multiplied(form, x, w, sizes) for w in (w1, w3))
        return multiplied(form, jax.nn.silu(gate) * up, w2, sizes)
    gate, up = (jnp.einsum("td,gdf->tgf", x, w) for w in (w1, w3))
    return jnp.einsum("tgf,gfd,tg->td", jax.nn.silu(gate) * up, w2, one_hot(x, sizes))


def training_step(form):
    def loss(layers, x, sizes):
        for w1, w3, w2 in layers:
            x = x + experts(form, x, w1, w3, w2, sizes)
        return (x * x).mean()

    def step(layers, x, sizes):
        value, gradients = jax.value_and_grad(loss)(layers, x, sizes)
        return jax.tree.map(lambda w, g: w - g / 10, layers, gradients), value

    return step


def partitioned(function, arguments, mesh, shardings, results=None):
    mesh, given = sdy.Mesh.of(mesh), {} if results is None else {"out_shardings": results}
    module = sdy.jax.trace(function, *arguments, mesh=mesh, in_shardings=shardings, **given)
    sdy.propagate(module)
    return sdy.partition(module)


def sent(program):
    return sum(each.nbytes_sent for each in program.collectives)


def rows_of(mesh):
    return P("data") if "data" in mesh else P()


@pytest.mark.parametrize("mesh", spread(MESHES, 2), ids=str)
def test_training(mesh):
    rng = np.random.default_rng(0)
    shapes = [(4, 8, 16), (4, 8, 16), (4, 16, 8)]
    layers = [[rng.normal(size=shape).astype("f4") / 4 for shape in shapes] for _ in range(2)]
    x = rng.normal(size=(32, 8)).astype("f4")
    sizes = np.array([9, 0, 17, 3], "i4")
    arguments = layers, x, sizes
    step = training_step("ragged")
    expected = jax.tree.leaves(jax.jit(step)(*arguments))
    program = partitioned(step, arguments, mesh, (P("model"), rows_of(mesh), P()))
    for one, other in zip(program.run(jax.tree.leaves(arguments), "jit"), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("rows", [1 << 12, 1 << 16])
def test_bytes_of_training(rows):
    """No all-reduce between the products: as many bytes as with experts that compute all rows."""
    mesh = {"data": 32, "model": 8}
    shapes = [(8, 512, 1024), (8, 512, 1024), (8, 1024, 512)]
    layers = [[jax.ShapeDtypeStruct(shape, "f4") for shape in shapes] for _ in range(2)]
    arguments = layers, jax.ShapeDtypeStruct((rows, 512), "f4"), jax.ShapeDtypeStruct((8,), "i4")
    shardings = P("model"), P("data"), P()
    ragged, dense = (
        partitioned(training_step(form), arguments, mesh, shardings) for form in ("ragged", "dense")
    )
    assert sent(ragged) <= 1.01 * sent(dense)
    gathered = [each for each in ragged.collectives if each.kind == "all_gather"]
    assert not any("model" in each.axes for each in gathered)


@pytest.mark.parametrize("seed", range(cases(4)))
def test_random_bytes(seed):
    """The ragged form sends no more bytes than the one-hot form, if results are sharded alike."""
    rng = random.Random(seed)
    mesh, rows = rng.choice(MESHES), rng.choice([256, 4096])
    width, groups = rng.choice([16, 64]), rng.choice([4, 8])
    shapes = [(rows, width), *[(groups, width, width)] * 2, (width, width)]
    arguments = [jax.ShapeDtypeStruct(shape, "f4") for shape in shapes]
    arguments.append(jax.ShapeDtypeStruct((groups,), "i4"))
    any_axis = rng.choice([P(), P("model"), P(None, "model")])
    shardings = rows_of(mesh), P("model"), rng.choice([P("model"), P()]), any_axis, P()
    steps, is_gradient = [rng.randrange(4) for _ in range(rng.randint(1, 3))], rng.random() < 0.5

    def run(form, x, w, v, weights, sizes):
        h = multiplied(form, x, w, sizes)
        for step in steps:
            parts = [jnp.tanh, lambda h: h * x, lambda h: h @ weights, jax.nn.softmax]
            h = multiplied(form, parts[step](h), v, sizes)
        return h

    def function(form):
        def loss(*arguments):
            return (run(form, *arguments) ** 2).mean()

        return jax.grad(loss, (0, 1, 2, 3)) if is_gradient else functools.partial(run, form)

    results = shardings[:4] if is_gradient else shardings[0]
    ragged, one_hot = (
        sent(partitioned(function(form), arguments, mesh, shardings, results))
        for form in ("ragged", "dense")
    )
    assert ragged <= one_hot


def between(rng, h, x, weights):
    """Some operation on the rows of a product; not all of them keep rows apart."""
    kind = rng.randrange(12)
    if kind == 0:
        return jnp.tanh(h) + 1
    if kind == 1:
        return h * x
    if kind == 2:
        return jax.nn.softmax(h, axis=1)
    if kind == 3:
        return h - h.mean(0)
    if kind == 4:
        return jnp.flip(h, 0)
    if kind == 5:
        return h @ weights
    if kind == 6:
        return jnp.cumsum(h, 0)
    if kind == 7:
        return jnp.where(x > 0, h, x)
    if kind == 8:
        return jnp.roll(h, 1, axis=1)
    if kind == 9:
        return h.reshape(len(h), 2, -1).transpose(1, 2, 0).reshape(-1, len(h)).T
    if kind == 10:
        return lax.stop_gradient(h) + h.sum()
    return h.T.reshape(h.shape)


def random_program(rng):
    """A chain of products of groups with operations between them, and its gradient or results."""
    steps = [(rng.randrange(1 << 30), rng.random() < 0.2) for _ in range(rng.randint(1, 3))]
    swaps, is_returned, is_contracted = (rng.random() < 0.3 for _ in range(3))
    is_gradient = not is_contracted and rng.random() < 0.5  # JAX lacks that of contracted rows

    def run(x, w, v, weights, sizes):
        h, results = multiplied("ragged", x, w, sizes), []
        for seed, is_other in steps:
            for number in range(2):
                h = between(random.Random(seed + number), h, x, weights)
            other = sizes[::-1] if is_other and swaps else sizes
            results += [h] if is_returned else []
            h = multiplied("ragged", h, v, other)
        if is_contracted:
            numbers = lax.RaggedDotDimensionNumbers((((0,), (0,)), ((), ())), [0], [])
            results.append(lax.ragged_dot_general(x, jnp.sin(h), sizes, numbers))
        return [h, *results]

    def loss(x, w, v, weights, sizes):
        return sum((each * each).mean() for each in run(x, w, v, weights, sizes))

    return jax.grad(loss, (0, 1, 2, 3)) if is_gradient else run


@pytest.mark.parametrize("seed", range(cases(3)))
def test_random_programs(seed):
    rng = random.Random(seed)
    mesh = rng.choice(MESHES)
    generator = np.random.default_rng(seed)
    x, w, v, weights = (
        generator.normal(size=shape).astype("f4") / 4
        for shape in ((8, 16), (4, 16, 16), (4, 16, 16), (16, 16))
    )
    ends = np.sort(generator.integers(0, 9, 4))
    sizes = np.diff(ends, prepend=0).astype("i4")
    function = random_program(rng)
    arguments = x, w, v, weights, sizes
    any_axis = rng.choice([P(), P("model"), P(None, "model")])
    shardings = rows_of(mesh), P("model"), rng.choice([P("model"), P()]), any_axis, P()
    expected = jax.tree.leaves(jax.jit(function)(*arguments))
    found = partitioned(function, arguments, mesh, shardings).run(list(arguments), "jit")
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4 * max(1, np.abs(other).max()))
