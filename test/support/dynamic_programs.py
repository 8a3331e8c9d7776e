# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of JAX with a symbolic dimension."""

import jax
import jax.numpy as jnp
import jax_devices  # noqa: F401 (before JAX looks for devices)
import numpy as np
from jax.sharding import PartitionSpec as P

import pyshardy as sdy

MESH = sdy.Mesh.of({"data": 4, "model": 2})
F32 = "float32"
TYPE = jax.ShapeDtypeStruct


def size(text="b", *constraints):
    return jax.export.symbolic_shape(text, constraints=constraints)[0]


def layers(weights, x):
    return jnp.maximum(x @ weights["up"], 0) @ weights["down"]


def loss(weights, x, y):
    return jnp.mean((layers(weights, x) - y) ** 2)


def step(weights, x, y):
    value, gradient = jax.value_and_grad(loss)(weights, x, y)
    return jax.tree.map(lambda w, g: w - 0.1 * g, weights, gradient), value


def attention(weights, x):
    q, k, v = (jnp.einsum("bsd,dhk->bshk", x, weights[name]) for name in "qkv")
    scores = jnp.einsum("bshk,bthk->bhst", q, k)
    mask = jnp.tril(jnp.ones((x.shape[1], x.shape[1]), bool))
    scores = jax.nn.softmax(jnp.where(mask, scores, -1e9))
    return jnp.einsum("bhst,bthk->bshk", scores, v)


def scanned(weights, x):
    return jax.lax.scan(lambda c, w: (jnp.tanh(c @ w), c.sum()), x, weights)


def shapes(x):
    rows = jnp.arange(x.shape[0])[:, None]
    return x / x.shape[0] + rows, jnp.concatenate([x, x]), x[::-1], jnp.cumsum(x, 0), x.reshape(-1)


def constrained(x):
    halves = jax.lax.with_sharding_constraint(x * 0.5, P("data", "model"))
    return jax.lax.cond(x.sum() > 0, lambda: halves, lambda: -halves) @ x.T


MLP = {"up": TYPE((16, 32), F32), "down": TYPE((32, 16), F32)}
MEGATRON = {"up": P(None, "model"), "down": P("model", None)}
FSDP = {"up": P("data", None), "down": P("data", None)}
HEADS = {name: TYPE((16, 4, 8), F32) for name in "qkv"}
ROWS = P("data", None)

CASES = {
    "layers": (layers, (MLP, ((), 16)), (MEGATRON, ROWS)),
    "step": (step, (MLP, ((), 16), ((), 16)), (MEGATRON, ROWS, ROWS)),
    "fsdp": (step, (MLP, ((), 16), ((), 16)), (FSDP, ROWS, ROWS)),
    "attention": (
        attention,
        (HEADS, ((), 6, 16)),
        (dict.fromkeys("qkv", P(None, "model", None)), P("data", None, None)),
    ),
    "sequence": (
        attention,
        (HEADS, (4, (), 16)),
        (dict.fromkeys("qkv", P(None, "model", None)), P("data", None, None)),
    ),
    "scanned": (scanned, (TYPE((3, 16, 16), F32), ((), 16)), (P(None, None, "model"), ROWS)),
    "shapes": (shapes, (((), 16),), (ROWS,)),
    "constrained": (constrained, (((), 16),), (ROWS,)),
}
"""Functions with the types of their arguments, `()` for the symbol, and their shardings."""


def types_of(case, number):
    _, given, _ = CASES[case]
    return tuple(
        TYPE(tuple(number if each == () else each for each in one), F32)
        if isinstance(one, tuple)
        else one
        for one in given
    )


def traced(case, number):
    function, _, shardings = CASES[case]
    return sdy.jax.trace(
        function,
        *types_of(case, number),
        mesh=MESH,
        in_shardings=jax.tree.map(
            sdy.sharding, shardings, is_leaf=lambda each: isinstance(each, P)
        ),
    )


def arrays_of(case, number):
    random = np.random.default_rng(number)
    leaves = jax.tree.leaves(types_of(case, number))
    return [random.standard_normal(each.shape).astype(F32) for each in leaves]


def filled(made, inputs, values, padding=np.nan):
    """Return the arguments of a program for a capacity, with padding that isn't to be read."""
    arrays: list[np.ndarray] = []
    for array, port in zip(inputs, made.inputs, strict=False):
        beyond = {"f": padding, "c": padding, "i": -99}.get(array.dtype.kind, 1)
        arrays.append(np.full(port.spec.shape, beyond, array.dtype))
        arrays[-1][tuple(map(slice, array.shape))] = array
    scalars = [np.array(values[port.name], np.int32) for port in made.inputs[len(inputs) :]]
    return [*arrays, *scalars]
