# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules and inputs that were distributed as DTensors, and placements as shardings and back.

They are traced as one global program: a DTensor stands for the tensor that it is a shard of, and
its placements are a sharding. The hooks of PyTorch that redistribute activations, and those that
gather weights, aren't part of that program: propagation and the partitioner decide instead.

A placement says for one dimension of a device mesh what a tensor is along it. Where several mesh
dimensions shard one tensor dimension, the first one is the major one, unless a `_StridedShard` says
how many shards the later ones, which are more major, have made before.

    on a mesh data=4, model=2:
    <@mesh, [{"model"}, {}]>           (Replicate(), Shard(0))
    <@mesh, [{"data", "model"}, {}]>   (Shard(0), Shard(0))
    <@mesh, [{"model", "data"}, {}]>   (_StridedShard(0, split_factor=2), Shard(0))
    <@mesh, [{}, {}], unreduced={"data"}>  (Partial("sum"), Replicate())
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import math
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.utils import stateless
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import _disable_current_modes

from mlir_sdy.diagnostics import SourceLocation, UsageError, emit, error, warning
from mlir_sdy.model import AxisRef, Mesh, TensorSharding
from pyshardy.frontends.meshes import DEFAULT_NAME
from pyshardy.frontends.torch.signature import Signature

if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh
    from torch.distributed.tensor.placement_types import Placement


_HOOKS = ("_forward_pre_hooks", "_forward_hooks")


def is_dtensor(value: Any) -> bool:
    """Whether a value is a DTensor, without importing `torch.distributed`."""
    module = sys.modules.get("torch.distributed.tensor")
    return module is not None and isinstance(value, module.DTensor)


def warn_of_own_strategies(graph: torch.fx.GraphModule) -> None:
    """Warn of operations whose DTensor strategies `register_sharding` has replaced.

    A strategy lists the placements that DTensor chooses from in eager mode. Here the sharding rules
    of the operations decide, which changes no result, but maybe the plan.
    """
    registering = sys.modules.get("torch.distributed.tensor.experimental._register_sharding")
    if registering is None:
        return
    distributed: Any = sys.modules["torch.distributed.tensor"]
    strategies = distributed.DTensor._op_dispatcher.sharding_propagator.op_strategy_funcs
    calls = [node for node in graph.graph.nodes if node.op == "call_function"]
    for operation in dict.fromkeys(node.target for node in calls):
        strategy = strategies.get(operation)
        is_own = isinstance(strategy, functools.partial)
        if is_own and strategy.func.__module__ == registering.__name__:
            code = inspect.unwrap(strategy.args[0]).__code__
            message = (
                f"the placements that register_sharding lists for '{operation}' are not used: the "
                f"sharding rule of the operation decides; constrain its results where they matter"
            )
            emit(warning(message, SourceLocation(code.co_filename, code.co_firstlineno, 1)))


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
        device_meshes = {
            **{f"'{name}'": value.device_mesh for name, value in weights.items()},
            **{f"input {index}": value.device_mesh for index, value in of_inputs.items()},
        }
        return cls(containing_mesh(device_meshes, mesh), weights, of_inputs)

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

    def whole(value: Any) -> Any:
        return empty_on("meta", value) if is_dtensor(value) else value

    with _without_distributed_hooks(module), replaced_weights(module, inputs, whole) as replaced:
        yield replaced


