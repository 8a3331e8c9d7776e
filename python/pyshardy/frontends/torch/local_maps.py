# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`local_map` of DTensor as manual computations.

A function that PyTorch runs on the shards of DTensors becomes an operation `pyshardy::local_map` on
global tensors, and its body a graph on shards:

| placements of an argument or result | in the program                                        |
|-------------------------------------|-------------------------------------------------------|
| `Shard(dim)`                        | the sharding of the manual computation                |
| `Replicate()`                       | no axis of it                                         |
| `Partial()` of a result             | one more dimension, sharded; it is summed up outside  |

The gradient is the same for the derivative of the function, which is computed on the shards again.
That of an argument has the placements of `in_grad_placements`.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import torch
from torch._subclasses.functional_tensor import dispatch_functionalize
from torch.fx import GraphModule
from torch.fx.experimental.proxy_tensor import disable_proxy_modes_tracing, make_fx
from torch.utils import _pytree as pytree

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.model import Mesh, TensorSharding
from pyshardy.frontends.meshes import DEFAULT_NAME
from pyshardy.frontends.torch.dtensors import (
    Layouts,
    containing_mesh,
    mesh_of_device_mesh,
    sharding_of_placements,
)
from pyshardy.frontends.torch.replacing import replaced_attribute

NAME = "pyshardy.local_map.default"
"""The name of the operation."""

_MODULE = "torch.distributed.tensor.experimental._func_map"


