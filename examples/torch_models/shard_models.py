# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shard small forms of well-known models of PyTorch, and show what the devices send.

    python examples/torch_models/shard_models.py --list
    python examples/torch_models/shard_models.py Llama Mixtral --plan=tensor

Needs the extra `models`: `pip install 'pyshardy[torch,models]'`.
"""

from __future__ import annotations

import argparse
import sys
import time

import torch
from models import MODELS
from plans import MESHES, plans_of, shardings_of

import pyshardy as sdy


def shard(name: str, plan: str) -> sdy.PartitionedProgram:
    """Trace, propagate and partition a model, and print the collectives."""
    torch.manual_seed(0)
    described = MODELS[name]
    model, inputs = described.make().eval(), described.inputs()
    weights = {path: tuple(weight.shape) for path, weight in model.named_parameters()}
    shapes = {path: tuple(tensor.shape) for path, tensor in inputs.items()}
    start = time.perf_counter()
    traced = sdy.torch.trace(
        model,
        kwargs=inputs,
        mesh=MESHES[plan],
        shardings=shardings_of(plan, described, weights, shapes),
    )
    seconds = time.perf_counter() - start
    record = sdy.propagate(traced.module)
    program = sdy.partition(traced.module)
    print(f"{name}, {plan}: traced in {seconds:.1f} s, {record}")
    totals: dict[str, tuple[int, int]] = {}
    for one in program.collectives:
        kind = f"{one.kind} along {', '.join(one.axes)}"
        count, nbytes = totals.get(kind, (0, 0))
        totals[kind] = count + 1, nbytes + one.nbytes_sent
    for kind, (count, nbytes) in sorted(totals.items()):
        print(f"    {count:4} {kind}: {nbytes:,} bytes sent by each device")
    return program


def main() -> int:
    """Shard the models of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("models", nargs="*", metavar="MODEL", help="names of models; all of them")
    parser.add_argument("--plan", choices=MESHES, help="one of the plans; all of them")
    parser.add_argument("--list", action="store_true", help="list the models and plans")
    options = parser.parse_args()
    if unknown := [name for name in options.models if name not in MODELS]:
        parser.error(f"no model '{unknown[0]}'; the models are: {', '.join(MODELS)}")
    for name in options.models or MODELS:
        plans = [each for each in plans_of(MODELS[name]) if options.plan in (None, each)]
        if options.list:
            print(f"{name}: {', '.join(plans)}")
            continue
        for plan in plans:
            shard(name, plan)
    return 0


if __name__ == "__main__":
    sys.exit(main())
