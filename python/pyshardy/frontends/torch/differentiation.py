# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Differentiation of exported graphs by PyTorch's autograd.

A graph is run on stand-ins with autograd behind it while all operations are recorded. So operations
are decomposed after differentiation, and keep the derivatives that PyTorch has for them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._higher_order_ops import effects
from torch._subclasses.functional_tensor import dispatch_functionalize
from torch.export import ExportedProgram
from torch.fx import GraphModule, Interpreter, Node, traceback
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

from mlir_sdy.diagnostics import UsageError, error
from pyshardy.frontends.torch.autograd_calls import call_of, is_exported
from pyshardy.frontends.torch.decompositions.layers import multilabel_margin_loss
from pyshardy.frontends.torch.fragments import without_mkldnn
from pyshardy.frontends.torch.registry import short_name
from pyshardy.frontends.torch.replacing import replaced_attribute
from pyshardy.frontends.torch.signature import Result, Signature, graph_of_tensors, signature_of
from pyshardy.frontends.torch.tensor_numbers import numbers_as_tensors


def interpreter(
    module: GraphModule, origins: dict[Any, Node], known: dict[int, torch.Tensor]
) -> Interpreter:
    """Return an interpreter of a graph with autograd behind it.

    Args:
        module: the graph.
        origins: gets the node that each function of autograd belongs to.
        known: the stand-ins in use, from `stand_ins`.
    """

    class Noting(torch.fx.Interpreter):
        def run_node(self, n: Node) -> Any:
            call = call_of(n)
            if call is None:
                value = super().run_node(n)
            else:
                with self._set_current_node(n):
                    value = call.run(self.fetch_args_kwargs_from_env(n)[0][1], known)
            name = getattr(n.target, "__name__", "")
            if isinstance(n.target, torch._ops.HigherOrderOperator) and name not in _REGIONS:
                _check_derivative(n, self.fetch_args_kwargs_from_env(n), value)
            for leaf in pytree.tree_leaves(value):
                if isinstance(leaf, torch.Tensor):
                    for function in _functions_of(leaf, origins):
                        origins[function] = n
            return value

        def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
            name = getattr(target, "__name__", "")
            if name == "wrap_with_set_grad_enabled":
                with torch.set_grad_enabled(args[0]):
                    return Noting(args[1]).run(*args[2:])
            if name == "wrap_with_autocast":
                device_type, dtype, enabled, cache_enabled, inner, *inputs = args
                with torch.autocast(device_type, dtype, enabled, cache_enabled):
                    return Noting(inner).run(*inputs)
            if name == "view.default":  # strides may differ from those of the exported graph
                return torch.ops.aten.reshape.default(*args, **kwargs)
            if name == "index_fill.int_Tensor":  # whose gradient has a shape that depends on values
                return _filled(*args)
            if name == "embedding.default":  # without sparse gradients
                return torch.ops.aten.embedding.default(*args[:4])
            if name == "multilabel_margin_loss.default":
                return multilabel_margin_loss(*args, **kwargs)
            if name == "linalg_solve.default":
                # Gradients of PyTorch 2.7 take the factors of a row-major matrix as those of its
                # transpose, as LAPACK sees it.
                args = args[0].mT.contiguous().mT, *args[1:]
            return super().call_function(target, args, kwargs)

    return Noting(module)


_REGIONS = ("wrap_with_autocast", "wrap_with_set_grad_enabled")
"""Operations whose graphs are interpreted, too."""


def _check_derivative(node: Node, arguments: Any, results: Any) -> None:
    """Check that autograd has recorded an operation on graphs, such as a loop.

    Raises:
        UsageError: its results don't depend on its arguments for autograd.
    """
    needed, outputs = (
        [each for each in pytree.tree_leaves(tree) if isinstance(each, torch.Tensor)]
        for tree in (arguments, results)
    )
    is_lost = any(each.requires_grad for each in needed) and not any(
        each.requires_grad for each in outputs
    )
    if is_lost and torch.is_grad_enabled() and any(map(torch.is_floating_point, outputs)):
        name = short_name(node.target)
        raise UsageError(error(f"'{name}' has no derivative in PyTorch; write it without a loop"))


def _filled(
    tensor: torch.Tensor, dim: int, index: torch.Tensor, value: torch.Tensor
) -> torch.Tensor:
    """Return a tensor with a value at some indices of a dimension."""
    size = tensor.shape[dim] if tensor.dim() else 1
    index = torch.where(index < 0, index + size, index)
    is_filled = (torch.arange(size).unsqueeze(1) == index.reshape(1, -1)).any(1)
    shape = [1] * tensor.dim()
    if shape:
        shape[dim] = size
    return torch.where(is_filled.reshape(shape), value, tensor)


def _functions_of(tensor: torch.Tensor, known: Mapping[Any, Any]) -> Iterator[Any]:
    """Yield the functions of autograd that a tensor comes from, unless they are known."""
    remaining = [tensor.grad_fn]
    while remaining:
        function = remaining.pop()
        if function is None or function in known:
            continue
        yield function
        remaining += [each for each, _ in function.next_functions]


