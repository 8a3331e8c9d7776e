# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Make the example programs from JAX models, as JAX prints them with its Shardy annotations.

    python examples/make_programs.py                        # the files *.mlir beside it
    python examples/make_programs.py --large train.mlir     # a 24-layer training step, unrolled

Needs the `jax` extra. Nothing is computed here: the models are only traced and lowered, on a mesh
of 4 x 2 simulated devices with the axes "data" and "model".
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

MESH = Mesh(np.array(jax.devices()).reshape(4, 2), ("data", "model"))

Parameters = dict[str, jax.ShapeDtypeStruct]
Specs = dict[str, PartitionSpec]


def sharding(*axes: str | None) -> NamedSharding:
    """The sharding over `MESH` with one axis, or none, for each dimension."""
    return NamedSharding(MESH, PartitionSpec(*axes))


def named(specs: Any) -> Any:
    """A tree of partition specs as shardings over `MESH`."""
    return jax.tree.map(
        lambda spec: NamedSharding(MESH, spec),
        specs,
        is_leaf=lambda leaf: isinstance(leaf, PartitionSpec),
    )


def array(*shape: int, dtype: Any = jnp.float32) -> jax.ShapeDtypeStruct:
    """What an argument looks like: tracing needs no data."""
    return jax.ShapeDtypeStruct(shape, dtype)


# --- An MLP with data and tensor parallelism ------------------------------------------------


def mlp_train_step() -> str:
    """One step of stochastic gradient descent on a three-layer perceptron.

    The batch is split over "data". Weights alternate between splitting their columns and their
    rows over "model", so that one all-reduce completes each pair of layers.
    """
    batch, features, hidden, classes = 32, 16, 64, 8
    parameters = {
        "w1": array(features, hidden),
        "b1": array(hidden),
        "w2": array(hidden, hidden),
        "b2": array(hidden),
        "w3": array(hidden, classes),
        "b3": array(classes),
    }
    specs: Specs = {
        "w1": PartitionSpec(None, "model"),
        "b1": PartitionSpec("model"),
        "w2": PartitionSpec("model", None),
        "b2": PartitionSpec(None),
        "w3": PartitionSpec(None, "model"),
        "b3": PartitionSpec("model"),
    }

    def loss(weights: Any, inputs: Any, labels: Any) -> Any:
        hidden1 = jnp.tanh(inputs @ weights["w1"] + weights["b1"])
        hidden2 = jnp.tanh(hidden1 @ weights["w2"] + weights["b2"])
        logits = hidden2 @ weights["w3"] + weights["b3"]
        difference = logits - labels
        return jnp.mean(difference * difference)

    def step(weights: Any, inputs: Any, labels: Any) -> Any:
        value, gradients = jax.value_and_grad(loss)(weights, inputs, labels)
        return value, jax.tree.map(lambda w, g: w - 0.1 * g, weights, gradients)

    lowered = jax.jit(
        step,
        in_shardings=(named(specs), sharding("data", None), sharding("data", None)),
        out_shardings=(sharding(), named(specs)),
    ).lower(parameters, array(batch, features), array(batch, classes))
    return lowered.as_text()


# --- A transformer, Megatron style ----------------------------------------------------------


def block_parameters(
    model: int, hidden: int, *, rows_by: str | None = None
) -> tuple[Parameters, Specs]:
    """The weights of one transformer block, and how Megatron splits them over "model".

    The projections to heads and to the hidden layer split their columns, and their rows over the
    axis `rows_by`. The projections back to the model dimension split their rows.
    """
    columns, rows = PartitionSpec(rows_by, "model"), PartitionSpec("model", None)
    parameters = {
        "scale1": array(model),
        "query": array(model, model),
        "key": array(model, model),
        "value": array(model, model),
        "output": array(model, model),
        "scale2": array(model),
        "up": array(model, hidden),
        "down": array(hidden, model),
    }
    specs: Specs = {
        "scale1": PartitionSpec(None),
        "query": columns,
        "key": columns,
        "value": columns,
        "output": rows,
        "scale2": PartitionSpec(None),
        "up": columns,
        "down": rows,
    }
    return parameters, specs


