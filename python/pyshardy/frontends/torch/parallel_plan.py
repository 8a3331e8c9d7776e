# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shardings of programs as placements, for PyTorch without this package, and as JSON.

    {"format": "pyshardy.placements", "version": 1,
     "mesh": {"dim_names": ["data", "model"], "shape": [4, 2]},
     "arguments": {"0.weight": {"shape": [32, 16], "placements": ["R", "S(0)"]},
                   "input": {"shape": [8, 16], "placements": ["S(0)", "R"]}}}

A placement is `R`, `S(dim)`, `P(sum)`, or `_S(dim, split_factor)`, as DTensor prints it, one for
each dimension of the mesh.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, Shape, TensorSharding, mesh_of
from mlir_sdy.symbols import meshes_of
from mlir_sdy.values import argument_shardings
from pyshardy.frontends.torch.dtensors import placements_of_sharding
from pyshardy.irtools.tensor_types import shape_of

if TYPE_CHECKING:
    from torch.distributed.tensor.parallel import ParallelStyle
    from torch.distributed.tensor.placement_types import Placement


class TracedProgram(Protocol):
    """A program with names of its arguments: a `TracedModule` or `TracedTraining`."""

    @property
    def module(self) -> ir.Module:
        """The program."""
        ...

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of its arguments."""
        ...


class Ports(Protocol):
    """A partitioned program, whose arguments are its `inputs`."""

    @property
    def inputs(self) -> Sequence[Any]:
        """The arguments."""
        ...


@dataclass(frozen=True)
class _Argument:
    name: str
    shape: Shape
    sharding: TensorSharding | None


def placements(source: TracedProgram | Ports) -> dict[str, tuple[Placement, ...]]:
    """Return the placements of the arguments of a program, by their names.

        traced = sdy.torch.trace(model, tokens, mesh=mesh, shardings=shardings)
        sdy.propagate(traced)
        for name, placement in sdy.torch.placements(traced).items(): ...

    Args:
        source: a traced program, after propagation; or a partitioned program.

    Returns:
        For each argument a placement for each axis of the mesh, in its order.

    Raises:
        UsageError: placements can't express a sharding; there is no mesh, or several.
    """
    mesh, arguments = _layout_of(source)
    return {
        each.name: placements_of_sharding(each.sharding, mesh, each.shape, each.name)
        for each in arguments
    }


def parallelize_plan(source: TracedProgram | Ports) -> ParallelStyle:
    """Return the plan by which `parallelize_module` distributes the weights of a model.

        device_mesh = init_device_mesh("cuda", (4, 2), mesh_dim_names=("data", "model"))
        parallelize_module(model, device_mesh, sdy.torch.parallelize_plan(traced))

    `parallelize_module` of old releases of PyTorch takes only meshes of one dimension; there, call
    `parallelize_plan(traced).apply(model, device_mesh)`.

    Parameters and buffers become DTensors with the placements of the arguments of their names.
    Inputs of `forward` are not changed: pass DTensors with their `placements`. DTensor then decides
    about communication, operation by operation.

    Args:
        source: as for `placements`.

    Raises:
        UsageError: as for `placements`. Applying the plan raises it if the device mesh has other
            dimensions, or the model lacks all of the names.
    """
    mesh, _ = _layout_of(source)
    return _style_class()(mesh, placements(source))  # pyright: ignore[reportCallIssue]


def write_placements(source: TracedProgram | Ports, path: str | Path) -> None:
    """Write the placements of the arguments of a program to a JSON file.

    Args:
        source: as for `placements`.
        path: the file.

    Raises:
        UsageError: as for `placements`.
    """
    mesh, arguments = _layout_of(source)
    by_name = placements(source)
    described = {
        "format": _FORMAT,
        "version": 1,
        "mesh": {"dim_names": list(mesh.axis_names), "shape": [axis.size for axis in mesh.axes]},
        "arguments": {
            each.name: {
                "shape": list(each.shape),
                "placements": [_text_of(one) for one in by_name[each.name]],
            }
            for each in arguments
        },
    }
    Path(path).write_text(json.dumps(described, indent=2) + "\n", encoding="utf-8")


_FORMAT = "pyshardy.placements"


def _text_of(placement: Any) -> str:
    if placement.is_partial():
        return f"P({placement.reduce_op})"
    if placement.is_replicate():
        return "R"
    factor = getattr(placement, "split_factor", None)
    return f"S({placement.dim})" if factor is None else f"_S({placement.dim}, {factor})"


def _layout_of(source: Any) -> tuple[Mesh, list[_Argument]]:
    """Return the mesh of a program, and its arguments."""
    if hasattr(source, "arguments"):
        module: ir.Module = source.module
        meshes = meshes_of(module)
        entry = ir.SymbolTable(module.operation)["main"].operation
        values = entry.regions[0].blocks[0].arguments
        arguments = [
            _Argument(name, shape_of(value.type), sharding)
            for name, value, sharding in zip(
                source.arguments, values, argument_shardings(entry), strict=True
            )
        ]
        used = [mesh_of(each.sharding, meshes) for each in arguments if each.sharding]
        candidates = {mesh for mesh in used if mesh is not None} or set(meshes.values())
    elif hasattr(source, "inputs"):
        arguments = [_Argument(port.name, port.spec.shape, port.sharding) for port in source.inputs]
        candidates = {port.mesh for port in source.inputs}
    else:
        message = "expected a traced module or a partitioned program, got:"
        raise UsageError(error(f"{message} {type(source).__name__}"))
    if len(candidates) != 1:
        reason = "has several meshes" if candidates else "has no mesh"
        raise UsageError(error(f"the program {reason}; placements are on one device mesh"))
    return candidates.pop(), arguments


@functools.cache
def _style_class() -> type[ParallelStyle]:
    """Return the class of plans, whose base needs `torch.distributed`."""
    import torch  # noqa: PLC0415
    from torch.distributed.tensor import distribute_tensor  # noqa: PLC0415
    from torch.distributed.tensor.parallel import ParallelStyle  # noqa: PLC0415

    class PlacedWeights(ParallelStyle):
        """Distributes weights by placements.

        Attributes:
            mesh: the mesh of the placements.
            placements: the placements of arguments by their names.
        """

        src_data_rank: int | None = 0

        def __init__(self, mesh: Mesh, placements: Mapping[str, tuple[Placement, ...]]):
            super().__init__()
            self.mesh = mesh
            self.placements = placements

        def _apply(self, module: torch.nn.Module, device_mesh: Any) -> torch.nn.Module:
            return self.apply(module, device_mesh)

        def apply(self, module: torch.nn.Module, device_mesh: Any) -> torch.nn.Module:
            """Distribute the weights of a module, as `parallelize_module` does with the plan."""
            self._check(module, device_mesh)
            distributed: dict[int, Any] = {}  # tied weights stay tied
            held = [
                (f"{path}.{name}" if path else name, tensors, name)
                for path, owner in module.named_modules(remove_duplicate=False)
                for tensors in (owner._parameters, owner._buffers)
                for name in tensors
            ]
            for name, tensors, key in held:
                tensor, chosen = tensors[key], self.placements.get(name)
                if tensor is not None and chosen and id(tensor) not in distributed:
                    distributed[id(tensor)] = self._distributed(tensor, device_mesh, chosen)
            replaced = [
                (tensors, key, distributed[id(tensors[key])])
                for _, tensors, key in held
                if id(tensors[key]) in distributed
            ]
            for tensors, key, tensor in replaced:
                tensors[key] = tensor
            return module

        def _check(self, module: torch.nn.Module, device_mesh: Any) -> None:
            names = device_mesh.mesh_dim_names or ()
            dims = list(zip(names, device_mesh.mesh.shape, strict=False))
            if dims != [(axis.name, axis.size) for axis in self.mesh.axes]:
                message = f"the plan is for the mesh {self.mesh}, got: {device_mesh}"
                raise UsageError(error(message))
            weights = {*dict(module.named_parameters()), *dict(module.named_buffers())}
            if not weights & self.placements.keys():
                message = f"the plan has no weight of {type(module).__name__}"
                raise UsageError(error(f"{message}; apply it to the module that was traced"))

        def _distributed(self, tensor: Any, device_mesh: Any, chosen: Any) -> Any:
            result = distribute_tensor(
                tensor, device_mesh, chosen, src_data_rank=self.src_data_rank
            )
            is_parameter = isinstance(tensor, torch.nn.Parameter)
            return torch.nn.Parameter(result, tensor.requires_grad) if is_parameter else result

    return PlacedWeights
