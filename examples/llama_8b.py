# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plan the training step of Llama 3 8B for 256 devices, on a laptop.

The step has its real size: 32 layers, AdamW, rematerialized layers, bfloat16 weights with float32
moments. Its arguments are abstract, so that no weights are needed and nothing is computed.

    python examples/llama_8b.py --html=llama.html
    python examples/llama_8b.py --auto           # find the shardings instead of the expert's
"""

import argparse
import time
from functools import partial

import jax
import rich
from jax import numpy as jnp
from jax.sharding import AbstractMesh, AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import pyshardy as sdy
from pyshardy.auto.strategies.costs import HardwareCosts, PricedBytes

WIDTH, HIDDEN, VOCABULARY = 4096, 14336, 128256
HEADS, KV_HEADS, HEAD = 32, 8, 128
BYTE_PRICE = 1e-11  # the estimate has no contention of links, and no memory traffic of collectives
LEARNING_RATE, BETA1, BETA2, DECAY = 3e-4, 0.9, 0.95, 0.1

# Each weight: its shape, and its sharding. "model" splits heads and hidden units (Megatron), "data"
# the other dimension (FSDP).
LAYER = {
    "wq": ((WIDTH, HEADS, HEAD), P("data", "model", None)),
    "wk": ((WIDTH, KV_HEADS, HEAD), P("data", "model", None)),
    "wv": ((WIDTH, KV_HEADS, HEAD), P("data", "model", None)),
    "wo": ((HEADS, HEAD, WIDTH), P("model", None, "data")),
    "gate": ((WIDTH, HIDDEN), P("data", "model")),
    "up": ((WIDTH, HIDDEN), P("data", "model")),
    "down": ((HIDDEN, WIDTH), P("model", "data")),
    "attention_norm": ((WIDTH,), P()),
    "mlp_norm": ((WIDTH,), P()),
}
OUTER = {
    "embedding": ((VOCABULARY, WIDTH), P("model", "data")),
    "head": ((WIDTH, VOCABULARY), P("data", "model")),
    "norm": ((WIDTH,), P()),
}


MESH = AbstractMesh((32, 8), ("data", "model"), axis_types=(AxisType.Auto, AxisType.Auto))
ACTIVATIONS = P("data", None, None)  # [batch, sequence, width]


def normalize(x, scale):
    """Return `x` with a root mean square of one along the last dimension, scaled."""
    wide = x.astype(jnp.float32)
    wide *= jax.lax.rsqrt(jnp.mean(wide * wide, axis=-1, keepdims=True) + 1e-5)
    return wide.astype(x.dtype) * scale


def rotate(x):
    """Return the queries or keys [batch, sequence, heads, head] with rotary embeddings."""
    frequencies = 500000.0 ** (-jnp.arange(0, HEAD, 2) / HEAD)
    angles = jnp.arange(x.shape[1])[:, None, None] * frequencies
    first, second = jnp.split(x.astype(jnp.float32), 2, axis=-1)
    sin, cos = jnp.sin(angles), jnp.cos(angles)
    turned = jnp.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)
    return turned.astype(x.dtype)


def attention(weights, x):
    """Return causal attention with grouped queries: four query heads share a key head."""
    batch, length, _ = x.shape
    q = rotate(jnp.einsum("bsd,dhk->bshk", x, weights["wq"]))
    k = rotate(jnp.einsum("bsd,dhk->bshk", x, weights["wk"]))
    v = jnp.einsum("bsd,dhk->bshk", x, weights["wv"])
    q = q.reshape(batch, length, KV_HEADS, HEADS // KV_HEADS, HEAD)
    scores = jnp.einsum("bsgqk,btgk->bgqst", q, k).astype(jnp.float32) / HEAD**0.5
    is_past = jnp.tril(jnp.ones((length, length), bool))
    shares = jax.nn.softmax(jnp.where(is_past, scores, -1e30), axis=-1).astype(x.dtype)
    mixed = jnp.einsum("bgqst,btgk->bsgqk", shares, v).reshape(batch, length, HEADS, HEAD)
    return jnp.einsum("bshk,hkd->bsd", mixed, weights["wo"])


def mlp(weights, x):
    """Return the gated linear unit."""
    return (jax.nn.silu(x @ weights["gate"]) * (x @ weights["up"])) @ weights["down"]


def layer(weights, x):
    """Return the output of one decoder layer."""
    with jax.named_scope("attention"):
        x += attention(weights, normalize(x, weights["attention_norm"]))
    with jax.named_scope("mlp"):
        return x + mlp(weights, normalize(x, weights["mlp_norm"]))


def loss(params, tokens, targets, pin):
    """Return the mean cross entropy of the next tokens; `pin` fixes shardings of activations."""
    x = pin(params["embedding"][tokens])
    for index, weights in enumerate(params["layers"]):
        with jax.named_scope(f"layer{index}"):
            x = pin(x)
            x = jax.checkpoint(layer)(weights, x)  # recompute the layer in the backward pass
    with jax.named_scope("loss"):
        logits = (normalize(x, params["norm"]) @ params["head"]).astype(jnp.float32)
        is_target = targets[..., None] == jnp.arange(VOCABULARY)
        chosen = jnp.sum(jnp.where(is_target, logits, 0), axis=-1)
        return jnp.mean(jax.nn.logsumexp(logits, axis=-1) - chosen)


def adamw(weight, gradient, mean, square, count):
    """Return the weight and its moments after a step of AdamW."""
    gradient = gradient.astype(jnp.float32)
    mean = BETA1 * mean + (1 - BETA1) * gradient
    square = BETA2 * square + (1 - BETA2) * gradient * gradient
    step = mean / (1 - BETA1**count) / (jnp.sqrt(square / (1 - BETA2**count)) + 1e-8)
    wide = weight.astype(jnp.float32)
    return (wide - LEARNING_RATE * (step + DECAY * wide)).astype(weight.dtype), mean, square


def train_step(params, means, squares, count, tokens, targets, pin=lambda x: x):
    """Return the loss, and the weights and moments after one step."""
    value, gradients = jax.value_and_grad(partial(loss, pin=pin))(params, tokens, targets)
    with jax.named_scope("adamw"):
        updated = jax.tree.map(
            partial(adamw, count=count.astype(jnp.float32) + 1), params, gradients, means, squares
        )
    return value, *jax.tree.transpose(jax.tree.structure(params), None, updated), count + 1


def model(num_layers, pick):
    """Return the tree of all weights, each as `pick(shape, sharding)`."""
    layers = [{name: pick(*of) for name, of in LAYER.items()} for _ in range(num_layers)]
    return {"layers": layers} | {name: pick(*of) for name, of in OUTER.items()}


def trace(num_layers=32, batch=64, length=4096, *, annotated=True, mesh=MESH):
    """Return the module of the training step, not propagated yet, with the expert's shardings."""
    specs = model(num_layers, lambda _, spec: spec)
    weights = model(num_layers, lambda shape, _: jax.ShapeDtypeStruct(shape, jnp.bfloat16))
    moments = model(num_layers, lambda shape, _: jax.ShapeDtypeStruct(shape, jnp.float32))
    tokens = jax.ShapeDtypeStruct((batch, length), jnp.int32)
    count = jax.ShapeDtypeStruct((), jnp.int32)
    arguments = weights, moments, moments, count, tokens, tokens
    if not annotated:
        return sdy.jax.trace(train_step, *arguments, donate_argnums=(0, 1, 2, 3), mesh=mesh)

    def pin(x):
        return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, ACTIVATIONS))

    return sdy.jax.trace(
        partial(train_step, pin=pin),
        *arguments,
        in_shardings=(specs, specs, specs, P(), P("data"), P("data")),
        out_shardings=(P(), specs, specs, specs, P()),
        mesh=mesh,
    )


