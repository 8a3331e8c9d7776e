# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The graph of a training step: forward, backward and optimizer.

`torch.export` gives the graph of the loss, with names and source locations, which `differentiation`
runs with autograd behind it. Operations of the backward pass get the locations of the forward
operation that they belong to.

PyTorch's own functions for joint graphs require a gradient for each parameter and leave out the
optimizer.
"""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportPrivateUsage=false, reportMissingTypeStubs=false

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._subclasses.functional_tensor import dispatch_functionalize
from torch.fx import Graph, GraphModule, Node, traceback

from mlir_sdy.diagnostics import UsageError, error
from pyshardy.frontends.torch.differentiation import interpreter, origin_of, record, stand_ins
from pyshardy.frontends.torch.fragments import fake_mode_of
from pyshardy.frontends.torch.training.forward import Forward
from pyshardy.frontends.torch.training.optimizers import make_step
from pyshardy.frontends.torch.training.randomness import SeededRandomness
from pyshardy.frontends.torch.training.scopes import Places, caller
from pyshardy.frontends.torch.training.state import OptimizerState, StepNames


@dataclass(frozen=True)
class StepGraph:
    """The graph of a training step.

    Attributes:
        module: the graph, which changes no tensor in place.
        arguments: the names of its arguments.
        results: the names of its results: the loss, and changed arguments.
        without_gradient: the parameters that have no gradient.
    """

    module: GraphModule
    arguments: tuple[str, ...]
    results: tuple[str, ...]
    without_gradient: tuple[str, ...]


def step_graph(
    forward: Forward,
    state: OptimizerState,
    names: StepNames,
    before_step: Callable[[list[torch.Tensor]], object] | None = None,
) -> StepGraph:
    """Return the graph of a training step.

    Args:
        forward: the model with its loss.
        state: the optimizer with its state.
        names: the names of the loss and the seed.
        before_step: a function of the parameters, called between the backward pass and the
            optimizer.

    Raises:
        UsageError: the loss depends on no parameter, or the step of the optimizer can't be traced.
    """
    places = Places(caller())
    graph = forward.module.graph
    places.name_forward(graph)
    inputs = [node.meta["val"] for node in graph.nodes if node.op == "placeholder"]
    tensors = state.tensors()
    with fake_mode_of(forward.module):
        of_state = [torch.empty(each.shape, dtype=each.dtype) for each in tensors.values()]
        seed = torch.zeros((), dtype=torch.int64)
    randomness = SeededRandomness()
    step = _Step(forward, state, tuple(tensors), names.loss, before_step, places)
    functional = dispatch_functionalize(step.run)

    def seeded(seed: torch.Tensor, *arguments: torch.Tensor) -> Any:
        randomness.seed = seed
        return functional(*arguments)

    module = record(seeded, [seed, *of_state, *inputs], randomness.definitions())
    arguments = [names.seed, *tensors, *forward.signature.arguments]
    return _pruned(module, arguments, step)


@dataclass
class _Step:
    """A training step on stand-ins.

    Attributes:
        tensors: the names of the first arguments of `run`, those for the optimizer.
        loss: the name of the loss among the results.
        results: the names of the results of `run`, which the first call sets.
        without_gradient: the parameters that have no gradient, which the first call sets.
    """

    forward: Forward
    state: OptimizerState
    tensors: Sequence[str]
    loss: str
    before_step: Callable[[list[torch.Tensor]], object] | None
    places: Places
    results: list[str] = field(default_factory=list)
    without_gradient: list[str] = field(default_factory=list)

    def run(self, *arguments: torch.Tensor) -> list[torch.Tensor]:
        """Return the loss, and all state after the step."""
        count = len(self.tensors)
        states = dict(zip(self.tensors, arguments[:count], strict=True))
        values = dict(zip(self.forward.signature.arguments, arguments[count:], strict=True))
        for name in self.forward.differentiated:
            values[name] = values[name].detach().requires_grad_()
        leaves = {name: values[name] for name in self.state.names}
        for name, leaf in leaves.items():
            for hook in (self.forward.parameters[name]._backward_hooks or {}).values():
                leaf.register_hook(hook)
        of_module = {**self.forward.signature.state, **self.forward.parameters}
        with stand_ins({tensor: values[name] for name, tensor in of_module.items()}) as known:
            loss, gradients = _gradients(self.forward, values, leaves, self.places, known)
        trained: dict[Any, torch.Tensor] = {}
        of_parameters: dict[Any, dict[str, torch.Tensor]] = {}
        for (name, leaf), gradient in zip(leaves.items(), gradients, strict=True):
            if gradient is None:
                self.without_gradient.append(name)
                continue
            leaf.grad = gradient
            parameter = self.forward.parameters[name]
            trained[parameter] = leaf
            of_parameters[parameter] = {
                key: states[each].clone() for key, each in self.state.names[name].items()
            }
        rates = [states[name] for name in self.state.rates]
        with traceback.set_current_meta(self.places.optimizer):
            make_step(self.state.optimizer, trained, of_parameters, rates, self.before_step)
        results = {self.loss: loss.detach()}
        results |= {name: leaf.detach() for name, leaf in leaves.items()}
        for name in self.forward.signature.state:
            results.setdefault(name, values[name])
        for name in self.state.names:
            after = of_parameters.get(self.forward.parameters[name], {})
            for key, each in self.state.names[name].items():
                if key in after:
                    results.setdefault(each, after[key])
        self.results[:] = results
        return [*results.values()]


def _gradients(
    forward: Forward,
    values: Mapping[str, torch.Tensor],
    leaves: Mapping[str, torch.Tensor],
    places: Places,
    known: dict[int, torch.Tensor],
) -> tuple[torch.Tensor, Sequence[torch.Tensor | None]]:
    """Return the loss and the gradients of leaves, None for those that it doesn't depend on."""
    origins: dict[Any, Node] = {}
    arguments = [values[name] for name in forward.signature.arguments]
    outputs = interpreter(forward.module, origins, known).run(*arguments)
    loss = outputs[-1]
    if loss.grad_fn is None:
        raise UsageError(error(_INDEPENDENT))
    with contextlib.ExitStack() as current:
        last: list[Any] = [current.enter_context(contextlib.ExitStack())]

        def before(origin: Node) -> Callable[[Any], None]:
            def hook(_: Any) -> None:
                last[0].close()
                last[0].enter_context(traceback.set_current_meta(places.backward(origin)))

            return hook

        before(origins[loss.grad_fn])(None)
        for function, origin in origins.items():
            function.register_prehook(before(origin))
        inputs = [*leaves.values()]
        gradients: Any = torch.autograd.grad(loss, inputs, allow_unused=True)
    if all(gradient is None for gradient in gradients):
        raise UsageError(error(_INDEPENDENT))
    return loss, gradients


