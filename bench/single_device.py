# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Estimated times of programs on a single device, compared with runs by XLA on the first of JAX's.

    python bench/single_device.py [--hardware=h200] [--small]

The programs are partitioned for a mesh of one device, so that nothing is sent, and run by
`program.as_jax`. Prints for each the estimate with and without fusion, the time of a run, that of
the function by `jax.jit` alone, and the quotient of the estimate and the run. `--small` is for a
try on a CPU. Needs the `jax` extra.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))

import jax
import llama_8b
import numpy as np
from jax import numpy as jnp
from jax.sharding import AbstractMesh

import pyshardy as sdy
from pyshardy.cost.hardware import Hardware
from pyshardy.cost.op_work import SizedOperation, TensorSizes
from pyshardy.partition.op_facts.work import work_of
from pyshardy.timeline.durations import resource_use_of

MESH = AbstractMesh((1, 1), ("data", "model"))
RUNS = 10
ROUNDS = 3


@dataclass(frozen=True)
class Case:
    """A program.

    Attributes:
        function: the function.
        arguments: the types of its arguments.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]


def struct(*shape: int, dtype: Any = jnp.bfloat16) -> jax.ShapeDtypeStruct:
    """Return the type of an array."""
    return jax.ShapeDtypeStruct(shape, dtype)


def mlp_step(weights: Sequence[jax.Array], x: jax.Array, y: jax.Array) -> list[jax.Array]:
    """Return the weights of an MLP after a step of gradient descent."""

    def loss(weights: Sequence[jax.Array]) -> jax.Array:
        hidden = x
        for weight in weights[:-1]:
            hidden = jax.nn.gelu(hidden @ weight)
        return jnp.mean(((hidden @ weights[-1] - y).astype(jnp.float32)) ** 2)

    gradients = jax.grad(loss)(weights)
    return [w - (0.01 * g).astype(w.dtype) for w, g in zip(weights, gradients, strict=True)]


def convolutions(kernels: Sequence[jax.Array], x: jax.Array) -> jax.Array:
    """Return the result of convolutions of 3 x 3 with activations."""
    for kernel in kernels:
        x = jax.nn.relu(jax.lax.conv(x, kernel, (1, 1), "SAME"))
    return x


def cases(*, small: bool) -> Mapping[str, Case]:
    """Return the programs by their names."""
    n, batch, length = (256, 1, 64) if small else (8192, 4, 2048)
    square, wide = struct(n, n), struct(n, n, dtype=jnp.float32)
    layer = {name: struct(*shape) for name, (shape, _) in llama_8b.LAYER.items()}
    params = llama_8b.model(2, lambda shape, _: struct(*shape))
    moments = llama_8b.model(2, lambda shape, _: struct(*shape, dtype=jnp.float32))
    tokens, count = struct(batch, length, dtype=jnp.int32), struct(dtype=jnp.int32)
    heads = struct(batch, length, 16, 128)
    found = {
        "product": Case(lambda a, b: a @ b, (square, square)),
        "product in float32": Case(lambda a, b: a @ b, (wide, wide)),
        "sum": Case(lambda a, b: a + b, (square, square)),
        "transposition": Case(lambda a: a.T + 1, (square,)),
        "softmax": Case(
            lambda a: jax.nn.softmax(a.astype(jnp.float32), axis=-1).astype(a.dtype), (square,)
        ),
        "normalization": Case(llama_8b.normalize, (square, struct(n))),
        "AdamW": Case(lambda *args: llama_8b.adamw(*args, 3.0), (square, square, wide, wide)),
        "attention": Case(jax.nn.dot_product_attention, (heads, heads, heads)),
        "step of an MLP": Case(mlp_step, ([square] * 4, struct(n, n), struct(n, n))),
        "convolutions": Case(
            convolutions, ([struct(256, 256, 3, 3)] * 3, struct(n // 128, 256, 56, 56))
        ),
    }
    if not small:
        x = struct(batch, length, llama_8b.WIDTH)
        found["layer of Llama 3 8B"] = Case(llama_8b.layer, (layer, x))
        found["step of two layers of Llama 3 8B"] = Case(
            llama_8b.train_step, (params, moments, moments, count, tokens, tokens)
        )
    return found


def random_value(kind: jax.ShapeDtypeStruct) -> jax.Array:
    """Return random values of a type."""
    if jnp.issubdtype(kind.dtype, jnp.integer):
        values = np.random.default_rng(0).integers(0, 64, kind.shape)
        return jnp.asarray(values, kind.dtype)
    return 0.02 * jax.random.normal(jax.random.key(0), kind.shape, kind.dtype)


def seconds_of(function: Callable[..., Any], arguments: Sequence[Any]) -> float:
    """Return the time of a call, the least of several rounds."""
    jax.block_until_ready(function(*arguments))
    times: list[float] = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        for _ in range(RUNS):
            results = function(*arguments)
        jax.block_until_ready(results)
        times.append((time.perf_counter() - started) / RUNS)
    return min(times)


def estimates(program: sdy.PartitionedProgram, hardware: Hardware) -> tuple[float, float]:
    """Return the estimated seconds of a program with fusion, and without it."""
    use, sizes = resource_use_of(program.module), TensorSizes()
    fused = sum(each.seconds(hardware) for each in use.work.values())
    whole = 0.0
    for number in {*use.work, *use.fused}:
        operation = use.table.operations[number]
        operands, results = operation.operands, operation.results
        sized = SizedOperation(
            operation, [sizes.of(each) for each in operands], [sizes.of(each) for each in results]
        )
        work = work_of(operation.name, sized)
        whole += work.seconds(hardware)
    return fused, whole


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hardware", default="h200", help="preset or TOML file (default: h200)")
    parser.add_argument("--small", action="store_true", help="small programs")
    args = parser.parse_args()
    hardware, device = sdy.load_hardware(args.hardware), jax.devices()[0]
    mesh = jax.sharding.Mesh(np.array([device]).reshape(1, 1), MESH.axis_names)
    print(f"{device.device_kind}, jax {jax.__version__}, estimates for {hardware.name}")
    print(f"{'ms':34}{'estimate':>10}{'no fusion':>10}{'run':>10}{'jax.jit':>10}{'est/run':>9}")
    ratios: list[float] = []
    for name, case in cases(small=args.small).items():
        module = sdy.jax.trace(case.function, *case.arguments, mesh=MESH)
        sdy.propagate(module)
        program = sdy.partition(module, hardware=hardware)
        fused, whole = estimates(program, hardware)
        arguments = jax.tree.map(random_value, case.arguments)
        ours = seconds_of(jax.jit(program.as_jax(mesh)), arguments)
        theirs = seconds_of(jax.jit(case.function), arguments)
        ratios.append(fused / ours)
        times = "".join(f"{1e3 * each:10.3f}" for each in (fused, whole, ours, theirs))
        print(f"{name:34}{times}{fused / ours:9.2f}", flush=True)
        del arguments
    print(f"median of estimate / run: {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    main()
