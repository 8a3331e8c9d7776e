# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans for models: the mesh, and the shardings of weights and inputs.

| plan     | mesh                 | weights                                                        |
|----------|----------------------|----------------------------------------------------------------|
| `data`   | 8 for data           | replicated                                                     |
| `fsdp`   | 8 for data           | the first dimension that 8 divides                             |
| `tensor` | 4 for data, 2 for model | columns of the first products of a layer, rows of the last  |
| `expert` | 2 for data, 4 for experts | the dimension of experts                                  |

The inputs are sharded along `data` in all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

from models import Model

import pyshardy as sdy

MESHES = {
    "data": sdy.Mesh.of({"data": 8}),
    "fsdp": sdy.Mesh.of({"data": 8}),
    "tensor": sdy.Mesh.of({"data": 4, "model": 2}),
    "expert": sdy.Mesh.of({"data": 2, "expert": 4}),
}

Shape = tuple[int, ...]
Axes = tuple[str | None, ...]


def plans_of(model: Model) -> list[str]:
    """Return the names of the plans for a model."""
    return [plan for plan in MESHES if plan != "expert" or model.experts]


def shardings_of(
    plan: str, model: Model, weights: Mapping[str, Shape], inputs: Mapping[str, Shape]
) -> dict[str, Axes]:
    """Return the shardings of a plan by the names of arguments.

    Args:
        plan: the name of the plan.
        model: the model.
        weights: the shapes of its parameters.
        inputs: the shapes of its inputs.
    """
    found = {name: _sharded(len(shape), 0, "data") for name, shape in inputs.items() if shape}
    for name, shape in weights.items():
        dim_and_axis = _of_weight(plan, model, name, shape)
        if dim_and_axis is not None:
            found[name] = _sharded(len(shape), *dim_and_axis)
    return found


def _of_weight(plan: str, model: Model, name: str, shape: Shape) -> tuple[int, str] | None:
    if plan == "fsdp":
        dims = [dim for dim, size in enumerate(shape) if size % 8 == 0]
        return (dims[0], "data") if dims and len(shape) > 1 else None
    if plan == "tensor":
        for dim, patterns in enumerate((model.columns, model.rows)):
            if any(fnmatchcase(name, pattern) for pattern in patterns):
                return dim, "model"
    if plan == "expert" and any(fnmatchcase(name, pattern) for pattern in model.experts):
        return 0, "expert"
    return None


def _sharded(rank: int, dim: int, axis: str) -> Axes:
    return tuple(axis if each == dim else None for each in range(rank))
