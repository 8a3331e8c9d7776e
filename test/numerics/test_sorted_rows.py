# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows that are sorted by groups: each device sorts its own where the order doesn't matter."""

import importlib
import random

import jax_devices  # noqa: F401 (before JAX)
import numpy as np
import pytest
from case_counts import cases

import pyshardy as sdy

jax = pytest.importorskip("jax")
jnp, lax = jax.numpy, jax.lax
P = jax.sharding.PartitionSpec

GROUPS = 4
MESHES = ({"data": 2, "model": 4}, {"data": 4, "model": 2}, {"data": 8}, {"data": 2, "model": 2})


def groups_of(rng, x, router, count):
    """The groups of each token, and its weights, by a router."""
    scores = jax.nn.softmax(x @ router)
    if count == 1 and rng.random() < 0.5:
        groups = jnp.argmax(scores, axis=-1)[:, None]
        return groups, jnp.take_along_axis(scores, groups, 1)
    weights, groups = lax.top_k(scores, count)
    return groups, weights / weights.sum(-1, keepdims=True)


def sizes_of(rng, groups):
    kind = rng.randrange(3)
    if kind == 0:
        return jnp.bincount(groups, length=GROUPS).astype("i4")
    if kind == 1:
        return jax.nn.one_hot(groups, GROUPS).sum(0).astype("i4")
    return jnp.zeros(GROUPS, "i4").at[groups].add(1)


def layer(rng, x, router, up, down, *, disorder=None, constrained=True):
    """A mixture of experts, which sorts its tokens in one of several ways."""
    count = rng.choice([1, 2, 3])
    groups, weights = groups_of(rng, x, router, count)
    flat = groups.reshape(-1)
    order = jnp.argsort(flat)
    if disorder == "descending":
        order = jnp.argsort(-flat)
    token = order // count if rng.random() < 0.5 else jnp.repeat(jnp.arange(len(x)), count)[order]
    rows = x[token]
    if rng.random() < 0.3 and constrained:
        rows = lax.with_sharding_constraint(rows, P("data"))
    sizes = sizes_of(rng, flat)
    if disorder == "other sizes":
        sizes = sizes[::-1]
    hidden = lax.ragged_dot(rows, up, sizes)
    hidden = rng.choice([jax.nn.gelu, jnp.tanh, jax.nn.softmax])(hidden)
    if disorder == "sums":
        hidden = jnp.cumsum(hidden, 0)
    if disorder == "positions":
        hidden = hidden + jnp.arange(len(hidden))[:, None] / 100
    if disorder == "neighbors":
        hidden = hidden + jnp.roll(hidden, 1, 0)
    result = lax.ragged_dot(hidden, down, sizes)
    if rng.random() < 0.5:
        result = result[jnp.argsort(order)].reshape(len(x), count, -1)
        return jnp.einsum("tkd,tk->td", result, weights)
    result = result * weights.reshape(-1)[order][:, None]
    if rng.random() < 0.5:
        return jnp.zeros_like(x).at[token].add(result)
    return (
        jnp.zeros_like(result)
        .at[order]
        .set(result, unique_indices=True)
        .reshape(len(x), count, -1)
        .sum(1)
    )


def program(seed, disorder=None, *, gradient=True, features=8, hidden=16):
    """A function of parameters and tokens, and arguments."""

    def run(parameters, x):
        constrained = isinstance(x, jax.core.Tracer) and not jax.sharding.get_abstract_mesh().empty
        for number, each in enumerate(parameters):
            rng = random.Random(seed + number)
            x = x + layer(rng, x, *each, disorder=disorder, constrained=constrained)
        return x

    def loss(parameters, x):
        return (run(parameters, x) ** 2).mean()

    generator = np.random.default_rng(seed)
    shapes = (features, GROUPS), (GROUPS, features, hidden), (GROUPS, hidden, features)
    parameters = [[generator.normal(size=s).astype("f4") / 2 for s in shapes] for _ in range(1)]
    arguments = parameters, generator.normal(size=(256, features)).astype("f4")
    return (jax.grad(loss) if gradient else run), arguments