def rms_norm(x: Any, scale: Any) -> Any:
    """Root-mean-square normalisation over the last dimension."""
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * scale


def attention(weights: Any, x: Any, heads: int) -> Any:
    """Causal self-attention over `[batch, sequence, model]`."""
    batch, sequence, model = x.shape

    def project(name: str) -> Any:
        return (x @ weights[name]).reshape(batch, sequence, heads, model // heads)

    query, key, value = project("query"), project("key"), project("value")
    scores = jnp.einsum("bqhd,bkhd->bhqk", query, key) / np.sqrt(model // heads)
    positions = jnp.arange(sequence)
    scores = jnp.where(positions[:, None] >= positions[None, :], scores, -1e9)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, axis=-1), value)
    return mixed.reshape(batch, sequence, model) @ weights["output"]


def block(weights: Any, x: Any, heads: int) -> Any:
    """A pre-norm transformer block."""
    x = x + attention(weights, rms_norm(x, weights["scale1"]), heads)
    hidden = jax.nn.gelu(rms_norm(x, weights["scale2"]) @ weights["up"])
    return x + hidden @ weights["down"]


def transformer_block(rows_by: str | None = None) -> str:
    """The forward pass of one block; the batch is split over "data"."""
    parameters, specs = block_parameters(model=32, hidden=64, rows_by=rows_by)
    lowered = jax.jit(
        lambda weights, x: block(weights, x, heads=4),
        in_shardings=(named(specs), sharding("data", None, None)),
        out_shardings=sharding("data", None, None),
    ).lower(parameters, array(8, 16, 32))
    return lowered.as_text()


def transformer_train_step(layers: int) -> str:
    """A training step of a language model with unrolled layers: loss, gradients, update."""
    vocabulary, model, hidden, heads, batch, sequence = 256, 64, 256, 4, 16, 32
    parameters, specs = block_parameters(model, hidden)
    all_parameters = {"embedding": array(vocabulary, model), "blocks": [parameters] * layers}
    all_specs = {"embedding": PartitionSpec("model", None), "blocks": [specs] * layers}

    def loss(weights: Any, tokens: Any, targets: Any) -> Any:
        x = jax.nn.one_hot(tokens, vocabulary) @ weights["embedding"]
        for block_weights in weights["blocks"]:
            x = block(block_weights, x, heads)
        scores = jax.nn.log_softmax(x @ weights["embedding"].T)
        return -jnp.mean(jnp.sum(scores * jax.nn.one_hot(targets, vocabulary), axis=-1))

    def step(weights: Any, tokens: Any, targets: Any) -> Any:
        value, gradients = jax.value_and_grad(loss)(weights, tokens, targets)
        return value, jax.tree.map(lambda w, g: w - 0.01 * g, weights, gradients)

    tokens = array(batch, sequence, dtype=jnp.int32)
    lowered = jax.jit(
        step,
        in_shardings=(named(all_specs), sharding("data", None), sharding("data", None)),
        out_shardings=(sharding(), named(all_specs)),
    ).lower(all_parameters, tokens, tokens)
    return lowered.as_text()


PROGRAMS: dict[str, Callable[[], str]] = {
    "mlp.mlir": mlp_train_step,
    "transformer_block.mlir": transformer_block,
    "transformer_block_fsdp.mlir": partial(transformer_block, rows_by="data"),
}


def main() -> None:
    """Write the example programs beside this script, or the large one where asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--large", metavar="FILE", type=Path, help="write the training step here")
    parser.add_argument("--layers", type=int, default=24, help="of the training step")
    arguments = parser.parse_args()
    if arguments.large:
        arguments.large.write_text(transformer_train_step(arguments.layers))
        return
    for name, make in PROGRAMS.items():
        Path(__file__).with_name(name).write_text(make())


if __name__ == "__main__":
    main()
