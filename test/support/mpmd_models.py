# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training steps with names, for several meshes: layers of one product, and a small decoder."""

from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import jax_devices  # noqa: F401 (before JAX looks for devices)
import numpy as np
from jax.sharding import PartitionSpec as P

import pyshardy as sdy

SHAPES = {
    "equal": [(2, 2)] * 4,
    "different": [(2, 2), (4, 1), (1, 2), (1, 1)],
    "small": [(2, 1)] * 2,
    "pair": [(2, 2)] * 2,
}

FLAT = ["gpipe", "1f1b", "1f1b{warmup=eager}", "gpipe-1f1b-last", "zb-h1", "zb-h2", "none"]
"""Schedules with a stage on each mesh."""


@dataclass
class Model:
    """A training step.

    Attributes:
        step: the function.
        arguments: its arguments.
        options: the options of `sdy.mpmd.trace` besides the topology and the assignment.
    """

    step: Any
    arguments: tuple
    options: dict = field(default_factory=dict)

    @property
    def flat(self):
        """The arrays of the arguments."""
        return [np.asarray(each) for each in jax.tree.leaves(self.arguments)]

    def trace(self, shapes, stages=None, layers=4, **options):
        """Trace for meshes of the shapes; `stages` is the number of them on each mesh."""
        topology = {f"m{i}": {"data": a, "model": b} for i, (a, b) in enumerate(shapes)}
        meshes, assignment = len(shapes), {}
        for layer in range(layers):
            stage = layer if stages else layer * meshes // layers
            mesh = f"m{stage % meshes}"
            assignment[f"layer{layer}"] = (mesh, stage) if stages else mesh
        assignment["embed"] = assignment["layer0"]
        assignment["loss"] = assignment[f"layer{layers - 1}"]
        given = {**self.options, **options}
        return sdy.mpmd.trace(
            self.step, *self.arguments, topology=topology, assignment=assignment, **given
        )


def products(layers=4, microbatches=4, size=8, batch=16, **options):
    """Return a step of gradient descent of `layers` products with a sharded batch."""

    def layer(weights, x):
        x = jax.lax.with_sharding_constraint(x @ weights, P("data", None))
        return jnp.tanh(x)

    def loss_of(parameters, x, y):
        x = sdy.mpmd.named_computation(lambda x: x * 2, name="embed")(x)
        for index, weights in enumerate(parameters):
            x = sdy.mpmd.named_computation(layer, name=f"layer{index}")(weights, x)
        return sdy.mpmd.named_computation(lambda x, y: ((x - y) ** 2).mean(), name="loss")(x, y)

    def step(parameters, x, y):
        gradients = sdy.mpmd.microbatched(jax.value_and_grad(loss_of), microbatches, **options)
        loss, found = gradients(parameters, x, y)
        return [old - 0.1 * new for old, new in zip(parameters, found, strict=True)], loss

    random = np.random.default_rng(0)
    parameters = [
        random.normal(size=(size, size)).astype(np.float32) / np.sqrt(size).astype(np.float32)
        for _ in range(layers)
    ]
    x, y = (random.normal(size=(batch, size)).astype(np.float32) for _ in range(2))
    shardings = {"in_shardings": ([P(None, "model")] * layers, P("data", None), P("data", None))}
    return Model(step, (parameters, x, y), {**shardings, "keep": ((0, 0),)})


def decoder(layers=4, width=64, heads=4, hidden=128, words=64, tokens=16, batch=8, microbatches=4):
    """Return a step of AdamW of a decoder of transformer layers."""

    def norm(x, scale):
        return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * scale

    def layer(weights, x):
        batch, tokens, _ = x.shape
        y = norm(x, weights["scale1"])
        split = (batch, tokens, heads, width // heads)
        q, k, v = ((y @ weights[name]).reshape(split) for name in "qkv")
        scores = jnp.einsum("bthd,bshd->bhts", q, k) / np.sqrt(width // heads)
        mask = jnp.tril(jnp.ones((tokens, tokens), bool))
        scores = jax.nn.softmax(jnp.where(mask, scores, -1e9))
        mixed = jnp.einsum("bhts,bshd->bthd", scores, v).reshape(batch, tokens, width)
        x = x + mixed @ weights["o"]
        up = jax.nn.gelu(norm(x, weights["scale2"]) @ weights["up"])
        return x + up @ weights["down"]

    def head(weights, x, text):
        found = jax.nn.log_softmax(x @ weights)
        return -jnp.take_along_axis(found, text[:, 1:, None], -1).mean()

    def loss_of(parameters, text):
        named = sdy.mpmd.named_computation
        look_up = named(lambda table, text: table[text[:, :-1]], name="embed")
        x = look_up(parameters["table"], text)
        for index in range(layers):
            x = named(layer, name=f"layer{index}")(parameters["layers"][index], x)
        return named(head, name="loss")(parameters["head"], x, text)

    def adamw(weights, gradient, mean, square, count):
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.99 * square + 0.01 * gradient * gradient
        change = mean / (1 - 0.9**count) / (jnp.sqrt(square / (1 - 0.99**count)) + 1e-3)
        return weights - 1e-2 * (change + 1e-2 * weights), mean, square

    def step(parameters, state, text):
        means, squares, count = state
        count = count + 1
        gradients = sdy.mpmd.microbatched(jax.value_and_grad(loss_of), microbatches)
        loss, found = gradients(parameters, text)
        trees = parameters, found, means, squares
        leaves = zip(*map(jax.tree.leaves, trees), strict=True)
        updated = [adamw(*each, count) for each in leaves]
        tree = jax.tree.structure(parameters)
        new = [jax.tree.unflatten(tree, [each[i] for each in updated]) for i in range(3)]
        return new[0], (new[1], new[2], count), loss

    random = np.random.default_rng(0)

    def weights(*shape):
        return (random.normal(size=shape) / np.sqrt(shape[0])).astype(np.float32)

    def one():
        found = {name: weights(width, width) for name in "qkvo"}
        found |= {"up": weights(width, hidden), "down": weights(hidden, width)}
        return found | {f"scale{i}": np.ones(width, np.float32) for i in (1, 2)}

    parameters = {
        "table": weights(words, width),
        "layers": [one() for _ in range(layers)],
        "head": weights(width, words),
    }
    spec = {**dict.fromkeys("qkv", P(None, "model")), "o": P("model", None)}
    spec |= {"up": P(None, "model"), "down": P("model", None), "scale1": P(), "scale2": P()}
    of_parameters = {"table": P(), "layers": [spec] * layers, "head": P(None, "model")}
    zeros = jax.tree.map(np.zeros_like, parameters)
    text = random.integers(0, words, (batch, tokens + 1)).astype(np.int32)
    arguments = parameters, (zeros, zeros, np.zeros((), np.float32)), text
    shardings = of_parameters, (of_parameters, of_parameters, P()), P("data", None)
    return Model(step, arguments, {"in_shardings": shardings, "keep": ((0, 0), (1, 1))})
