# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decomposition of the operations in graphs of PyTorch.

`ExportedProgram.run_decompositions` traces the whole program again, operation by operation. Here a
decomposition is traced once for each distinct form of an operation (its types, shapes and numbers)
and copied into the graph, so that the layers of a model share it. All forms in a graph are traced
at once, and the operations inside of them are decomposed in this trace; the forms that remain there
are traced next.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node, map_arg
from torch.utils import _pytree as pytree

from pyshardy.frontends.torch import local_maps
from pyshardy.frontends.torch.fragments import (
    Arguments,
    Call,
    Fragment,
    NestedDecompositions,
    fake_mode_of,
    form_of,
    set_source,
    splice,
    tensor_nodes,
    trace_fragment,
    trace_fragments,
    values_of,
)
from pyshardy.frontends.torch.registry import name_of

_DROPPED = {
    "_set_grad_enabled",
    "aten._assert_async.default",
    "aten._assert_async.msg",
    "aten._assert_scalar.default",
    "aten._assert_tensor_metadata.default",
    "aten.sym_constrain_range.default",
    "aten.sym_constrain_range_for_size.default",
}
"""Operations without results that the importer takes."""


class DecompositionError(Exception):
    """A decomposition doesn't support an operation.

    Attributes:
        node: the operation.
        failure: the failure of the decomposition.
    """

    def __init__(self, node: Node, failure: Exception):
        super().__init__(str(failure))
        self.node = node
        self.failure = failure


@dataclass(frozen=True)
class Subgraph:
    """A graph that a higher-order operation takes, such as a branch of `torch.cond`."""

    module: GraphModule


