# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fragments of graphs: functions of tensors that are traced alone, and copied into graphs."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportPrivateUsage=false, reportMissingTypeStubs=false

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch
    from torch.fx import Graph, GraphModule, Node

_FROM_SOURCE = ("stack_trace", "nn_module_stack", "source_fn_stack")


def splice(decomposed: Graph, graph: Graph, inputs: Sequence[Node], origin: Node) -> Any:
    """Copy a graph to the end of another, located at an operation, and return its outputs."""
    from torch.fx import map_arg  # noqa: PLC0415

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


def tensor_nodes(args: Any, kwargs: Any) -> list[Node]:
    """Return the nodes in arguments, in order."""
    from torch.fx import Node  # noqa: PLC0415
    from torch.utils import _pytree as pytree  # noqa: PLC0415

    return [leaf for leaf in pytree.tree_leaves((args, kwargs)) if isinstance(leaf, Node)]


def form_of(target: Any, args: Any, kwargs: Mapping[str, Any]) -> Any:
    """Return a key that is equal for operations on tensors of equal types, with equal numbers."""
    from torch.fx import Node  # noqa: PLC0415
    from torch.utils import _pytree as pytree  # noqa: PLC0415

    def of(leaf: Any) -> Any:
        if isinstance(leaf, Node):
            values = pytree.tree_leaves(leaf.meta["val"])
            return tuple((tuple(each.shape), each.dtype, each.stride()) for each in values)
        return type(leaf), repr(leaf)  # distinguishes 0.0 and -0.0

    leaves, tree = pytree.tree_flatten((args, kwargs))
    return target, str(tree), tuple(map(of, leaves))


def trace_fragment(
    function: Callable[..., Any], args: Any, kwargs: Any, *, changes_tensors: bool = False
) -> GraphModule:
    """Trace a function for the types of arguments; the graph has no operations in place.

    Operations that are composed of others stay as they are, if possible.

    Args:
        function: the function, such as a decomposition.
        args: its arguments, with nodes in the place of tensors.
        kwargs: its keyword arguments.
        changes_tensors: whether it has operations in place; otherwise this is found out.
    """
    import torch  # noqa: PLC0415
    from torch.fx import Node  # noqa: PLC0415
    from torch.fx.experimental.proxy_tensor import make_fx  # noqa: PLC0415
    from torch.utils import _pytree as pytree  # noqa: PLC0415

    leaves, tree = pytree.tree_flatten((args, kwargs))
    inputs = _distinct([leaf.meta["val"] for leaf in leaves if isinstance(leaf, Node)])

    def of_tensors(*tensors: torch.Tensor) -> Any:
        remaining = iter(tensors)
        filled = [next(remaining) if isinstance(leaf, Node) else leaf for leaf in leaves]
        args, kwargs = _with_mutable_lists(pytree.tree_unflatten(filled, tree))
        made = function(*args, **kwargs)
        return tuple(made) if isinstance(made, tuple) else made  # without names

    with (
        torch.no_grad(),
        _without_mkldnn(),
    ):
        if not changes_tensors:
            module = make_fx(of_tensors, tracing_mode="fake", pre_dispatch=True)(*inputs)
            if not any(map(is_mutation, module.graph.nodes)):
                return module
        functional = torch.func.functionalize(of_tensors, remove="mutations")
        return make_fx(functional, tracing_mode="fake")(*inputs)


@contextlib.contextmanager
def _without_mkldnn() -> Iterator[None]:
    """Keep PyTorch from the operations of the library oneDNN for inference on CPUs."""
    import torch  # noqa: PLC0415

    was_enabled = torch._C._get_mkldnn_enabled()
    torch._C._set_mkldnn_enabled(False)
    try:
        yield
    finally:
        torch._C._set_mkldnn_enabled(was_enabled)


def _distinct(values: Sequence[Any]) -> list[Any]:
    """Replace repeated objects by others of their type.

    Tracing tells tensors apart by their identity, and nodes that come from one form share theirs.
    """
    import torch  # noqa: PLC0415

    seen: set[int] = set()
    made: list[Any] = []
    for value in values:
        if id(value) in seen and isinstance(value, torch.Tensor):
            with getattr(value, "fake_mode", contextlib.nullcontext()):
                made.append(torch.empty_strided(value.shape, value.stride(), dtype=value.dtype))
        else:
            made.append(value)
        seen.add(id(value))
    return made


def _with_mutable_lists(tree: Any) -> Any:
    """Return a tree of arguments with plain lists, which decompositions may change."""
    if isinstance(tree, tuple):
        return tuple(map(_with_mutable_lists, tree))
    if isinstance(tree, list):
        return [*map(_with_mutable_lists, tree)]
    if isinstance(tree, dict):
        return {name: _with_mutable_lists(value) for name, value in tree.items()}
    return tree


def is_mutation(node: Node) -> bool:
    """Whether an operation changes one of its arguments."""
    schema = getattr(node.target, "_schema", None)
    return schema is not None and schema.is_mutable


def fake_mode_of(module: GraphModule) -> Any:
    """Return the mode that the types of values in a graph belong to."""
    from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode  # noqa: PLC0415
    from torch.utils import _pytree as pytree  # noqa: PLC0415

    for node in module.graph.nodes:
        for value in pytree.tree_leaves(node.meta.get("val")):
            if isinstance(value, FakeTensor):
                return value.fake_mode
    return FakeTensorMode(allow_non_fake_inputs=True)


def module_of(graph: Graph, origin: GraphModule) -> GraphModule:
    """Return a module of a graph with the attributes of another one.

    Python code for it is generated when it is called, which takes long.
    """
    from torch.fx._lazy_graph_module import (  # noqa: PLC0415
        _make_graph_module,
        _use_lazy_graph_module,
    )

    with _use_lazy_graph_module(True):
        return _make_graph_module(origin, graph)
