# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fragments of graphs: traced from functions, compared by form, and copied into other graphs.

To set up a trace takes PyTorch as long as tracing a dozen operations, so that several functions are
traced at once if possible.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx import Graph, GraphModule, Node, map_arg
from torch.fx._lazy_graph_module import _make_graph_module, _use_lazy_graph_module
from torch.fx.experimental import proxy_tensor
from torch.fx.experimental.proxy_tensor import decompose, get_proxy_mode, make_fx
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
            result = graph.node_copy(node, values.__getitem__)
            set_source(result, origin)
            values[node] = result
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


@dataclass(frozen=True)
class Fragment:
    """A part of a graph.

    Attributes:
        module: the module of the graph, which holds constants.
        inputs: the nodes whose values are given, in order.
        nodes: the nodes that compute the outputs, in order.
        outputs: a tree with nodes as leaves.
    """

    module: GraphModule
    inputs: Sequence[Node]
    nodes: Sequence[Node]
    outputs: Any

    @classmethod
    def of(cls, module: GraphModule) -> Fragment:
        """Return the fragment that is a whole graph."""
        *nodes, output = module.graph.nodes
        inputs = [node for node in nodes if node.op == "placeholder"]
        return cls(module, inputs, nodes[len(inputs) :], output.args[0])


@dataclass(frozen=True)
class Call:
    """A call of a function.

    Attributes:
        function: the function, such as a decomposition.
        args: its arguments, with nodes in the place of tensors.
        kwargs: its keyword arguments.
        operation: the operation that the function decomposes, if any.
        changes_tensors: whether it has operations in place; otherwise this is found out.
    """

    function: Callable[..., Any]
    args: Any
    kwargs: Any = field(default_factory=dict)
    operation: Any = None
    changes_tensors: bool = False

    @property
    def inputs(self) -> list[Any]:
        """The types of its tensors."""
        return [node.meta["val"] for node in tensor_nodes(self.args, self.kwargs)]

    def __call__(self, tensors: Iterable[torch.Tensor]) -> Any:
        """Call the function with tensors in the place of nodes."""
        leaves, tree = pytree.tree_flatten((self.args, self.kwargs))
        remaining = iter(tensors)
        filled = [next(remaining) if isinstance(leaf, Node) else leaf for leaf in leaves]
        args, kwargs = _with_mutable_lists(pytree.tree_unflatten(filled, tree))
        with torch._C.DisableTorchFunction():  # which is asked for each attribute of a tensor
            result = self.function(*args, **kwargs)
        return tuple(result) if isinstance(result, tuple) else result  # without names


@dataclass
class NestedDecompositions:
    """The decompositions of operations inside others, in the form of a table for PyTorch.

    An operation inside its own decomposition stays.

    Attributes:
        decomposition_of: returns the function that computes an operation by others, or None, given
            its arguments; without them, whether there may be one.
    """

    decomposition_of: Callable[[Any, Arguments | None], Callable[..., Any] | None]
    _active: list[Any] = field(default_factory=list)
    _has_any: dict[Any, bool] = field(default_factory=dict)

    @contextlib.contextmanager
    def inside(self, operation: Any) -> Iterator[None]:
        """Keep an operation inside the `with` block, which decomposes it."""
        self._active.append(operation)
        try:
            yield
        finally:
            self._active.pop()

    def __contains__(self, operation: Any) -> bool:
        if operation not in self._has_any:
            self._has_any[operation] = self.decomposition_of(operation, None) is not None
        return self._has_any[operation] and operation not in self._active

    def __getitem__(self, operation: Any) -> Callable[..., Any]:
        return functools.partial(self._decompose, operation)

    def _decompose(self, operation: Any, *args: Any, **kwargs: Any) -> Any:
        function = self.decomposition_of(operation, (args, kwargs))
        if function is None:
            return NotImplemented  # which makes PyTorch keep it
        with self.inside(operation):
            return function(*args, **kwargs)


def trace_fragment(call: Call) -> GraphModule:
    """Trace a function for the types of arguments; the graph has no operations in place.

    Operations that are composed of others stay as they are, if possible.
    """
    inputs = distinct(call.inputs)

    def function(*tensors: torch.Tensor) -> Any:
        return call(tensors)

    if not call.changes_tensors:
        module = _traced(function, inputs, is_functional=True)
        if not any(map(is_mutation, module.graph.nodes)):
            return module
    return _traced(function, inputs, is_functional=False)