@dataclass
class Decomposer:
    """Decomposes the operations of graphs, until none has a decomposition.

    Attributes:
        decomposition_of: returns the function that computes an operation by others, or None.
        is_kept: whether an operation stays as it is, given its arguments; without them, whether it
            does for all.
        graphs: the graphs that such operations refer to, by their names.
        constants: the tensors in graphs, by the targets of `get_attr` nodes.
    """

    decomposition_of: Callable[[Any], Callable[..., Any] | None]
    is_kept: Callable[[Any, Arguments | None], bool]
    graphs: dict[str, Graph] = field(default_factory=dict)
    constants: dict[str, Any] = field(default_factory=dict)
    _traced: dict[Any, Graph | None] = field(default_factory=dict)
    _fragments: dict[Any, Fragment | None] = field(default_factory=dict)
    _forms: dict[Node, Any] = field(default_factory=dict)
    _fake_mode: Any = None

    def decompose(self, module: GraphModule) -> Graph:
        """Return the graph of a module without operations that have a decomposition."""
        self._fake_mode = self._fake_mode or fake_mode_of(module)
        self._trace_forms(module)
        graph = Graph()
        whole = Fragment.of(module)
        graph.output(self._copy(whole, graph, _placeholders(graph, whole.inputs), None))
        graph.eliminate_dead_code(_is_impure)
        return graph

    def _trace_forms(self, module: GraphModule) -> None:
        """Trace the decompositions of all operations in a graph, and of those in these."""
        modules = [one for one in module.modules() if isinstance(one, torch.fx.GraphModule)]
        fragments = [*map(Fragment.of, modules)]
        nested = NestedDecompositions(self._nested_decomposition)
        while fragments:
            calls: dict[Any, Call] = {}
            for node in (node for fragment in fragments for node in fragment.nodes):
                function = self._function_of(node)
                if function is None or not _has_types(node):
                    continue
                key = self._form_of(node)
                if key not in self._fragments:
                    calls.setdefault(key, Call(function, node.args, node.kwargs, node.target))
            if len(calls) < 2:
                return
            with self._fake_mode:
                traced = trace_fragments([*calls.values()], nested)
            self._fragments.update(zip(calls, traced, strict=True))
            fragments = [each for each in traced if each is not None]

    def _copy(
        self,
        fragment: Fragment,
        graph: Graph,
        inputs: Sequence[Any],
        origin: Node | None,
    ) -> Any:
        """Copy a fragment to the end of a graph, decomposed, and return the outputs.

        Args:
            fragment: the fragment.
            graph: the graph to extend.
            inputs: the values of its inputs.
            origin: the operation that it decomposes, whose locations its nodes get.
        """
        values: dict[Node, Any] = dict(zip(fragment.inputs, inputs, strict=True))
        for node in fragment.nodes:
            if node.op == "get_attr":
                values[node] = self._attribute(node, fragment.module, graph)
            elif name_of(node.target) not in _DROPPED:
                args, kwargs = map_arg((node.args, node.kwargs), values.__getitem__)
                values[node] = self._emit(node, args, kwargs, graph, origin or node)
        return map_arg(fragment.outputs, values.__getitem__)

    def _attribute(self, node: Node, module: GraphModule, graph: Graph) -> Any:
        """Return the value of a node that gets an attribute of its module."""
        value: Any = module
        for part in str(node.target).split("."):
            value = getattr(value, part)
        if isinstance(value, torch.fx.GraphModule):
            return Subgraph(value)
        value = getattr(value, "constant", None) or value  # the value of a tensor that a trace made
        name = f"constant_{len(self.constants)}"
        self.constants[name] = value
        result = graph.get_attr(name)
        result.meta.update(node.meta)
        return result

    def _emit(
        self,
        node: Node,
        args: Any,
        kwargs: Any,
        graph: Graph,
        origin: Node,
    ) -> Any:
        """Add a node with given arguments to a graph, decomposed, and return its value."""
        target = node.target
        name = name_of(target)
        if is_identity(node):
            return args[0]
        if target is operator.getitem and not isinstance(args[0], Node):
            return args[0][args[1]]
        if name == "wrap_with_set_grad_enabled":
            return self._copy(Fragment.of(args[1].module), graph, args[2:], None)
        if name == "wrap_with_autocast":
            *_, subgraph = args[:5]  # disabled: `without_mutations` removes others
            return self._copy(Fragment.of(subgraph.module), graph, args[5:], None)
        if _is_empty(node):
            zeros = functools.partial(_zeros, graph, origin)
            return pytree.tree_map(zeros, node.meta["val"])
        if self.is_kept(target, (args, kwargs)) and _wrapper_of(node) is None:
            if name == local_maps.NAME:
                args = (Subgraph(self._body_of_map(node, *args)), *args)
            args = pytree.tree_map(self._name, args)
        else:
            try:
                decomposed = self._decomposed(node, args, kwargs)
            except DecompositionError as failure:
                set_source(failure.node, node)
                raise
            if decomposed is not None:
                return splice(decomposed, graph, tensor_nodes(args, kwargs), origin)
        result = graph.create_node("call_function", target, args, kwargs, name=node.name)
        result.meta.update(node.meta)
        set_source(result, origin)
        return result

    def _body_of_map(self, node: Node, number: int, tensors: Sequence[Node]) -> GraphModule:
        with self._tracing(node):
            return local_maps.map_of(number).graph([each.meta["val"] for each in tensors])

    def _name(self, argument: Any) -> Any:
        """Return the name of a subgraph, which is decomposed; other arguments stay."""
        if not isinstance(argument, Subgraph):
            return argument
        name = f"subgraph_{len(self.graphs)}"
        self.graphs[name] = argument.module.graph  # reserves the name
        self.graphs[name] = self.decompose(argument.module)
        return name

    def _decomposed(self, node: Node, args: Any, kwargs: Any) -> Graph | None:
        """Return the decomposed graph of an operation, whose placeholders are its tensors."""
        function = self._function_of(node)
        if function is None:
            return None
        nodes = tensor_nodes(args, kwargs)
        # The strides of given nodes are those of decompositions, and may differ.
        is_same = _has_types(node) and len(tensor_nodes(node.args, node.kwargs)) == len(nodes)
        key = self._form_of(node) if is_same else form_of(node.target, args, kwargs)
        if key not in self._traced:
            self._traced[key] = None  # for decompositions that lead back to the operation
            fragment = self._fragments.get(key)
            if fragment is None:
                given = (node.args, node.kwargs) if is_same else (args, kwargs)
                fragment = self._fragment(node, Call(function, *given))
            graph = Graph()
            graph.output(self._copy(fragment, graph, _placeholders(graph, nodes), None))
            graph.eliminate_dead_code(_is_impure)
            self._traced[key] = graph
        return self._traced[key]

    def _form_of(self, node: Node) -> Any:
        if node not in self._forms:
            self._forms[node] = form_of(node.target, node.args, node.kwargs)
        return self._forms[node]

    def _function_of(self, node: Node) -> Callable[..., Any] | None:
        """Return the function that computes an operation by others, or None."""
        if node.op != "call_function" or is_identity(node) or _is_empty(node):
            return None
        wrapper = _wrapper_of(node)
        if wrapper is not None:
            return functools.partial(wrapper, node.target)
        if self.is_kept(node.target, (node.args, node.kwargs)):
            return None
        return self.decomposition_of(node.target)

    def _nested_decomposition(self, operation: Any, arguments: Arguments | None) -> Any:
        """Return the function for an operation in a decomposition, or None if it stays there."""
        tensors = _tensors(arguments)
        if self.is_kept(operation, arguments) or _needs_lifting(operation, tensors):
            return None
        return None if _needs_widening(operation, tensors) else self.decomposition_of(operation)

    def _fragment(self, node: Node, call: Call) -> Fragment:
        """Trace a decomposition alone."""
        with self._tracing(node):
            return Fragment.of(trace_fragment(call))

    @contextmanager
    def _tracing(self, node: Node) -> Iterator[None]:
        """Trace without computing; a failure becomes one of the node."""
        with self._fake_mode:
            try:
                yield
            except Exception as failure:
                raise DecompositionError(node, failure) from failure


