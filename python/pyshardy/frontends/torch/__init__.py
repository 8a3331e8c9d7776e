# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch: modules in, as `sdy.torch`.

    traced = sdy.torch.trace(model, tokens, mesh=mesh, shardings={
        "*.mlp.0.weight": ("model", None),
        "*.mlp.2.weight": (None, "model"),
        "tokens": ("data", None),
    })
    sdy.propagate(traced.module)
    program = sdy.partition(traced.module)
    logits = traced.outputs(program.run(traced.inputs(tokens)))

| module      | what it holds                                              |
|-------------|------------------------------------------------------------|
| `tracing`   | modules of PyTorch, as modules whose arguments are weights |
| `traced`    | such a module, with what it takes to run it                |
| `signature` | what an exported program takes and gives                   |
| `patterns`  | shardings for arguments by patterns of their names         |
| `frames`    | where in the user's source an operation comes from         |
| `failures`  | what is told when PyTorch or its importer gives up         |
| `arrays`    | tensors of PyTorch and the arrays that stand for them      |
"""

from pyshardy.frontends.torch.traced import TracedModule
from pyshardy.frontends.torch.tracing import trace

__all__ = ["TracedModule", "trace"]