@contextlib.contextmanager
def replaced_weights(
    module: torch.nn.Module, inputs: Any, replacement: Callable[[torch.Tensor], torch.Tensor]
) -> Iterator[Any]:
    """Replace the weights of a module inside the `with` block, and yield its inputs, replaced.

    Args:
        module: the module.
        inputs: a tree with its inputs.
        replacement: returns the tensor to use for another one; tied weights stay tied.
    """
    known: dict[int, Any] = {}

    def replaced(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        if id(value) not in known:
            known[id(value)] = replacement(value)
        return known[id(value)]

    weights = {name: replaced(weight) for name, weight in weights_of(module)}
    with stateless._reparametrize_module(module, weights):
        yield pytree.tree_map(replaced, inputs)


def empty_on(device: str, tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor or parameter without values of the type of another one, on a device."""
    empty = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=device)
    if isinstance(tensor, torch.nn.Parameter):
        return torch.nn.Parameter(empty, requires_grad=tensor.requires_grad)
    return empty


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


def containing_mesh(device_meshes: Mapping[str, DeviceMesh], given: Mesh | None) -> Mesh | None:
    """Return the mesh with all axes: the given mesh, or else the largest of the device meshes.

    Raises:
        UsageError: the given mesh doesn't contain one of those found.
    """
    if not device_meshes or given is not None:
        chosen = given
    else:
        candidates = [*map(_root_of, device_meshes.values()), *device_meshes.values()]
        names = {
            name for mesh in device_meshes.values() for name in mesh_of_device_mesh(mesh).axis_names
        }
        containing = [mesh for mesh in candidates if names <= set(mesh.mesh_dim_names or ())]
        chosen = mesh_of_device_mesh(containing[0] if containing else candidates[0])
    for name, device_mesh in device_meshes.items():
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


def sharding_of_placements(
    placements: Sequence[Placement], mesh: Mesh, rank: int, name: str
) -> TensorSharding:
    """Return the sharding of a tensor from its placements.

    Args:
        placements: one for each axis of the mesh.
        mesh: the mesh dimensions, in the order of the placements.
        rank: the number of dimensions of the tensor.
        name: its name in diagnostics.

    Raises:
        UsageError: a placement can't be expressed.
    """
    dims: list[list[str]] = [[] for _ in range(rank)]
    unreduced: list[str] = []
    axes = list(zip(mesh.axes, placements, strict=True))
    for axis, placement in reversed(axes):
        if placement.is_partial():
            if str(getattr(placement, "reduce_op", "")) != "sum":
                message = f"'{name}' is {placement!r} along \"{axis.name}\": only sums of shards"
                raise UsageError(error(f"{message} can be expressed; redistribute it first"))
            unreduced.insert(0, axis.name)
        elif not placement.is_replicate():
            of_dim, outer = _dim_of(placement, name), getattr(placement, "split_factor", 1)
            place = _after_shards(dims[of_dim], outer, mesh)
            if place is None:
                message = (
                    f"'{name}' is {placement!r} along \"{axis.name}\", but the later mesh "
                    f"dimensions split its dimension {of_dim} by {dims[of_dim] or 'none of them'}"
                )
                raise UsageError(error(f"{message}, not into {outer} shards"))
            dims[of_dim].insert(place, axis.name)
    sharding = TensorSharding.from_axes(DEFAULT_NAME, [tuple(map(AxisRef, each)) for each in dims])
    return sharding.with_unreduced_axes(tuple(map(AxisRef, unreduced)))


def _dim_of(placement: Placement, name: str) -> int:
    dim = getattr(placement, "dim", None)
    if dim is None:
        message = f"'{name}' has the placement {placement!r}, which no sharding can express"
        raise UsageError(error(f"{message}; redistribute it first"))
    return dim


def _after_shards(axes: Sequence[str], count: int, mesh: Mesh) -> int | None:
    """Return how many leading axes make a number of shards, or None."""
    for place in range(len(axes) + 1):
        if math.prod(mesh.axis_size(name) for name in axes[:place]) == count:
            return place
    return None


def placements_of_sharding(
    sharding: TensorSharding | None, mesh: Mesh, shape: Sequence[int], name: str
) -> tuple[Placement, ...]:
    """Return the placements of a tensor from its sharding, by axes of the mesh.

    Args:
        sharding: the sharding; None if replicated.
        mesh: its mesh.
        shape: the shape of the tensor.
        name: its name in diagnostics.

    Raises:
        UsageError: the sharding uses a sub-axis; or it splits a dimension unevenly along several
            axes, which PyTorch does one after the other, with other shards.
    """
    from torch.distributed.tensor import Partial, Replicate, Shard  # noqa: PLC0415
    from torch.distributed.tensor.placement_types import _StridedShard  # noqa: PLC0415

    placements: dict[str, Any] = {axis.name: Replicate() for axis in mesh.axes}
    if sharding is None:
        return tuple(placements.values())
    for axis in (*sharding.all_axes(), *sharding.unreduced_axes):
        if axis.sub_axis_info is not None:
            message = f"'{name}' is sharded as {sharding} by the sub-axis {axis}"
            remedy = f'split "{axis.name}" into two axes in the mesh'
            raise UsageError(error(f"{message}, which placements can't express; {remedy}"))
    order = {axis.name: index for index, axis in enumerate(mesh.axes)}
    for dim, axes in enumerate(sharding.dim_axes):
        _check_even(sharding, mesh, shape, dim, name)
        for index, axis in enumerate(axes):
            later = [one for one in axes[:index] if order[one.name] > order[axis.name]]
            outer = mesh.axes_size(later)
            shard = _StridedShard(dim, split_factor=outer) if outer > 1 else Shard(dim)
            placements[axis.name] = shard
    for axis in sharding.unreduced_axes:
        placements[axis.name] = Partial("sum")
    return tuple(placements.values())


def _check_even(
    sharding: TensorSharding, mesh: Mesh, shape: Sequence[int], dim: int, name: str
) -> None:
    axes = [axis for axis in sharding.dim_axes[dim] if axis.size(mesh) > 1]
    count = mesh.axes_size(axes)
    if len(axes) > 1 and shape[dim] % count:
        message = (
            f"'{name}' is sharded as {sharding}: dimension {dim} of size {shape[dim]} is not "
            f"divisible by {count}, and PyTorch splits it by one axis after the other"
        )
        raise UsageError(error(f"{message}; pad the dimension, or shard it along one axis"))
