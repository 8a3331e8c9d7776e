# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model with its loss, exported as one graph, and the scopes of its operations.

The scopes have the form of JAX, so that reports separate the passes (see `irtools.scopes`):

| pass      | scope of the operations of `blocks.0.up` |
|-----------|------------------------------------------|
| forward   | `jvp(blocks.0/up)`                       |
| backward  | `transpose(jvp(blocks.0/up))`            |
| optimizer | `optimizer`                              |
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind
from torch.fx import Graph, GraphModule, Node

from mlir_sdy.diagnostics import SourceLocation, UsageError, error
from pyshardy.frontends.torch.autograd_calls import check_hooks
from pyshardy.frontends.torch.frames import OWN_FOLDER, frames_outside, place_in
from pyshardy.frontends.torch.signature import (
    Signature,
    graph_of_tensors,
    merge_tied,
    signature_of,
)
from pyshardy.frontends.torch.tensor_numbers import numbers_as_tensors
from pyshardy.frontends.torch.tracing import exported


class Places:
    """The metadata of the operations of a training step.

    Args:
        caller: the frame of the user's call, for operations without a line of the model.
    """

    def __init__(self, caller: str) -> None:
        self._caller = caller
        self._nodes = Graph()
        self.optimizer = self._named("optimizer", caller, "optimizer")

    def name_forward(self, graph: Graph) -> None:
        """Mark the operations of an exported graph as those of the forward pass."""
        for node in graph.nodes:
            if node.op == "call_function":
                path = _path(node).removeprefix("model").removeprefix(".")
                _set(node, self._trace(node), f"jvp({path})")

    def backward(self, node: Node) -> Node:
        """Return a node with the metadata for the gradients of an operation."""
        return self._named("backward", self._trace(node), f"transpose({_path(node) or 'jvp()'})")

    def _named(self, name: str, trace: str, path: str) -> Node:
        node = self._nodes.placeholder(name)
        _set(node, trace, path)
        return node

    def _trace(self, node: Node) -> str:
        """Return the frames of a node in the user's files, or else that of the user's call."""
        trace = frames_outside(node.meta.get("stack_trace") or "", OWN_FOLDER)
        place = place_in(trace)
        return self._caller if place is None or place.filename.startswith(OWN_FOLDER) else trace


def _path(node: Node) -> str:
    stack = node.meta.get("nn_module_stack")
    return [*stack.values()][-1][0] if stack else ""


def _set(node: Node, trace: str, path: str) -> None:
    node.meta["stack_trace"] = trace
    node.meta["nn_module_stack"] = {path: (path, "")}


def caller() -> str:
    """Return the frame of the user's call of this package."""
    # Those of decorators come after the first one.
    folders = OWN_FOLDER, contextlib.__file__, str(Path(torch.__file__).parent)
    for frame in reversed(traceback.extract_stack()):
        if not frame.filename.startswith(folders):
            return "".join(traceback.format_list([frame]))
    return ""


def source_of(node: Node) -> SourceLocation | None:
    """Return the location of an operation in the user's source, or None."""
    folders = str(Path(torch.__file__).parent), OWN_FOLDER
    trace = node.meta.get("stack_trace") or ""
    for folder in folders:
        trace = frames_outside(trace, folder)
    place = place_in(trace)
    return None if place is None or place.filename.startswith(folders) else place


Loss = Callable[..., Any]
"""Returns a scalar from the output of a model and the targets."""


@dataclass(frozen=True)
class Forward:
    """A model with its loss.

    Attributes:
        module: the graph, which may change buffers in place, and whose result is the loss.
        signature: its arguments: parameters and buffers by their paths in the model, those of the
            loss behind `loss.`, constants, inputs, and targets.
        parameters: the parameters by the names of their arguments.
        differentiated: the names of the arguments that require a gradient.
        targets: the names of the targets in the tree of inputs.
        in_tree: the tree of the inputs and targets; see `flat_inputs`.
    """

    module: GraphModule
    signature: Signature
    parameters: Mapping[str, torch.nn.Parameter]
    differentiated: Sequence[str]
    targets: tuple[str, ...]
    in_tree: Any


