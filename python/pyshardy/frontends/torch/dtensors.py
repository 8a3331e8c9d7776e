# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules and inputs that were distributed as DTensors.

They are traced as one global program: a DTensor stands for the tensor that it is a shard of, and
its placements are a sharding. The hooks of PyTorch that redistribute activations, and those that
gather weights, aren't part of that program: propagation and the partitioner decide instead.
"""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportMissingTypeStubs=false
# pyright: reportPrivateUsage=false

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.utils import stateless
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import _disable_current_modes

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.model import Mesh, TensorSharding
from pyshardy.frontends.torch.dtensor_placements import sharding_of_placements
from pyshardy.frontends.torch.signature import Signature

if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh

_HOOKS = ("_forward_pre_hooks", "_forward_hooks")


def is_dtensor(value: Any) -> bool:
    """Whether a value is a DTensor, without importing `torch.distributed`."""
    module = sys.modules.get("torch.distributed.tensor")
    return module is not None and isinstance(value, module.DTensor)


def gathered(value: Any) -> torch.Tensor:
    """Return the global tensor of a DTensor; all processes of its mesh must call this at once."""
    return value.full_tensor()


@dataclass(frozen=True)
class Layouts:
    """The DTensors among the weights and inputs of a module.

    Attributes:
        mesh: the mesh that they are on; None without any.
        weights: those among the parameters and buffers, by their paths.
        inputs: those among the leaves of the inputs, by their positions.
    """

    mesh: Mesh | None
    weights: Mapping[str, Any]
    inputs: Mapping[int, Any]

    @classmethod
    def of(cls, module: Any, inputs: Any, mesh: Mesh | None) -> Layouts:
        """Return the layouts of a module and a tree of inputs.

        Args:
            module: the module; anything else has no weights.
            inputs: the inputs.
            mesh: the mesh that the user gives, which must contain those of the DTensors.

        Raises:
            UsageError: the meshes differ.
        """
        named = dict(weights_of(module)) if isinstance(module, torch.nn.Module) else {}
        weights = {name: value for name, value in named.items() if is_dtensor(value)}
        leaves = enumerate(pytree.tree_leaves(inputs))
        of_inputs = {index: value for index, value in leaves if is_dtensor(value)}
        found = {
            **{f"'{name}'": value.device_mesh for name, value in weights.items()},
            **{f"input {index}": value.device_mesh for index, value in of_inputs.items()},
        }
        return cls(containing_mesh(found, mesh), weights, of_inputs)

    def with_dtensors(self, signature: Signature) -> Signature:
        """Return a signature whose state has the DTensors again, which `as_global` replaced."""
        held = {name: self.weights.get(name, each) for name, each in signature.state.items()}
        return replace(signature, state=held)

    def shardings(
        self, signature: Signature, except_for: Collection[str] = ()
    ) -> dict[str, TensorSharding]:
        """Return the shardings of the DTensors by the names of the arguments.

        Args:
            signature: the arguments.
            except_for: names of arguments that have another sharding.

        Raises:
            UsageError: a placement can't be expressed.
        """
        of_inputs = {signature.inputs[index]: each for index, each in self.inputs.items()}
        return {
            name: sharding_of_placements(
                tensor.placements, mesh_of_device_mesh(tensor.device_mesh), tensor.ndim, name
            )
            for name, tensor in {**self.weights, **of_inputs}.items()
            if isinstance(name, str) and name in signature.arguments and name not in except_for
        }


@contextlib.contextmanager
def as_global(module: Any, inputs: Any) -> Iterator[Any]:
    """Replace DTensors by global tensors without values, for export, and yield the inputs.

    Args:
        module: the module, which has its own weights and hooks again after the `with` block.
        inputs: a tree with its inputs.
    """
    weights = dict(weights_of(module))
    if not any(map(is_dtensor, (*weights.values(), *pytree.tree_leaves(inputs)))):
        yield inputs
        return
    made: dict[int, Any] = {}  # tied weights stay tied

    def whole(value: Any) -> Any:
        if not is_dtensor(value):
            return value
        if id(value) not in made:
            made[id(value)] = _on_meta(value)
        return made[id(value)]

    replaced = {name: whole(value) for name, value in weights.items()}
    with _without_distributed_hooks(module), stateless._reparametrize_module(module, replaced):
        yield pytree.tree_map(whole, inputs)


def mesh_of_device_mesh(device_mesh: DeviceMesh) -> Mesh:
    """Return a device mesh as a mesh; its ranks are device ids if they are those of a whole mesh.

    Raises:
        UsageError: its dimensions have no names.
    """
    names = device_mesh.mesh_dim_names
    if names is None:
        message = f"{device_mesh} has no names of dimensions; create it with mesh_dim_names=(...)"
        raise UsageError(error(message))
    with _disable_current_modes():  # a trace would record operations on the ranks
        sizes = dict(zip(names, device_mesh.mesh.shape, strict=True))
        ranks: list[int] = device_mesh.mesh.flatten().tolist()
    is_reordered = ranks != sorted(ranks) and sorted(ranks) == list(range(len(ranks)))
    return Mesh.of(sizes, ranks if is_reordered else ())


def weights_of(module: torch.nn.Module) -> Iterator[tuple[str, Any]]:
    """Return the parameters and buffers of a module by all their paths."""
    return itertools.chain(
        module.named_parameters(remove_duplicate=False),
        module.named_buffers(remove_duplicate=False),
    )


def containing_mesh(found: Mapping[str, DeviceMesh], given: Mesh | None) -> Mesh | None:
    """Return the mesh with all axes: the given mesh, or else the largest of the device meshes.

    Raises:
        UsageError: the given mesh doesn't contain one of those found.
    """
    if not found or given is not None:
        chosen = given
    else:
        candidates = [*map(_root_of, found.values()), *found.values()]
        names = {name for mesh in found.values() for name in mesh_of_device_mesh(mesh).axis_names}
        containing = [mesh for mesh in candidates if names <= set(mesh.mesh_dim_names or ())]
        chosen = mesh_of_device_mesh(containing[0] if containing else candidates[0])
    for name, device_mesh in found.items():
        mesh = mesh_of_device_mesh(device_mesh)
        for axis in mesh.axes:
            if chosen is None or not chosen.has_axis(axis.name):
                message = f'{name} is on the mesh dimension "{axis.name}"'
                raise UsageError(error(f"{message}, which the mesh {chosen} lacks; pass 'mesh'"))
            if chosen.axis_size(axis.name) != axis.size:
                message = f'{name} is on the mesh dimension "{axis.name}" of size'
                raise UsageError(error(f"{message} {axis.size}, but the mesh is {chosen}"))
    return chosen


def _root_of(device_mesh: Any) -> DeviceMesh:
    """Return the mesh that a device mesh is a slice of."""
    if hasattr(device_mesh, "_get_root_mesh"):
        return device_mesh._get_root_mesh()
    from torch.distributed import device_mesh as meshes  # noqa: PLC0415

    return meshes._mesh_resources.get_root_mesh(device_mesh)


def _on_meta(tensor: Any) -> torch.Tensor:
    made = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")
    if isinstance(tensor, torch.nn.Parameter):
        return torch.nn.Parameter(made, requires_grad=tensor.requires_grad)
    return made


@contextlib.contextmanager
def _without_distributed_hooks(module: torch.nn.Module) -> Iterator[None]:
    """Leave out the hooks around `forward` that `torch.distributed` has registered."""
    saved = [(each, name, getattr(each, name)) for each in module.modules() for name in _HOOKS]
    try:
        for each, name, hooks in saved:
            kept = {key: hook for key, hook in hooks.items() if not is_distributed(hook)}
            setattr(each, name, type(hooks)(kept))
        yield
    finally:
        for each, name, hooks in saved:
            setattr(each, name, hooks)


def is_distributed(hook: Any) -> bool:
    """Whether `torch.distributed` defines a hook."""
    while isinstance(hook, functools.partial):
        hook = hook.func
    module = getattr(inspect.unwrap(hook), "__module__", None) or ""
    return module.startswith("torch.distributed.")