@contextlib.contextmanager
def stand_ins(
    values: Mapping[torch.Tensor, torch.Tensor],
) -> Iterator[dict[int, torch.Tensor]]:
    """Replace the tensors of a module by other tensors inside the `with` block.

    Functions and hooks for autograd reach the tensors of a module by themselves.

    Args:
        values: the tensors to use, by those of the module.

    Yields:
        The tensors to use by the identities of others, which may be extended.

    Raises:
        UsageError: in the block, for a tensor of the exported graph that has no stand-in.
    """
    by_identity = {id(tensor): value for tensor, value in values.items()}

    def replaced(leaf: torch.Tensor) -> torch.Tensor:
        if id(leaf) not in by_identity and is_exported(leaf):
            message = "a function or hook for autograd uses a tensor that isn't known when it is"
            raise UsageError(error(f"{message} registered; make the tensor before"))
        return by_identity.get(id(leaf), leaf)

    class Mode(TorchFunctionMode):
        """Replaces the arguments of functions."""

        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            arguments = pytree.tree_map_only(torch.Tensor, replaced, (args, kwargs or {}))
            return func(*arguments[0], **arguments[1])

    mode = Mode()
    run_engine: Any = torch.autograd.graph._engine_run_backward

    def with_mode(*args: Any, **kwargs: Any) -> Any:
        """Run the engine, which calls functions and hooks, in the mode; `grad` has left it."""
        with mode:
            return run_engine(*args, **kwargs)

    with replaced_attribute(torch.autograd, "_engine_run_backward", with_mode), mode:
        yield by_identity


def record(
    function: Callable[..., Any],
    inputs: Sequence[torch.Tensor],
    decompositions: Mapping[Any, Callable[..., Any]] | None = None,
) -> GraphModule:
    """Return the graph of a function that runs an interpreter.

    Args:
        function: the function, which returns a list of tensors; `dispatch_functionalize` makes
            one that leaves no operations in place.
        inputs: tensors without values, of one fake mode.
        decompositions: functions to trace in the place of operations.
    """
    modes = (getattr(value, "fake_mode", None) for value in inputs)
    mode: Any = next(mode for mode in modes if mode is not None)
    with (
        mode,
        traceback.preserve_node_meta(),
        enable_python_dispatcher(),
        sdpa_kernel(SDPBackend.MATH),  # the others compute the gradients in one operation
        replaced_attribute(effects, "has_effects", _never),  # checks whether an inverse exists
        without_mkldnn(),  # which has recurrent layers in one operation
        replaced_attribute(torch.compiler, "_is_compiling_flag", True),  # no numbers from tensors
    ):
        table = {**decompositions} if decompositions else None
        return make_fx(function, decomposition_table=table)(*inputs)


def _never(*_: Any) -> bool:
    return False


def origin_of(node: Any) -> Any:
    """Return the node whose value a node passes on."""
    while getattr(node.target, "__name__", "") in ("detach.default", "alias.default"):
        node = node.args[0]
    return node


def with_derivatives(
    program: ExportedProgram, weights: Mapping[str, torch.Tensor]
) -> tuple[Signature, GraphModule]:
    """Return the graph of a program in which the derivatives that it asks for are computed.

    Args:
        program: a program that was exported inside of `kept_calls`.
        weights: the parameters and buffers of its module by their paths.

    Returns:
        The arguments and results, and the graph, which changes no tensor in place: changed
        arguments are results.
    """
    module = numbers_as_tensors(graph_of_tensors(program))
    signature = signature_of(program)
    inputs = [node.meta["val"] for node in module.graph.nodes if node.op == "placeholder"]

    def run(*arguments: torch.Tensor) -> list[torch.Tensor]:
        values = [
            argument.detach().requires_grad_() if given.requires_grad else argument
            for argument, given in zip(arguments, inputs, strict=True)
        ]
        by_name = dict(zip(signature.arguments, values, strict=True))
        used = {weights[name]: value for name, value in by_name.items() if name in weights}
        with stand_ins(used) as known:
            outputs = interpreter(module, {}, known).run(*values)
        return [value.detach() for value in (*values, *outputs)]

    traced = record(dispatch_functionalize(run), inputs)
    graph = traced.graph
    placeholders = [node for node in graph.nodes if node.op == "placeholder"]
    (output,) = (node for node in graph.nodes if node.op == "output")
    count = len(placeholders)
    changed = [
        index
        for index, (before, after) in enumerate(zip(placeholders, output.args[0], strict=False))
        if origin_of(after) is not before
    ]
    values = output.args[0]
    output.args = ([*(values[index] for index in changed), *values[count:]],)
    graph.eliminate_dead_code(lambda node: node.op in ("placeholder", "output"))
    traced.recompile()
    results = *(signature.arguments[index] for index in changed), *signature.results
    outputs = tuple(
        replace(each, index=each.index + len(changed)) if isinstance(each, Result) else each
        for each in signature.outputs
    )
    return replace(signature, results=results, outputs=outputs), traced
