# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training and serving programs of over 1,000 operations, of different kinds.

    python bench/programs.py FOLDER    # write one file for each

Each registered function returns a step, unrolled, on a mesh of 4 x 2 devices with the axes "data"
and "model". Sizes are small, since only operations count. Needs the `jax` extra.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

MESH = Mesh(np.array(jax.devices()).reshape(4, 2), ("data", "model"))
PROGRAMS: dict[str, Callable[[], Step]] = {}


@dataclass(frozen=True)
class Step:
    """A function, its abstract arguments, and their shardings."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    in_shardings: tuple[Any, ...]

    def text(self) -> str:
        """Return the text that JAX makes of it."""
        jitted = jax.jit(self.function, in_shardings=self.in_shardings)
        return jitted.lower(*self.arguments).as_text()


def program(make: Callable[[], Step]) -> Callable[[], Step]:
    """Register a program under the name of its function."""
    PROGRAMS[make.__name__] = make
    return make


class Weights:
    """The shapes and shardings of weights, as two trees."""

    def __init__(self) -> None:
        self.shapes: dict[str, Any] = {}
        self.specs: dict[str, Any] = {}

    def add(self, name: str, shape: tuple[int, ...], *axes: str | None) -> None:
        """Add a weight, sharded by an axis or none in each dimension."""
        self.shapes[name] = jax.ShapeDtypeStruct(shape, jnp.float32)
        self.specs[name] = PartitionSpec(*axes)


def step_of(function: Callable[..., Any], weights: Any, specs: Any, *batches: Any) -> Step:
    """Return a step of weights and of arrays that are split over "data"."""
    shardings = jax.tree.map(
        lambda spec: NamedSharding(MESH, spec),
        specs,
        is_leaf=lambda leaf: isinstance(leaf, PartitionSpec),
    )
    split = NamedSharding(MESH, PartitionSpec("data"))
    return Step(function, (weights, *batches), (shardings, *[split] * len(batches)))


def array(*shape: int, dtype: Any = jnp.float32) -> jax.ShapeDtypeStruct:
    """Return an abstract array."""
    return jax.ShapeDtypeStruct(shape, dtype)


def adamw(weights: Any, gradients: Any, moments: Any) -> tuple[Any, Any]:
    """Return weights and moments after a step of AdamW."""
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments[0], gradients)
    second = jax.tree.map(lambda v, g: 0.95 * v + 0.05 * g * g, moments[1], gradients)
    new = jax.tree.map(
        lambda w, m, v: w - 1e-3 * (m / (jnp.sqrt(v) + 1e-8) + 0.1 * w), weights, first, second
    )
    return new, (first, second)


def norm(x: Any, scale: Any) -> Any:
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * scale


def rotated(x: Any) -> Any:
    """Apply rotary position embeddings to `[batch, sequence, heads, head]`."""
    half = x.shape[-1] // 2
    angles = jnp.arange(x.shape[1])[:, None] * 10000.0 ** (-jnp.arange(half) / half)
    cos, sin = jnp.cos(angles)[:, None], jnp.sin(angles)[:, None]
    left, right = x[..., :half], x[..., half:]
    return jnp.concatenate([left * cos - right * sin, right * cos + left * sin], axis=-1)


@program
def decoder_adamw() -> Step:
    """A decoder of 12 layers with grouped heads, FSDP x tensor parallel, and AdamW."""
    width, heads, groups, head, hidden, words = 64, 8, 4, 8, 128, 256
    layer = Weights()
    layer.add("q", (width, heads, head), "data", "model", None)
    layer.add("k", (width, groups, head), "data", "model", None)
    layer.add("v", (width, groups, head), "data", "model", None)
    layer.add("o", (heads, head, width), "model", None, "data")
    layer.add("gate", (width, hidden), "data", "model")
    layer.add("up", (width, hidden), "data", "model")
    layer.add("down", (hidden, width), "model", "data")
    layer.add("norm1", (width,), None)
    layer.add("norm2", (width,), None)
    table = Weights()
    table.add("words", (words, width), "model", "data")
    shapes = {"layers": [layer.shapes] * 12, **table.shapes}
    specs = {"layers": [layer.specs] * 12, **table.specs}

    def block(w: Any, x: Any) -> Any:
        y = norm(x, w["norm1"])
        q, k, v = (jnp.einsum("bsd,dhe->bshe", y, w[name]) for name in "qkv")
        q, k = rotated(q), rotated(k)
        k, v = (jnp.repeat(each, heads // groups, axis=2) for each in (k, v))
        scores = jnp.einsum("bqhe,bkhe->bhqk", q, k) / np.sqrt(head)
        mask = jnp.tril(jnp.ones(scores.shape[-2:], bool))
        probabilities = jax.nn.softmax(jnp.where(mask, scores, -1e9), axis=-1)
        mixed = jnp.einsum("bhqk,bkhe->bqhe", probabilities, v)
        x = x + jnp.einsum("bqhe,hed->bqd", mixed, w["o"])
        y = norm(x, w["norm2"])
        return x + (jax.nn.silu(y @ w["gate"]) * (y @ w["up"])) @ w["down"]

    def loss(w: Any, tokens: Any, targets: Any) -> Any:
        x = w["words"][tokens]
        for each in w["layers"]:
            x = block(each, x)
        scores = jax.nn.log_softmax(x @ w["words"].T)
        return -jnp.mean(jnp.take_along_axis(scores, targets[..., None], axis=-1))

    def step(state: Any, tokens: Any, targets: Any) -> Any:
        value, gradients = jax.value_and_grad(loss)(state[0], tokens, targets)
        return value, adamw(state[0], gradients, state[1])

    tokens = array(8, 32, dtype=jnp.int32)
    state = shapes, (shapes, shapes)
    return step_of(step, state, (specs, (specs, specs)), tokens, tokens)


@program
def mixture_of_experts() -> Step:
    """Eight layers of four experts, the best of which each token takes, and SGD."""
    width, hidden, experts, capacity = 32, 64, 4, 16
    layer = Weights()
    layer.add("router", (width, experts), None, None)
    layer.add("up", (experts, width, hidden), "model", None, None)
    layer.add("down", (experts, hidden, width), "model", None, None)
    layer.add("norm", (width,), None)

    def block(w: Any, x: Any) -> Any:
        y = norm(x, w["norm"])
        probabilities = jax.nn.softmax(y @ w["router"])
        chosen = jax.nn.one_hot(jnp.argmax(probabilities, axis=-1), experts)
        place = jnp.cumsum(chosen, axis=1) * chosen - 1
        slots = jax.nn.one_hot(place.astype(jnp.int32), capacity)
        sent = jnp.einsum("gsec,gsd->egcd", slots, y)
        made = jnp.einsum("egcd,edh->egch", sent, w["up"])
        back = jnp.einsum("egch,ehd->egcd", jax.nn.gelu(made), w["down"])
        weight = jnp.max(probabilities, axis=-1)
        return x + jnp.einsum("gsec,gs,egcd->gsd", slots, weight, back)

    def loss(layers: Any, x: Any) -> Any:
        for each in layers:
            x = block(each, x)
        return jnp.mean(x * x)

    def step(layers: Any, x: Any) -> Any:
        value, gradients = jax.value_and_grad(loss)(layers, x)
        return value, jax.tree.map(lambda w, g: w - 0.01 * g, layers, gradients)

    return step_of(step, [layer.shapes] * 8, [layer.specs] * 8, array(8, 32, width))


@program
def residual_network() -> Step:
    """A residual network of 16 blocks of convolutions with batch statistics, and momentum."""
    channels, classes = 16, 32
    layer = Weights()
    for name in ("first", "second"):
        layer.add(name, (3, 3, channels, channels), None, None, None, "model")
        layer.add(f"{name}_scale", (channels,), None)
        layer.add(f"{name}_shift", (channels,), None)
    head = Weights()
    head.add("head", (channels, classes), None, "model")
    shapes = {"blocks": [layer.shapes] * 16, **head.shapes}
    specs = {"blocks": [layer.specs] * 16, **head.specs}

    def normalized(x: Any, scale: Any, shift: Any) -> Any:
        mean = jnp.mean(x, axis=(0, 1, 2))
        variance = jnp.mean((x - mean) ** 2, axis=(0, 1, 2))
        return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + shift

    def block(w: Any, x: Any) -> Any:
        y = x
        for name in ("first", "second"):
            dims = ("NHWC", "HWIO", "NHWC")
            y = jax.lax.conv_general_dilated(y, w[name], (1, 1), "SAME", dimension_numbers=dims)
            y = jax.nn.relu(normalized(y, w[f"{name}_scale"], w[f"{name}_shift"]))
        return x + y

    def loss(w: Any, images: Any, labels: Any) -> Any:
        x = images
        for each in w["blocks"]:
            x = block(each, x)
        scores = jax.nn.log_softmax(jnp.mean(x, axis=(1, 2)) @ w["head"])
        return -jnp.mean(jnp.sum(scores * jax.nn.one_hot(labels, classes), axis=-1))

    def step(state: Any, images: Any, labels: Any) -> Any:
        weights, velocity = state
        value, gradients = jax.value_and_grad(loss)(weights, images, labels)
        velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, gradients)
        return value, jax.tree.map(lambda w, v: w - 0.1 * v, weights, velocity), velocity

    images, labels = array(8, 16, 16, channels), array(8, dtype=jnp.int32)
    return step_of(step, (shapes, shapes), (specs, specs), images, labels)


@program
def recurrent_network() -> Step:
    """The gradient of 48 unrolled steps of a gated recurrent network."""
    width = 32
    weights = Weights()
    for gate in ("reset", "update", "new"):
        weights.add(f"{gate}_input", (width, width), None, "model")
        weights.add(f"{gate}_state", (width, width), None, "model")
        weights.add(f"{gate}_bias", (width,), "model")

    def cell(w: Any, state: Any, x: Any) -> Any:
        def gate(name: str, before: Any) -> Any:
            return x @ w[f"{name}_input"] + before @ w[f"{name}_state"] + w[f"{name}_bias"]

        reset, update = (jax.nn.sigmoid(gate(name, state)) for name in ("reset", "update"))
        new = jnp.tanh(gate("new", reset * state))
        return update * state + (1 - update) * new

    def loss(w: Any, x: Any) -> Any:
        state = jnp.zeros((x.shape[0], width))
        for time in range(48):
            state = cell(w, state, x[:, time])
        return jnp.mean(state * state)

    def step(w: Any, x: Any) -> Any:
        return jax.tree.map(lambda w, g: w - 0.1 * g, w, jax.grad(loss)(w, x))

    return step_of(step, weights.shapes, weights.specs, array(8, 48, width))


@program
def serving_with_cache() -> Step:
    """One token of a decoder of 32 layers, which reads and updates a cache of keys and values."""
    width, heads, head, length, words = 64, 8, 8, 64, 256
    layer = Weights()
    for name in "qkv":
        layer.add(name, (width, heads, head), None, "model", None)
    layer.add("o", (heads, head, width), "model", None, None)
    layer.add("up", (width, 4 * width), None, "model")
    layer.add("down", (4 * width, width), "model", None)
    layer.add("norm1", (width,), None)
    layer.add("norm2", (width,), None)
    layer.add("keys", (8, length, heads, head), "data", None, "model", None)
    layer.add("values", (8, length, heads, head), "data", None, "model", None)
    table = Weights()
    table.add("words", (words, width), "model", None)
    shapes = {"layers": [layer.shapes] * 32, **table.shapes}
    specs = {"layers": [layer.specs] * 32, **table.specs}

    def step(w: Any, tokens: Any, places: Any) -> Any:
        x, caches, place = w["words"][tokens], [], places[0]
        for each in w["layers"]:
            y = norm(x, each["norm1"])
            q, k, v = (jnp.einsum("bd,dhe->bhe", y, each[name]) for name in "qkv")
            keys = jax.lax.dynamic_update_slice(each["keys"], k[:, None], (0, place, 0, 0))
            values = jax.lax.dynamic_update_slice(each["values"], v[:, None], (0, place, 0, 0))
            caches.append((keys, values))
            scores = jnp.einsum("bhe,bshe->bhs", q, keys) / np.sqrt(head)
            scores = jnp.where(jnp.arange(length) <= place, scores, -1e9)
            mixed = jnp.einsum("bhs,bshe->bhe", jax.nn.softmax(scores), values)
            x = x + jnp.einsum("bhe,hed->bd", mixed, each["o"])
            x = x + jax.nn.gelu(norm(x, each["norm2"]) @ each["up"]) @ each["down"]
        return jnp.argmax(x @ w["words"].T, axis=-1), caches

    index = array(8, dtype=jnp.int32)
    return step_of(step, shapes, specs, index, index)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    folder.mkdir(exist_ok=True)
    for name, make in PROGRAMS.items():
        (folder / f"{name}.mlir").write_text(make().text())


if __name__ == "__main__":
    main()
