# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training of scanned layers whose stacked weights are sharded along `data`, as by FSDP.

Import `jax_devices` before.
"""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

import pyshardy as sdy

DEVICES = 8


def mlp(x, weights):
    return jnp.tanh(x @ weights["up"]) @ weights["down"]


def attention(x, weights):
    scores = jax.nn.softmax(jnp.einsum("btd,bsd->bts", x @ weights["q"], x))
    x = x + jnp.einsum("bts,bsd->btd", scores, x) @ weights["o"]
    return x + mlp(x, weights)


LAYERS = {"mlp": mlp, "attention": attention}
KINDS = ("forward", "gradient", "checkpointed", "accumulated")
ACCUMULATED = 3
"""The batches whose gradients are added up."""


def function_of(kind, layer):
    """Return a function of stacked weights and a batch: a pass forward, or gradients."""
    one = layer if kind in ("forward", "gradient") else jax.checkpoint(layer)

    def forward(weights, x):
        return jax.lax.scan(lambda h, w: (one(h, w), None), x, weights)[0]

    def loss(weights, x):
        return (forward(weights, x).astype(jnp.float32) ** 2).mean()

    def accumulated(weights, batches):
        def step(total, x):
            return jax.tree.map(jnp.add, total, jax.grad(loss)(weights, x)), None

        return jax.lax.scan(step, jax.tree.map(jnp.zeros_like, weights), batches)[0]

    return {"forward": forward, "accumulated": accumulated}.get(kind, jax.grad(loss))


def traced(
    kind,
    layer,
    count,
    *,
    batch=16,
    length=4,
    width=16,
    hidden=32,
    element="f4",
    zero=False,
    propagated=True,
):
    """Return a program of `count` layers, and the number of weights of each.

    Args:
        zero: whether the tactic `sdy.zero` shards the weights, not annotations.
        propagated: whether the shardings of arguments and results are propagated.
    """
    shapes = {"up": (count, width, hidden), "down": (count, hidden, width)}
    if layer == "attention":
        shapes |= {"q": (count, width, width), "o": (count, width, width)}
    weights = {name: jax.ShapeDtypeStruct(shape, element) for name, shape in shapes.items()}
    lead = (ACCUMULATED,) if kind == "accumulated" else ()
    x = jax.ShapeDtypeStruct((*lead, batch, length, width), element)
    function = function_of(kind, LAYERS[layer])
    mesh = sdy.Mesh({"data": DEVICES})
    if zero:
        module = sdy.jax.trace(function, weights, x, mesh=mesh)
        name = "batches" if lead else "x"
        tactics = [
            sdy.manual({name: len(lead)}, axis="data", name="BP"),
            sdy.zero(parameters="weights*", axis="data", name="Z3"),
        ]
        return sdy.Schedule(tactics).propagated(module), len(shapes)
    specs = {name: P(None, "data") for name in shapes}
    module = sdy.jax.trace(
        function,
        weights,
        x,
        mesh=mesh,
        in_shardings=(specs, P(*[None] * len(lead), "data")),
        out_shardings=P("data") if kind == "forward" else specs,
    )
    if propagated:
        sdy.propagate(module)
    return module, len(shapes)
