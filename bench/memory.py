# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The estimated peak memory of twelve programs, compared with XLA's buffer assignment.

    python bench/memory.py [NAME ...]

Each program is traced by JAX with shardings for 8 devices, propagated and partitioned. The measured
memory is that of its compilation by XLA for virtual CPU devices: arguments, results and
temporaries; results that share the memory of donated arguments count once. Prints both, their
ratio, and Spearman's rank correlation (1: the same order). Needs the `jax` extra.

Two features of XLA's compiler for CPUs are off, since they say nothing about other devices: fusions
by YNNPACK, whose temporaries XLA doesn't know, and `cse_barrier_expander`, by which it merges what
`jax.checkpoint` computes twice with what the forward pass has computed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from xla_compile import compile_with_xla

import pyshardy as sdy
from pyshardy.backends.xla.preparation import text_for_xla
from pyshardy.timeline.memory import memory_of

P = jax.sharding.PartitionSpec
MESH = sdy.Mesh({"data": 4, "model": 2})
BATCH = P("data")
FLAGS = "--xla_cpu_experimental_ynn_fusion_type= --xla_disable_hlo_passes=cse_barrier_expander"


def struct(*shape: int, dtype: type = jnp.float32) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, dtype)


def traced(function: Callable, *args: object, shardings: object, donated: tuple[int, ...] = ()):
    """Return a program with shardings of the arguments."""
    return sdy.jax.trace(function, *args, mesh=MESH, in_shardings=shardings, donate_argnums=donated)


def mlp(params, x):
    return jnp.tanh(x @ params["up"]) @ params["down"]


MLP = {"up": struct(1024, 4096), "down": struct(4096, 1024)}
MEGATRON = {"up": P(None, "model"), "down": P("model", None)}


def mlp_forward():
    return traced(mlp, MLP, struct(4096, 1024), shardings=(MEGATRON, BATCH))


def mlp_step(params, x):
    gradients = jax.grad(lambda p: jnp.mean(mlp(p, x) ** 2))(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients)


def mlp_training():
    return traced(mlp_step, MLP, struct(8192, 1024), shardings=(MEGATRON, BATCH))


def mlp_training_donated():
    return traced(mlp_step, MLP, struct(4096, 1024), shardings=(MEGATRON, BATCH), donated=(0,))


def attention(params, x):
    q, k, v = (jnp.einsum("btd,dhe->bhte", x, params[name]) for name in ("q", "k", "v"))
    weights = jax.nn.softmax(q @ k.swapaxes(-1, -2) / 8, axis=-1)
    return jnp.einsum("bhte,hed->btd", weights @ v, params["o"])


HEADS = {name: struct(512, 8, 64) for name in ("q", "k", "v")} | {"o": struct(8, 64, 512)}
BY_HEADS = {name: P(None, "model") for name in ("q", "k", "v")} | {"o": P("model")}


def attention_forward():
    return traced(attention, HEADS, struct(16, 512, 512), shardings=(BY_HEADS, BATCH))


def norm(x, scale):
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * scale


def block(layer, x):
    x = x + attention(layer, norm(x, layer["norm1"]))
    return x + jax.nn.silu(norm(x, layer["norm2"]) @ layer["up"]) @ layer["down"]


LAYER = HEADS | {
    "up": struct(512, 2048),
    "down": struct(2048, 512),
    "norm1": struct(512),
    "norm2": struct(512),
}
BY_MODEL = BY_HEADS | MEGATRON | {"norm1": P(), "norm2": P()}


def adamw(params, first, second, gradients):
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
    second = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, second, gradients)

    def update(p, m, v):
        return p - 1e-3 * (m / (jnp.sqrt(v) + 1e-8) + 0.01 * p)

    return jax.tree.map(update, params, first, second), first, second


def decoder_step(apply):
    def loss(layers, x, y):
        for layer in layers:
            x = apply(layer, x)
        return jnp.mean((x - y) ** 2)

    def step(layers, first, second, x, y):
        return adamw(layers, first, second, jax.grad(loss)(layers, x, y))

    return step


def decoder(apply=block, donated=(0, 1, 2), layers=2):
    weights, shardings = [LAYER] * layers, [BY_MODEL] * layers
    x = struct(16, 256, 512)
    return traced(
        decoder_step(apply),
        weights,
        weights,
        weights,
        x,
        x,
        shardings=(shardings, shardings, shardings, BATCH, BATCH),
        donated=donated,
    )


