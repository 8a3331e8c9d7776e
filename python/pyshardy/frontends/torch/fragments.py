# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fragments of graphs, which are copied into other graphs."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportPrivateUsage=false, reportMissingTypeStubs=false

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx import Graph, GraphModule, Node, map_arg
from torch.fx._lazy_graph_module import _make_graph_module, _use_lazy_graph_module
from torch.fx.experimental import proxy_tensor
from torch.fx.passes.shape_prop import TensorMetadata
from torch.utils import _pytree as pytree

from pyshardy.frontends.torch.replacing import replaced_attribute

Arguments = tuple[Sequence[Any], Mapping[str, Any]]
"""The arguments and the keyword arguments of an operation."""

_FROM_SOURCE = ("stack_trace", "nn_module_stack", "source_fn_stack")


def splice(decomposed: Graph, graph: Graph, inputs: Sequence[Node], origin: Node) -> Any:
    """Copy a graph to the end of another, located at an operation, and return its outputs."""
    values: dict[Node, Any] = {}
    remaining = iter(inputs)
    for node in decomposed.nodes:
        if node.op == "placeholder":
            values[node] = next(remaining)
        elif node.op == "output":
            return map_arg(node.args[0], values.__getitem__)
        else:
            made = graph.node_copy(node, values.__getitem__)
            set_source(made, origin)
            values[node] = made
    return None


def set_source(node: Node, origin: Node) -> None:
    """Locate a node at an operation that it is a part of."""
    for name in _FROM_SOURCE:
        if name in origin.meta:
            node.meta[name] = origin.meta[name]
    node.meta["origin"] = origin.meta.get("origin", origin.target)
    node.meta["origin_name"] = origin.meta.get("origin_name", origin.name)


def values_of(node: Node) -> Sequence[Any]:
    """Return the types of a node's results."""
    value = node.meta.get("val")
    return (value,) if isinstance(value, torch.Tensor) else pytree.tree_leaves(value)


def tensor_nodes(args: Any, kwargs: Any) -> list[Node]:
    """Return the nodes in arguments, in order."""
    return [leaf for leaf in pytree.tree_leaves((args, kwargs)) if isinstance(leaf, Node)]


def form_of(target: Any, args: Any, kwargs: Mapping[str, Any]) -> Any:
    """Return a key that is equal for operations on tensors of equal types, with equal numbers."""

    def of(leaf: Any) -> Any:
        if isinstance(leaf, Node):
            values = values_of(leaf)
            return tuple((tuple(each.shape), each.dtype, each.stride()) for each in values)
        return type(leaf), repr(leaf)  # distinguishes 0.0 and -0.0

    leaves, tree = pytree.tree_flatten((args, kwargs))
    return target, str(tree), tuple(map(of, leaves))


def is_mutation(node: Node) -> bool:
    """Whether an operation changes one of its arguments."""
    schema = getattr(node.target, "_schema", None)
    return schema is not None and schema.is_mutable


def fake_mode_of(module: GraphModule) -> Any:
    """Return the mode that the types of values in a graph belong to."""
    for node in module.graph.nodes:
        for value in pytree.tree_leaves(node.meta.get("val")):
            if isinstance(value, FakeTensor):
                return value.fake_mode
    return FakeTensorMode(allow_non_fake_inputs=True)


def module_of(graph: Graph, origin: GraphModule) -> GraphModule:
    """Return a module of a graph with the attributes of another one."""
    with light_graphs():
        return _make_graph_module(origin, graph)


@contextlib.contextmanager
def light_graphs() -> Iterator[None]:
    """Let PyTorch trace graphs inside the `with` block without what is not read of them.

    Their Python code is generated when they are called, and the second description of each value,
    `tensor_meta`, is without the memory format. Both take a tenth of the time of `torch.export`.
    """

    def described(value: torch.Tensor, *_: Any, **__: Any) -> TensorMetadata:
        stride = value.stride() if value.layout is torch.strided else ()
        kind = value.shape, value.dtype, value.requires_grad
        return TensorMetadata(*kind, stride, None, value.is_quantized, {})

    name = "_extract_tensor_metadata"
    with contextlib.ExitStack() as stack:
        stack.enter_context(_use_lazy_graph_module(True))
        if hasattr(proxy_tensor, name):
            stack.enter_context(replaced_attribute(proxy_tensor, name, described))
        yield