def _placeholders(graph: Graph, nodes: Sequence[Node]) -> list[Node]:
    results: list[Node] = []
    for node in nodes:
        placeholder = graph.placeholder(node.name)
        placeholder.meta.update(node.meta)
        results.append(placeholder)
    return results


def _has_types(node: Node) -> bool:
    """Whether the types of all inputs of an operation are known."""
    return all("val" in each.meta for each in node.all_input_nodes)


def _wrapper_of(node: Node) -> Callable[..., Any] | None:
    """Return the function that computes an operation on other tensors, or None."""
    arguments = [value for each in node.all_input_nodes for value in values_of(each)]
    values = (*arguments, *values_of(node))
    if arguments and _needs_lifting(node.target, values):
        return _lifted
    return _widened if _needs_widening(node.target, values) else None


def _needs_lifting(operation: Any, values: Sequence[Any]) -> bool:
    """Whether an operation has a dimension as argument, but no tensor has dimensions.

    The importer does not end for some of them.

    Args:
        operation: the operation.
        values: its tensors.
    """
    schema = getattr(operation, "_schema", None)
    if schema is None or not any(one.name in ("dim", "dims") for one in schema.arguments):
        return False
    if name_of(operation).startswith("aten.permute"):  # whose dimensions are those of the operand
        return False
    return bool(values) and all(
        isinstance(value, torch.Tensor) and value.dim() == 0 for value in values
    )


def _tensors(arguments: Arguments | None) -> list[torch.Tensor]:
    return [leaf for leaf in pytree.tree_leaves(arguments) if isinstance(leaf, torch.Tensor)]


def _lifted(operation: Any, *args: Any, **kwargs: Any) -> Any:
    """Compute an operation with one dimension more."""
    result = operation(
        *pytree.tree_map_only(torch.Tensor, lambda one: one.reshape(1), args), **kwargs
    )
    return pytree.tree_map_only(torch.Tensor, lambda one: one.reshape(()), result)


_ACCUMULATING = frozenset(
    {
        "_adaptive_avg_pool2d",
        "_adaptive_avg_pool3d",
        "adaptive_avg_pool1d",
        "adaptive_avg_pool2d",
        "adaptive_avg_pool3d",
        "avg_pool1d",
        "avg_pool2d",
        "avg_pool3d",
        "cumprod",
        "cumsum",
        "dist",
        "index_add",
        "linalg_vector_norm",
        "mean",
        "nansum",
        "norm",
        "prod",
        "rms_norm",
        "scatter.reduce",
        "scatter.value_reduce",
        "scatter_add",
        "scatter_reduce",
        "std",
        "std_mean",
        "sum",
        "trace",
        "var",
        "var_mean",
    }
)
"""Operations of ATen that eager PyTorch computes in 32 bits for numbers of 16 bits."""