def decoder_adamw():
    return decoder(donated=())


def decoder_adamw_donated():
    return decoder()


def decoder_remat():
    return decoder(jax.checkpoint(block), layers=3)


def experts():
    def moe(params, x):
        gates = jax.nn.softmax(x @ params["router"], axis=-1)
        hidden = jax.nn.relu(jnp.einsum("td,edf->etf", x, params["up"]))
        return jnp.einsum("etf,efd,te->td", hidden, params["down"], gates)

    params = {
        "router": struct(256, 8),
        "up": struct(8, 256, 1024),
        "down": struct(8, 1024, 256),
    }
    by_expert = {"router": P(), "up": P("model"), "down": P("model")}
    return traced(moe, params, struct(4096, 256), shardings=(by_expert, BATCH))


def convolutions():
    def convolve(x, w):
        return jax.lax.conv_general_dilated(
            x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )

    def loss(params, x):
        for w in params:
            x = jax.nn.relu(convolve(x, w))
        return jnp.mean(x**2)

    params = [struct(3, 3, 32, 64), struct(3, 3, 64, 64)]
    images = struct(32, 64, 64, 32)
    return traced(jax.grad(loss), params, images, shardings=([P(), P()], BATCH))


def embedding():
    def loss(params, tokens):
        logits = params["embed"][tokens] @ params["out"]
        picked = jnp.take_along_axis(logits, tokens[..., None], -1)[..., 0]
        return jnp.mean(jax.nn.logsumexp(logits, axis=-1) - picked)

    params = {"embed": struct(8192, 512), "out": struct(512, 8192)}
    tokens = struct(16, 256, dtype=jnp.int32)
    shardings = {"embed": P("model"), "out": P(None, "model")}
    return traced(jax.grad(loss), params, tokens, shardings=(shardings, BATCH))


def scan_over_layers():
    def loss(layers, x):
        def body(x, layer):
            return block(layer, x), None

        return jnp.mean(jax.lax.scan(body, x, layers)[0] ** 2)

    layers = {name: struct(4, *each.shape) for name, each in LAYER.items()}
    shardings = {name: P(None, *each) for name, each in BY_MODEL.items()}
    return traced(jax.grad(loss), layers, struct(16, 256, 512), shardings=(shardings, BATCH))


def while_loop():
    def power(x, w):
        return jax.lax.fori_loop(0, 10, lambda _, x: jnp.tanh(x @ w) + x, x)

    return traced(power, struct(8192, 1024), struct(1024, 1024), shardings=(BATCH, P()))


PROGRAMS = {
    each.__name__: each
    for each in (
        mlp_forward,
        mlp_training,
        mlp_training_donated,
        attention_forward,
        decoder_adamw,
        decoder_adamw_donated,
        decoder_remat,
        experts,
        convolutions,
        embedding,
        scan_over_layers,
        while_loop,
    )
}


def memories(name: str) -> tuple[int, int]:
    """Return the estimated and the measured peak memory of a program."""
    module = PROGRAMS[name]()
    sdy.propagate(module)
    program = sdy.partition(module)
    compiled = compile_with_xla(text_for_xla(program.module), MESH.total_size, FLAGS)
    return memory_of(program.module).peak, compiled.peak_bytes


def rank_correlation(first: list[int], second: list[int]) -> float:
    """Return Spearman's rank correlation of different numbers."""
    ranks = [np.argsort(np.argsort(each)) for each in (first, second)]
    return float(np.corrcoef(*ranks)[0, 1])


def main() -> None:
    found: list[tuple[int, int]] = []
    print(f"{'program':24} {'estimated':>13} {'by XLA':>13} {'ratio':>7}")
    for name in sys.argv[1:] or PROGRAMS:
        found.append(memories(name))
        estimated, measured = found[-1]
        print(f"{name:24} {estimated:13,} {measured:13,} {estimated / measured:7.3f}", flush=True)
    if len(found) > 1:
        print(f"rank correlation: {rank_correlation(*map(list, zip(*found, strict=True))):.3f}")


if __name__ == "__main__":
    main()