_INDEPENDENT = "the loss depends on no parameter that the optimizer trains"


def _pruned(module: GraphModule, names: Sequence[str], step: _Step) -> StepGraph:
    """Remove results that are unchanged arguments, and state without use."""
    graph: Graph = module.graph
    (output,) = [node for node in graph.nodes if node.op == "output"]
    placeholders = [node for node in graph.nodes if node.op == "placeholder"]
    by_name = dict(zip(names, placeholders, strict=True))
    kept = {
        name: node
        for name, node in zip(step.results, output.args[0], strict=True)
        if origin_of(node) is not by_name.get(name)
    }
    output.args = ([*kept.values()],)
    graph.eliminate_dead_code(lambda node: node.op in ("placeholder", "output"))
    of_model = {*step.forward.signature.arguments}
    arguments = [name for name, node in by_name.items() if node.users or name in of_model]
    # The arguments of the model come first, and then the state, inputs and targets.
    inputs = {each for each in step.forward.signature.inputs if isinstance(each, str)}
    order = [name for name in arguments if name in of_model and name not in inputs]
    order += [name for name in arguments if name not in of_model]
    order += [name for name in arguments if name in inputs]
    for name, node in by_name.items():
        if name not in arguments:
            graph.erase_node(node)
    first = next(node for node in graph.nodes if node.op != "placeholder")
    for name in order:
        first.prepend(by_name[name])
    module.recompile()
    return StepGraph(module, tuple(order), tuple(kept), tuple(step.without_gradient))