def partitioned(function, arguments, mesh):
    experts = P("model") if "model" in mesh else P()
    shardings = [[P(), experts, experts]] * len(arguments[0]), P("data")
    module = sdy.jax.trace(function, *arguments, mesh=sdy.Mesh.of(mesh), in_shardings=shardings)
    sdy.propagate(module)
    return sdy.partition(module)


def check(found, expected):
    for one, other in zip(found, jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4 * max(1, np.abs(other).max()))


@pytest.mark.parametrize("seed", range(cases(4)))
def test_numbers_and_bytes(seed):
    """No device gets rows of others: only weights, and the sums of their gradients, are reduced."""
    mesh = MESHES[seed % len(MESHES)]
    function, arguments = program(seed, gradient=seed % 3 > 0)
    found = partitioned(function, arguments, mesh)
    check(found.run(jax.tree.leaves(arguments), "xla"), jax.jit(function)(*arguments))
    along = [each for each in found.collectives if "data" in each.axes]
    assert not {each.kind for each in along} & {"all_gather", "all_to_all"}
    parameters = sum(each.nbytes for each in jax.tree.leaves(arguments[0]))
    assert sum(each.nbytes_sent for each in along) <= (2 * parameters if seed % 3 else 0)


@pytest.mark.parametrize("seed", range(6, 6 + cases(2)))
def test_smaller_results(monkeypatch, seed):
    """The products that use the results of experts are completed instead of these."""
    module = importlib.import_module("pyshardy.passes.partitioning.reassociate_reductions")
    function, arguments = program(seed, features=32, hidden=256)
    sent = []
    for number in (2**20, 0):
        monkeypatch.setattr(module, "BYTES_OF_A_START", number)
        found = partitioned(function, arguments, {"data": 2, "model": 4})
        sent.append(sum(each.nbytes_sent for each in found.collectives))
    assert sent[1] <= sent[0]
    check(found.run(jax.tree.leaves(arguments), "xla"), jax.jit(function)(*arguments))


@pytest.mark.parametrize("seed", range(cases(1)))
@pytest.mark.parametrize(
    "disorder", ["descending", "other sizes", "sums", "positions", "neighbors"]
)
def test_order_that_matters(seed, disorder):
    function, arguments = program(seed, disorder, gradient=False)
    found = partitioned(function, arguments, {"data": 4, "model": 2})
    check(found.run(jax.tree.leaves(arguments), "xla"), jax.jit(function)(*arguments))


def test_bytes_of_a_training_step():
    """Not more than with experts that compute all rows."""
    mesh, tokens, count = {"data": 32, "model": 8}, 1 << 15, 2
    shapes = [(512, 8), (8, 512, 1024), (8, 1024, 512)]
    abstract = [[jax.ShapeDtypeStruct(shape, "f4") for shape in shapes] for _ in range(2)]

    def routed(parameters, x, *, sort):
        for router, up, down in parameters:
            weights, groups = lax.top_k(jax.nn.softmax(x @ router), count)
            if sort:
                flat = groups.reshape(-1)
                order, sizes = jnp.argsort(flat), jnp.bincount(flat, length=8).astype("i4")
                hidden = jnp.tanh(lax.ragged_dot(x[order // count], up, sizes))
                rows = lax.ragged_dot(hidden, down, sizes)[jnp.argsort(order)]
                y = jnp.einsum("tkd,tk->td", rows.reshape(len(x), count, -1), weights)
            else:
                mask = (jax.nn.one_hot(groups, 8) * weights[..., None]).sum(1)
                hidden = jnp.tanh(jnp.einsum("td,edf->tef", x, up))
                y = jnp.einsum("tef,efd,te->td", hidden, down, mask)
            x = x + y
        return (x * x).mean()

    def step(parameters, x, *, sort):
        gradients = jax.grad(lambda *given: routed(*given, sort=sort))(parameters, x)
        return jax.tree.map(lambda w, g: w - g / 10, parameters, gradients)

    arguments = abstract, jax.ShapeDtypeStruct((tokens, 512), "f4")
    ragged, dense = (
        partitioned(lambda *given, sort=sort: step(*given, sort=sort), arguments, mesh)
        for sort in (True, False)
    )
    sent = [sum(each.nbytes_sent for each in one.collectives) for one in (ragged, dense)]
    assert sent[0] <= sent[1]