@dataclass(frozen=True)
class LocalMap:
    """A function of shards.

    Attributes:
        function: the function, of a list of shards; it returns a list of shards.
        mesh: the mesh of its axes, all of which are manual.
        in_shardings: the shardings of its arguments.
        out_shardings: those of its results; along unreduced axes they are summed up.
        of_gradients: those of the gradients of its arguments; None for an argument without any.
    """

    function: Callable[[list[Any]], list[Any]]
    mesh: Mesh
    in_shardings: Sequence[TensorSharding]
    out_shardings: Sequence[TensorSharding]
    of_gradients: Sequence[TensorSharding | None]

    def example(self, tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Return tensors of the types of the results, for tensors without values."""
        results = self.function(self.shards(tensors))
        return [
            each.new_empty(_scaled(each.shape, sharding, self.mesh))
            for each, sharding in zip(results, self.out_shardings, strict=True)
        ]

    def shards(self, tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Return tensors of the types of the shards of arguments."""
        shapes = (
            self.shard_shape(each.shape, sharding)
            for each, sharding in zip(tensors, self.in_shardings, strict=True)
        )
        return [each.new_empty(shape) for each, shape in zip(tensors, shapes, strict=True)]

    def shard_shape(self, shape: Sequence[int], sharding: TensorSharding) -> list[int]:
        """Return the shape of a shard of a tensor.

        Raises:
            UsageError: a dimension isn't divisible by the number of its shards.
        """
        sizes: list[int] = []
        for dim, axes in enumerate(sharding.dim_axes):
            count = self.mesh.axes_size(axes)
            if shape[dim] % count:
                message = f"dimension {dim} of size {shape[dim]} has {count} shards in 'local_map'"
                raise UsageError(error(f"{message}, which must divide it; pad it before"))
            sizes.append(shape[dim] // count)
        return sizes

    def graph(self, tensors: Sequence[torch.Tensor]) -> GraphModule:
        """Return the graph of the function, for global tensors without values.

        Raises:
            UsageError: the function draws random numbers, which would be equal on all devices.
        """

        def function(*shards: torch.Tensor) -> list[torch.Tensor]:
            return self.function([*shards])

        module = make_fx(dispatch_functionalize(function))(*self.shards(tensors))
        for node in module.graph.nodes:
            if torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ()):
                message = "the function of 'local_map' draws random numbers, which are equal on all"
                raise UsageError(error(f"{message} devices; draw them before, and pass them"))
        return module

    def derivative(self, tensors: Sequence[torch.Tensor]) -> LocalMap:
        """Return the map from arguments and gradients of results to gradients of arguments.

        Raises:
            UsageError: the placements of a gradient aren't known.
        """
        count = len(tensors)
        required = [each.requires_grad for each in tensors]

        def function(shards: list[Any]) -> list[Any]:
            values = [
                each.detach().requires_grad_() if is_required else each
                for each, is_required in zip(shards, required, strict=False)
            ]
            with torch.enable_grad():
                results = self.function([*values])
            pairs = [
                (result, gradient)
                for result, gradient in zip(results, shards[count:], strict=True)
                if result.requires_grad
            ]
            inputs = [value for value in values if value.requires_grad]
            return [
                *torch.autograd.grad(
                    [result for result, _ in pairs],
                    inputs,
                    [gradient for _, gradient in pairs],
                    allow_unused=True,
                    materialize_grads=True,
                )
            ]

        out_shardings: list[TensorSharding] = []
        for position, is_required in enumerate(required):
            sharding = self.of_gradients[position]
            if is_required and sharding is None:
                message = (
                    f"argument {position} of 'local_map' is replicated along an axis, and so the "
                    "placement of its gradient isn't known"
                )
                raise UsageError(error(f"{message}; pass 'in_grad_placements' to local_map"))
            if is_required and sharding is not None:
                out_shardings.append(sharding)
        gradients = [each.with_unreduced_axes(()) for each in self.out_shardings]
        in_shardings = [*self.in_shardings, *gradients]
        unknown = [None] * len(in_shardings)
        return LocalMap(function, self.mesh, in_shardings, out_shardings, unknown)


def _scaled(shape: Sequence[int], sharding: TensorSharding, mesh: Mesh) -> list[int]:
    """Return the shape of a tensor from that of a shard."""
    pairs = zip(shape, sharding.dim_axes, strict=True)
    return [size * mesh.axes_size(axes) for size, axes in pairs]


_NUMBERS = itertools.count()
_MAPS: dict[int, LocalMap] = {}
"""The maps of traces that go on, by the number that their operation has.

An operation of PyTorch takes no function of Python.
"""


def map_of(number: int) -> LocalMap:
    """Return a map, inside of the `kept_local_maps` that made it."""
    return _MAPS[number]


@contextlib.contextmanager
def kept_local_maps(layouts: Layouts) -> Iterator[None]:
    """Keep calls of `local_map` as operations in graphs that are traced in the `with` block.

    Args:
        layouts: the DTensors of the module. Without any, PyTorch calls the function itself.
    """
    module = sys.modules.get(_MODULE)  # a user of the function has imported it
    if module is None or layouts.mesh is None or not (layouts.weights or layouts.inputs):
        yield
        return
    wrapped: Any = module._local_map_wrapped
    before, code = {*_MAPS}, wrapped.__code__
    traced = functools.partial(_traced, layouts.mesh)
    with replaced_attribute(module, _forwarded.__name__, traced):
        # The functions that `local_map` has returned refer to this one.
        wrapped.__code__ = _forwarding.__code__
        try:
            yield
        finally:
            wrapped.__code__ = code
            for number in _MAPS.keys() - before:
                del _MAPS[number]


def _forwarding(*args: Any, **kwargs: Any) -> Any:
    """Call a function of the module that has this code."""
    return _forwarded(*args, **kwargs)


def _forwarded(*args: Any, **kwargs: Any) -> Any:
    """Stand for that function."""


def _traced(
    mesh: Mesh,
    function: Callable[..., Any],
    out_placements: Any,
    in_placements: Any,
    in_grad_placements: Any,
    device_mesh: Any,
    _: bool,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """Add the operation for a call to the graph, and return its result.

    Args:
        mesh: the mesh of the trace.
        function: the function of shards.
        out_placements: those of its results.
        in_placements: those of its arguments.
        in_grad_placements: those of the gradients of its arguments.
        device_mesh: the mesh of the placements; that of the trace by default.
        args: its arguments.
        kwargs: its keyword arguments, which have no tensors.

    Raises:
        UsageError: placements are missing or can't be expressed, or the function changes an
            argument in place.
    """
    if in_placements is None:
        message = "'local_map' has no 'in_placements', and the placements of values inside of a"
        raise UsageError(error(f"{message} module aren't known; pass them"))
    if any(isinstance(leaf, torch.Tensor) for leaf in pytree.tree_leaves(kwargs)):
        message = "'local_map' has tensors in keyword arguments, which have no placements"
        raise UsageError(error(f"{message}; pass them as positional ones"))
    if device_mesh is not None:
        containing_mesh({"'local_map'": device_mesh}, mesh)
        mesh = mesh_of_device_mesh(device_mesh)
    leaves, tree = pytree.tree_flatten(args)
    positions = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
    tensors = [leaves[position] for position in positions]
    in_shardings: list[TensorSharding] = []
    of_gradients: list[TensorSharding | None] = []
    for position, tensor in zip(positions, tensors, strict=True):
        name = f"argument {position} of local_map"
        sharding = _sharding(in_placements[position], mesh, tensor.dim(), name)
        if sharding.unreduced_axes:
            raise UsageError(error(f"{name} is a partial sum; redistribute it before"))
        in_shardings.append(sharding)
        placements = in_grad_placements and in_grad_placements[position]
        if placements is not None:
            name = f"the gradient of {name}"
            of_gradients.append(_sharding(placements, mesh, tensor.dim(), name))
        else:
            is_whole = mesh.axes_size(sharding.all_axes()) == mesh.total_size
            of_gradients.append(sharding if is_whole else None)
    form: list[Any] = []

    def flat(shards: list[Any]) -> list[Any]:
        filled = dict(zip(positions, shards, strict=True))
        values = [filled.get(index, leaf) for index, leaf in enumerate(leaves)]
        with _without_ranks():
            result = function(*pytree.tree_unflatten(values, tree), **kwargs)
        form[:] = pytree.tree_flatten(result)
        return [leaf for leaf in form[0] if isinstance(leaf, torch.Tensor)]

    specs = out_placements if isinstance(out_placements, tuple) else (out_placements,)
    unknown = LocalMap(flat, mesh, in_shardings, (), of_gradients)
    with disable_proxy_modes_tracing(), torch.no_grad():
        shards = unknown.shards(tensors)
        versions = [shard._version for shard in shards]
        ranks = [result.dim() for result in flat(shards)]
    if versions != [shard._version for shard in shards]:
        message = "the function of 'local_map' changes an argument in place"
        raise UsageError(error(f"{message}; return a new tensor instead"))
    outputs, out_tree = form
    if len(specs) != len(outputs):
        message = f"'local_map' has {len(specs)} 'out_placements', and its function"
        raise UsageError(error(f"{message} {len(outputs)} results; pass one for each"))
    placed = (spec for spec, leaf in zip(specs, outputs, strict=True) if _is_tensor(leaf))
    out_shardings = [
        _sharding(spec, mesh, rank, f"result {index} of local_map")
        for index, (spec, rank) in enumerate(zip(placed, ranks, strict=True))
    ]
    number = next(_NUMBERS)
    _MAPS[number] = replace(unknown, out_shardings=out_shardings)
    remaining = iter(_operation()(number, tensors))
    return pytree.tree_unflatten(
        [next(remaining) if _is_tensor(x) else x for x in outputs], out_tree
    )


@contextlib.contextmanager
def _without_ranks() -> Iterator[None]:
    """Refuse to tell the rank of this process, since the program is that of all devices."""
    import torch.distributed as dist  # noqa: PLC0415
    from torch.distributed.device_mesh import DeviceMesh  # noqa: PLC0415

    def refuse(*_: Any, **__: Any) -> NoReturn:
        message = "the function of 'local_map' asks for the rank of its device, but all devices run"
        raise UsageError(error(f"{message} one program; pass a tensor that is sharded instead"))

    with contextlib.ExitStack() as stack:
        for owner, name in (
            (dist, "get_rank"),
            (DeviceMesh, "get_rank"),
            (DeviceMesh, "get_local_rank"),
            (DeviceMesh, "get_coordinate"),
        ):
            stack.enter_context(replaced_attribute(owner, name, refuse))
        yield


def _is_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor)


def _sharding(placements: Any, mesh: Mesh, rank: int, name: str) -> TensorSharding:
    """Return the sharding of placements; None replicates."""
    if placements is None:
        return TensorSharding.from_axes(DEFAULT_NAME, [()] * rank)
    if len(placements) != len(mesh.axes):
        message = f"{name} has {len(placements)} placements, and the mesh {len(mesh.axes)} axes"
        raise UsageError(error(f"{message}; pass 'device_mesh' to local_map"))
    return sharding_of_placements(placements, mesh, rank, name)


@functools.cache
def _operation() -> Any:
    """Register the operation."""
    name = "pyshardy::local_map"
    torch.library.define(name, "(int map, Tensor[] tensors) -> Tensor[]")

    def example(map: int, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
        return _MAPS[map].example(tensors)

    def remember(ctx: Any, inputs: Any, output: Any) -> None:  # noqa: ARG001
        ctx.number, tensors = inputs
        ctx.save_for_backward(*tensors)

    def backward(ctx: Any, gradients: Sequence[torch.Tensor]) -> Any:
        tensors = ctx.saved_tensors
        derivative = _MAPS[ctx.number].derivative(tensors)
        number = next(_NUMBERS)
        _MAPS[number] = derivative
        remaining = iter(operation(number, [*tensors, *gradients]))
        return None, [next(remaining) if each.requires_grad else None for each in tensors]

    torch.library.register_fake(name, example)
    torch.library.register_autograd(name, backward, setup_context=remember)
    operation = torch.ops.pyshardy.local_map.default
    return operation