def trace_fragments(calls: Sequence[Call], nested: NestedDecompositions) -> list[Fragment | None]:
    """Trace several functions at once, as `trace_fragment` traces each.

    Args:
        calls: the calls of the functions.
        nested: the decompositions of operations that they call.

    Returns:
        The fragments, with None for functions that fail or that have operations in place.
    """
    counts = [len(call.inputs) for call in calls]
    table: Any = nested  # of which PyTorch asks for items only
    failed: set[int] = set()
    made_by: list[list[Node]] = []

    def function(*tensors: torch.Tensor) -> Any:
        mode: Any = get_proxy_mode()
        nodes = mode.tracer.graph.nodes
        results: list[Any] = []
        known = len(nodes)
        remaining = iter(tensors)
        for index, (call, count) in enumerate(zip(calls, counts, strict=True)):
            given = [next(remaining) for _ in range(count)]
            try:
                with decompose(table), nested.inside(call.operation):
                    results.append(call(given))
            except Exception:  # to be raised when it is traced alone
                failed.add(index)
                results.append(None)
            made_by.append(_last(nodes, len(nodes) - known))
            known = len(nodes)
        return tuple(results)

    inputs = distinct([value for call in calls for value in call.inputs])
    try:
        module = _traced(function, inputs, is_functional=True)
    except Exception:  # a failure leaves a state that the trace can't end in
        return [None] * len(calls)
    whole = Fragment.of(module)
    kept = {*whole.nodes}
    placeholders = iter(whole.inputs)
    fragments: list[Fragment | None] = []
    for index, count in enumerate(counts):
        given = [next(placeholders) for _ in range(count)]
        nodes = [node for node in made_by[index] if node in kept]
        is_usable = index not in failed and not any(map(is_mutation, nodes))
        outputs = whole.outputs[index]
        fragments.append(Fragment(module, given, nodes, outputs) if is_usable else None)
    return fragments


def _last(nodes: Any, count: int) -> list[Node]:
    """Return the last nodes of a graph, in order."""
    from_end = iter(reversed(nodes))
    return [next(from_end) for _ in range(count)][::-1]


def _traced(
    function: Callable[..., Any], inputs: Sequence[Any], *, is_functional: bool
) -> GraphModule:
    """Trace a function, before PyTorch decomposes its operations if it is functional."""
    with torch.no_grad(), without_mkldnn(), light_graphs():
        if is_functional:
            return make_fx(function, tracing_mode="fake", pre_dispatch=True)(*inputs)
        functional = torch.func.functionalize(function, remove="mutations")
        return make_fx(functional, tracing_mode="fake")(*inputs)


@contextlib.contextmanager
def without_mkldnn() -> Iterator[None]:
    """Keep PyTorch from the operations of the library oneDNN for inference on CPUs."""
    was_enabled = torch._C._get_mkldnn_enabled()
    torch._C._set_mkldnn_enabled(False)
    try:
        yield
    finally:
        torch._C._set_mkldnn_enabled(was_enabled)


def distinct(values: Sequence[Any]) -> list[Any]:
    """Replace repeated objects by others of their type.

    Tracing tells tensors apart by their identity, and nodes that come from one form share theirs.
    """
    seen: set[int] = set()
    results: list[Any] = []
    for value in values:
        if id(value) in seen and isinstance(value, torch.Tensor):
            with getattr(value, "fake_mode", contextlib.nullcontext()):
                results.append(torch.empty_strided(value.shape, value.stride(), dtype=value.dtype))
        else:
            results.append(value)
        seen.add(id(value))
    return results


def _with_mutable_lists(tree: Any) -> Any:
    """Return a tree of arguments with plain lists, which decompositions may change."""
    if isinstance(tree, tuple):
        return tuple(map(_with_mutable_lists, tree))
    if isinstance(tree, list):
        return [*map(_with_mutable_lists, tree)]
    if isinstance(tree, dict):
        return {name: _with_mutable_lists(value) for name, value in tree.items()}
    return tree
