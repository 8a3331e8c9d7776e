# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plan a pipeline for the training step of Llama 3 8B: 4 meshes of 64 devices, on a laptop.

The model is that of `llama_8b.py`; each layer has a name, and the batch is split into microbatches.
In each mesh, "model" splits heads and hidden units, "data" the batch and the weights.

    python examples/llama_8b_pipeline.py --html=pipeline.html
    python examples/llama_8b_pipeline.py --schedules=gpipe,1f1b,zb-h1,zb-h2 --microbatches=4,8,16
    python examples/llama_8b_pipeline.py --auto    # find the boundaries between the meshes
"""

import argparse
import time
from functools import partial

import jax
import rich
from jax import numpy as jnp
from jax.sharding import PartitionSpec as P
from llama_8b import VOCABULARY, adamw, layer, model, normalize

import pyshardy as sdy

MESH = {"data": 8, "model": 8}
NAMES = "embedding", "head"


def loss(params, tokens, targets):
    """Return the mean cross entropy of the next tokens; layers are recomputed backward."""
    x = sdy.mpmd.named_computation(
        lambda table, tokens: jax.lax.with_sharding_constraint(table[tokens], P("data")),
        name="embedding",
    )(params["embedding"], tokens)
    for index, weights in enumerate(params["layers"]):
        x = sdy.mpmd.named_computation(layer, name=f"layer{index}", remat=True)(weights, x)

    def last(weights, x, targets):
        logits = (normalize(x, weights["norm"]) @ weights["head"]).astype(jnp.float32)
        is_target = targets[..., None] == jnp.arange(VOCABULARY)
        chosen = jnp.sum(jnp.where(is_target, logits, 0), axis=-1)
        return jnp.mean(jax.nn.logsumexp(logits, axis=-1) - chosen)

    outer = {name: params[name] for name in ("norm", "head")}
    return sdy.mpmd.named_computation(last, name="head")(outer, x, targets)


def train_step(params, means, squares, count, tokens, targets, microbatches):
    """Return the loss, and the weights and moments after one step of all microbatches."""
    gradients_of = sdy.mpmd.microbatched(jax.value_and_grad(loss), microbatches)
    value, gradients = gradients_of(params, tokens, targets)
    updated = jax.tree.map(
        partial(adamw, count=count.astype(jnp.float32) + 1), params, gradients, means, squares
    )
    return value, *jax.tree.transpose(jax.tree.structure(params), None, updated), count + 1


def arguments(layers=32, batch=64, length=4096):
    """Return the abstract arguments of the step, and the options of `sdy.mpmd.trace`."""
    specs = model(layers, lambda _, spec: spec)
    weights = model(layers, lambda shape, _: jax.ShapeDtypeStruct(shape, jnp.bfloat16))
    moments = model(layers, lambda shape, _: jax.ShapeDtypeStruct(shape, jnp.float32))
    tokens = jax.ShapeDtypeStruct((batch, length), jnp.int32)
    count = jax.ShapeDtypeStruct((), jnp.int32)
    options = {
        "in_shardings": (specs, specs, specs, P(), P("data"), P("data")),
        "donate_argnums": (0, 1, 2),
        "keep": ((0, 1), (1, 2), (2, 3)),
    }
    return (weights, moments, moments, count, tokens, tokens), options


def main():
    """Plan the pipeline, and print its timeline."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, default=32, help="number of layers (default: 32)")
    parser.add_argument("--batch", type=int, default=64, help="sequences (default: 64)")
    parser.add_argument("--microbatches", default="8", help="parts of it, or several (default: 8)")
    parser.add_argument("--meshes", type=int, default=4, help="number of meshes (default: 4)")
    parser.add_argument("--hardware", default="h100", help="of the estimate (default: h100)")
    parser.add_argument("--schedules", default="1f1b", help="one, or several (default: 1f1b)")
    parser.add_argument("--memory", default="80GB", help="of a device (default: 80GB)")
    parser.add_argument("--auto", action="store_true", help="find the boundaries")
    parser.add_argument("--html", metavar="FILE", help="write the timeline as a page")
    args = parser.parse_args()
    schedules = args.schedules.split(",")
    microbatches = [int(each) for each in args.microbatches.split(",")]
    start = time.perf_counter()
    inputs, options = arguments(args.layers, args.batch)
    if args.auto:
        plan = sdy.mpmd.auto(
            partial(train_step, microbatches=microbatches[0]),
            *inputs,
            meshes=args.meshes,
            mesh=MESH,
            hardware=args.hardware,
            memory=args.memory,
            schedules=schedules,
            **options,
        )
        rich.print(plan)
        print(f"planned in {time.perf_counter() - start:.1f} s")
        return

    def module_of(number):
        return sdy.mpmd.trace(
            partial(train_step, microbatches=number),
            *inputs,
            topology={f"m{number}": MESH for number in range(args.meshes)},
            assignment={
                "embedding": "m0",
                **{
                    f"layer{at}": f"m{at * args.meshes // args.layers}" for at in range(args.layers)
                },
                "head": f"m{args.meshes - 1}",
            },
            **options,
        )

    if len(schedules) * len(microbatches) > 1:
        found = sdy.mpmd.compare(
            module_of,
            schedules=schedules,
            microbatches=microbatches,
            hardware=args.hardware,
            memory=args.memory,
        )
        rich.print(found)
    else:
        module = module_of(microbatches[0])
        program = sdy.mpmd.partition(module, schedule=schedules[0], hardware=args.hardware)
        line = program.timeline(args.hardware)
        rich.print(program.summary())
        rich.print(line)
        if args.html:
            with open(args.html, "w", encoding="utf-8") as file:
                file.write(line.to_html())
    print(f"planned in {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    main()