def forward_of(
    model: torch.nn.Module,
    loss: Loss | None,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    targets: Sequence[Any],
) -> Forward:
    """Export a model with its loss.

    Args:
        model: the model.
        loss: the loss; by default, the model returns it, alone or as `loss`.
        args: the positional inputs of the model.
        kwargs: its keyword inputs.
        targets: the arguments of the loss after the output of the model.

    Raises:
        UsageError: PyTorch can't export the model, or the loss isn't a scalar.
    """
    check_hooks(model)
    names = _names_of_targets(model, loss, len(targets))
    module = _with_loss(model, loss, names)
    given = {**kwargs, **dict(zip(names, targets, strict=True))}
    program = exported(module, args, given, is_differentiated=True)
    _check_loss(program)
    merge_tied(program)
    loss_prefix = "loss_function" if hasattr(model, "loss") else "loss"
    path_of = functools.partial(_renamed, loss_prefix=loss_prefix)
    signature = signature_of(program, path_of, names)
    by_name = {
        path_of(spec.target): module.get_parameter(spec.target)
        for spec in program.graph_signature.input_specs
        if spec.kind is InputKind.PARAMETER and spec.target is not None
    }
    graph = numbers_as_tensors(graph_of_tensors(program))
    inputs = [node.meta["val"] for node in graph.graph.nodes if node.op == "placeholder"]
    differentiated = [
        name for name, value in zip(signature.arguments, inputs, strict=True) if value.requires_grad
    ]
    return Forward(graph, signature, by_name, differentiated, names, program.call_spec.in_spec)


def _renamed(path: str, loss_prefix: str) -> str:
    """Return the path in the model for one in the module around it."""
    first, _, rest = path.partition(".")
    return {"model": rest, "loss": f"{loss_prefix}.{rest}"}.get(first, path) if rest else path


def _names_of_targets(model: torch.nn.Module, loss: Loss | None, count: int) -> tuple[str, ...]:
    """Return the names of the targets: those of the parameters of the loss function."""
    taken = {*inspect.signature(model.forward).parameters}
    names: list[str] = []
    try:
        function = getattr(loss, "forward", loss)
        parameters = [*inspect.signature(function).parameters.values()] if function else []
    except (TypeError, ValueError):  # a function that is written in C
        parameters = []
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    given = [each.name for each in parameters[1:] if each.kind in positional][:count]
    given += [f"target_{index}" for index in range(len(given), count)]
    for name in given:
        while name in taken:
            name += "_target"  # noqa: PLW2901
        taken.add(name)
        names.append(name)
    return tuple(names)


def _with_loss(
    model: torch.nn.Module, loss: Loss | None, targets: Sequence[str]
) -> torch.nn.Module:
    """Return a module with the inputs of a model and the targets, whose output is the loss."""

    def forward(*args: Any, **kwargs: Any) -> Any:
        given = [kwargs.pop(name) for name in targets]
        output = model(*args, **kwargs)
        return _loss_in(output) if loss is None else loss(output, *given)

    # `torch.export` names the inputs by the parameters of the function.
    signature = inspect.signature(model.forward)
    parameters = [*signature.parameters.values()]
    rest = inspect.Parameter.VAR_KEYWORD
    position = next((i for i, each in enumerate(parameters) if each.kind is rest), len(parameters))
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters[position:position] = [inspect.Parameter(name, keyword) for name in targets]
    forward.__dict__["__signature__"] = signature.replace(parameters=parameters)

    whole = torch.nn.Module()
    whole.model = model
    if isinstance(loss, torch.nn.Module):
        whole.loss = loss
    whole.forward = forward
    return whole


def _loss_in(output: Any) -> Any:
    """Return the loss in the output of a model that computes it."""
    if isinstance(output, Mapping):
        return output.get("loss", output)
    loss = getattr(output, "loss", None)
    return output if loss is None else loss


def _check_loss(program: ExportedProgram) -> None:
    """Raise an error unless the only output is a floating-point scalar."""
    specs = program.graph_signature.output_specs
    outputs = [spec for spec in specs if spec.kind is OutputKind.USER_OUTPUT]
    by_name = {node.name: node for node in program.graph.nodes}
    message = "the loss must be a tensor with one floating-point number"
    node = by_name.get(getattr(outputs[0].arg, "name", "")) if outputs else None
    if len(outputs) != 1 or node is None:
        got = f"{len(outputs)} values" if len(outputs) != 1 else type(outputs[0].arg).__name__
        hint = "pass 'loss', a function of the model's output and the targets"
        raise UsageError(error(f"{message}, got: {got}; {hint}"))
    value = node.meta["val"]
    if value.ndim or not value.dtype.is_floating_point:
        got = f"{str(value.dtype).removeprefix('torch.')} of shape {tuple(value.shape)}"
        hint = "; return its mean or sum" if value.dtype.is_floating_point else ""
        raise UsageError(error(f"{message}, got: {got}{hint}", source_of(node)))
