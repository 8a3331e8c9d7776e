# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The front end of PyTorch, `sdy.torch`: import of modules.

    traced = sdy.torch.trace(model, tokens, mesh=mesh, shardings={
        "*.mlp.0.weight": ("model", None),
        "*.mlp.2.weight": (None, "model"),
        "tokens": ("data", None),
    })
    sdy.propagate(traced)
    program = sdy.partition(traced)
    logits = traced.outputs(program.run(traced.inputs(tokens)))

| module           | contents                                                             |
|------------------|----------------------------------------------------------------------|
| `tracing`        | tracing of modules, whose weights become arguments                   |
| `traced`         | a traced module, with its weights, and conversion of tensors         |
| `objects`        | objects with tensors, such as caches, as trees                       |
| `signature`      | the arguments and results of an exported program                     |
| `assignments`    | assignments of modules, and modes around them, which PyTorch leaves out |
| `autograd_calls` | calls that act on autograd, kept in exported graphs                  |
| `transforms`     | derivatives by `torch.func`, kept in exported graphs                 |
| `differentiation` | graphs of derivatives, from exported graphs                         |
| `training`       | training steps as one program                                        |
| `dtensors`       | modules that were distributed as DTensors, and placements            |
| `local_maps`     | `local_map` of DTensor as manual computations                        |
| `parallel_plan`  | placements of a program, for PyTorch and as JSON                     |
| `dynamic_sizes`  | exported programs with symbols in the shapes of inputs               |
| `several_sizes`  | the dynamic program of several static ones                           |
| `mutations`      | replacement of operations that change tensors in place               |
| `tensor_numbers` | numbers out of tensors as tensors without dimensions                 |
| `static_shapes`  | functions whose results have given sizes                             |
| `connectionist`  | the loss of connectionist temporal classification                    |
| `importing`      | conversion of graphs to StableHLO                                    |
| `conversion`     | conversion to StableHLO by a child process                           |
| `decomposing`    | decomposition of the operations in graphs                            |
| `fragments`      | parts of graphs, traced and copied                                   |
| `decompositions` | operations in terms of others, by families                           |
| `lowerings`      | operations in terms of StableHLO, by families                        |
| `registry`       | definitions by the names of operations                               |
| `replacing`      | replacement of attributes of PyTorch for a while                     |
| `frames`         | source locations                                                     |
| `failures`       | errors for failures of PyTorch and its importer, and alternatives    |
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from pyshardy.packages import require

if TYPE_CHECKING:
    from pyshardy.frontends.torch.parallel_plan import parallelize_plan as parallelize_plan
    from pyshardy.frontends.torch.parallel_plan import placements as placements
    from pyshardy.frontends.torch.parallel_plan import write_placements as write_placements
    from pyshardy.frontends.torch.static_shapes import unique as unique
    from pyshardy.frontends.torch.traced import TracedModule as TracedModule
    from pyshardy.frontends.torch.tracing import trace as trace
    from pyshardy.frontends.torch.training.tracing import TracedTraining as TracedTraining
    from pyshardy.frontends.torch.training.tracing import trace_training as trace_training

_HOMES = {
    "TracedModule": "pyshardy.frontends.torch.traced",
    "TracedTraining": "pyshardy.frontends.torch.training.tracing",
    "auto_shard": "pyshardy.auto.for_torch",
    "parallelize_plan": "pyshardy.frontends.torch.parallel_plan",
    "placements": "pyshardy.frontends.torch.parallel_plan",
    "trace": "pyshardy.frontends.torch.tracing",
    "trace_training": "pyshardy.frontends.torch.training.tracing",
    "unique": "pyshardy.frontends.torch.static_shapes",
    "write_placements": "pyshardy.frontends.torch.parallel_plan",
}
"""The modules of the public names, which import PyTorch."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    require("torch", f"sdy.torch.{name}", extra="torch")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(_HOMES)  # without the modules