def main():
    """Trace, partition and estimate the step, and print what each device does."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, default=32, help="number of layers (default: 32)")
    parser.add_argument("--batch", type=int, default=64, help="sequences (default: 64)")
    parser.add_argument(
        "--hardware",
        default="h100",
        help="of the estimate, and of the plan with --auto (default: h100)",
    )
    parser.add_argument("--auto", action="store_true", help="find shardings automatically")
    parser.add_argument("--memory", default="80GB", help="of a device, for --auto (default: 80GB)")
    parser.add_argument(
        "--byte-price",
        type=float,
        default=BYTE_PRICE,
        metavar="SECONDS",
        help=f"price of a sent byte on top of its time, for --auto (default: {BYTE_PRICE:g})",
    )
    parser.add_argument("--html", metavar="FILE", help="write an interactive report")
    args = parser.parse_args()

    if args.auto:
        module = trace(args.layers, args.batch, annotated=False)
        costs = PricedBytes(HardwareCosts(sdy.load_hardware(args.hardware)), args.byte_price)
        plan = sdy.auto_shard(module, hardware=args.hardware, memory=args.memory, costs=costs)
        rich.print(plan.estimate)
        rich.print(plan)
        rich.print(plan.check().table())
        return
    start = time.perf_counter()
    explained = sdy.explain(trace(args.layers, args.batch), report_hardware=args.hardware)
    seconds = time.perf_counter() - start
    for axes, group in explained.collectives.by_axes().items():
        for kind, collectives in group.by_kind().items():
            sent = collectives.nbytes_sent / 1e6
            print(f"{axes:<6}{kind:<16}{len(collectives):>4} times{sent:>10,.1f} MB")
    rich.print(explained.cost)
    print(f"planned in {seconds:.1f} s")
    if args.html:
        explained.to_html(args.html)


if __name__ == "__main__":
    main()