_HALF = (torch.bfloat16, torch.float16)


def _needs_widening(operation: Any, values: Sequence[Any]) -> bool:
    """Whether numbers of 16 bits, with which sums end at 256 or overflow, are added up."""
    namespace, _, name = name_of(operation).partition(".")
    if namespace != "aten" or _ACCUMULATING.isdisjoint((name, name.partition(".")[0])):
        return False
    return any(isinstance(value, torch.Tensor) and value.dtype in _HALF for value in values)


def _widened(operation: Any, *args: Any, **kwargs: Any) -> Any:
    """Compute an operation in 32 bits, and round its results."""
    halves = [each.dtype for each in _tensors((args, kwargs)) if each.dtype in _HALF]
    dtype = kwargs.get("dtype") or halves[0]
    if "dtype" in kwargs:
        kwargs["dtype"] = torch.float32
    args, kwargs = pytree.tree_map_only(
        torch.Tensor, lambda one: one.float() if one.dtype in _HALF else one, (args, kwargs)
    )
    return pytree.tree_map_only(torch.Tensor, lambda one: one.to(dtype), operation(*args, **kwargs))


def _is_empty(node: Node) -> bool:
    """Whether the results of an operation are tensors without elements.

    The importer fails on some operations on them.
    """
    if not isinstance(node.target, torch._ops.OpOverload):
        return False
    results = values_of(node)
    return bool(results) and all(
        isinstance(value, torch.Tensor) and 0 in value.shape for value in results
    )


def _zeros(graph: Graph, origin: Node, value: torch.Tensor) -> Node:
    """Add a constant of a type to a graph."""
    arguments = list(value.shape), 0
    node = graph.call_function(torch.ops.aten.full.default, arguments, {"dtype": value.dtype})
    node.meta["val"] = value
    set_source(node, origin)
    return node


def _is_impure(node: Node) -> bool:
    return node.op in ("placeholder", "output")


_IDENTITY_FOR_EQUAL_TYPES = frozenset(
    {
        "_to_copy",
        "_unsafe_view",
        "alias",
        "broadcast_to",
        "clone",
        "contiguous",
        "detach",
        "expand",
        "expand_as",
        "flatten",
        "lift_fresh",
        "lift_fresh_copy",
        "narrow",
        "positive",
        "repeat",
        "reshape",
        "resolve_conj",
        "resolve_neg",
        "slice",
        "squeeze",
        "to",
        "type_as",
        "unflatten",
        "view",
        "view_as",
    }
)
"""Operations of ATen that return their first argument if the result has its shape and type."""

_DROPOUTS = frozenset({"alpha_dropout", "dropout", "feature_alpha_dropout", "feature_dropout"})
"""Operations of ATen that return their first argument if the last one is false."""


def is_identity(node: Node) -> bool:
    """Whether an operation returns its first argument.

    Examples: a dropout for inference, `x.to(torch.float32)` of 32-bit numbers, `x[:]`,
    `x.permute(0, 1)`.
    """
    namespace, _, name = name_of(node.target).partition(".")
    if namespace != "aten":
        return False
    name = name.partition(".")[0]
    if name in ("t", "transpose") and _rank_of(node) == 0:
        return True
    if name == "permute":
        order: Any = node.args[1]
        return [*order] == [*range(len(order))]
    if name in _DROPOUTS:
        return len(node.args) == 3 and node.args[2] is False
    return name in _IDENTITY_FOR_EQUAL_TYPES and _keeps_type(node)


def _rank_of(node: Node) -> int | None:
    """Return the number of dimensions of a result, if it is one tensor."""
    result = node.meta.get("val")
    return result.dim() if isinstance(result, torch.Tensor) else None


def _keeps_type(node: Node) -> bool:
    """Whether the result of an operation has the shape and the type of its first argument."""
    source, result = node.args[0] if node.args else None, node.meta.get("val")
    value = source.meta.get("val") if isinstance(source, Node) else None
    if not isinstance(value, torch.Tensor) or not isinstance(result, torch.Tensor):
        return False
    return value.shape == result.shape and value.dtype == result.dtype
