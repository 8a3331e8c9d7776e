# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The graph of a training step: forward, backward and optimizer.

`torch.export` gives the graph of the loss, with names and source locations, which `differentiation`
runs with autograd behind it. Operations of the backward pass get the locations of the forward
operation that they belong to. PyTorch's own functions for joint graphs require a gradient for each
parameter and leave out the optimizer.

Random operations become functions of a seed. Each gets numbers by hashing the seed, the index of
the operation, and the position of the element. All operations are elementwise, so the numbers don't
depend on the sharding, the backend or the number of devices, and each device computes those of its
own shards only. The hash is the finalizer of SplitMix64 (Steele, Lea and Flood 2014), twice.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch._subclasses.functional_tensor import dispatch_functionalize
from torch.fx import Graph, GraphModule, Node, traceback

from mlir_sdy.diagnostics import UsageError, error
from pyshardy.frontends.torch.differentiation import interpreter, origin_of, record, stand_ins
from pyshardy.frontends.torch.fragments import fake_mode_of
from pyshardy.frontends.torch.training.forward import Forward, Places, caller
from pyshardy.frontends.torch.training.optimizers import OptimizerState, StepNames, make_step


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
        of_module = {tensor: values[name] for name, tensor in of_module.items()}
        with stand_ins(of_module) as known:
            loss, gradients = _gradients(self.forward, values, leaves, self.places, known)
        trained: dict[Any, torch.Tensor] = {}
        of_parameters: dict[Any, dict[str, torch.Tensor]] = {}
        for (name, leaf), gradient in zip(leaves.items(), gradients, strict=True):
            if gradient is None:
                continue
            leaf.grad = gradient
            parameter = self.forward.parameters[name]
            trained[parameter] = leaf
            of_parameters[parameter] = {
                key: states[each].clone() for key, each in self.state.names[name].items()
            }
        rates = [states[name] for name in self.state.rates]
        # The optimizer's hooks and 'before_step' may reach the parameters by themselves.
        with traceback.set_current_meta(self.places.optimizer), stand_ins(of_module):
            make_step(self.state.optimizer, trained, of_parameters, rates, self.before_step)
        # 'before_step' may have removed a gradient, so that the optimizer passes over it.
        self.without_gradient[:] = [name for name, leaf in leaves.items() if leaf.grad is None]
        results = {self.loss: loss.detach()}
        results |= {name: leaf.detach() for name, leaf in leaves.items()}
        for name in self.forward.signature.state:
            results.setdefault(name, values[name])
        for name in self.state.without(self.without_gradient).names:
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


_GOLDEN = 0x9E3779B97F4A7C15
_BITS = 24  # of a uniform number, as many as the mantissa of f32 has


class SeededRandomness:
    """Definitions of random operations that take numbers from a seed.

    Attributes:
        seed: a scalar of 64 bits, which must be set before the definitions are called.
    """

    def __init__(self) -> None:
        self.seed: torch.Tensor | None = None
        self._calls = 0

    def definitions(self) -> dict[Any, Callable[..., Any]]:
        """Return the definitions by operation, as `make_fx` takes decompositions."""
        aten = torch.ops.aten

        def native_dropout(x: torch.Tensor, p: float, train: bool | None) -> Any:
            if train is False or p == 0:
                return x.clone(), torch.ones_like(x, dtype=torch.bool)
            if p == 1:
                return torch.zeros_like(x), torch.zeros_like(x, dtype=torch.bool)
            mask = self._uniform(x.shape) >= p
            return x * mask * (1 / (1 - p)), mask

        def bernoulli(x: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
            return (self._uniform(x.shape) < x).to(x.dtype)

        def bernoulli_p(x: torch.Tensor, p: float = 0.5, **_: Any) -> torch.Tensor:
            return (self._uniform(x.shape) < p).to(x.dtype)

        def uniform(x: torch.Tensor, low: float = 0, high: float = 1, **_: Any) -> torch.Tensor:
            return (self._uniform(x.shape) * (high - low) + low).to(x.dtype)

        def normal(x: torch.Tensor, mean: float = 0, std: float = 1, **_: Any) -> torch.Tensor:
            return (self._normal(x.shape) * std + mean).to(x.dtype)

        def rand(size: Sequence[int], dtype: Any = None, **_: Any) -> torch.Tensor:
            return self._uniform(size).to(dtype or torch.get_default_dtype())

        def randn(size: Sequence[int], dtype: Any = None, **_: Any) -> torch.Tensor:
            return self._normal(size).to(dtype or torch.get_default_dtype())

        def rand_like(x: torch.Tensor, dtype: Any = None, **_: Any) -> torch.Tensor:
            return self._uniform(x.shape).to(dtype or x.dtype)

        def randn_like(x: torch.Tensor, dtype: Any = None, **_: Any) -> torch.Tensor:
            return self._normal(x.shape).to(dtype or x.dtype)

        def randint(low: int, high: int, size: Sequence[int], dtype: Any = None, **_: Any) -> Any:
            numbers = _shifted(self._bits(size), 1)
            return (numbers % (high - low) + low).to(dtype or torch.int64)

        return {
            aten.native_dropout.default: native_dropout,
            aten.bernoulli.default: bernoulli,
            aten.bernoulli.p: bernoulli_p,
            aten.uniform.default: uniform,
            aten.normal_functional.default: normal,
            aten.rand.default: rand,
            aten.randn.default: randn,
            aten.rand_like.default: rand_like,
            aten.randn_like.default: randn_like,
            aten.randint.low: randint,
            aten.randint.default: partial(randint, 0),
        }

    def _bits(self, shape: Sequence[int]) -> torch.Tensor:
        """Return numbers with 64 random bits."""
        assert self.seed is not None
        stream = _mixed(self.seed + _signed(self._calls * _GOLDEN))
        self._calls += 1
        position: torch.Tensor | int = 0
        for dim, size in enumerate(shape):
            index = torch.arange(size, device=self.seed.device) * math.prod(shape[dim + 1 :])
            position = position + index.view([size] + [1] * (len(shape) - dim - 1))
        return _mixed((stream + position * _signed(_GOLDEN)).expand(tuple(shape)))

    def _uniform(self, shape: Sequence[int]) -> torch.Tensor:
        """Return numbers from 0 to 1, without 1."""
        bits = _shifted(self._bits(shape), 64 - _BITS)
        return bits.to(torch.float32) * 2.0**-_BITS

    def _normal(self, shape: Sequence[int]) -> torch.Tensor:
        """Return normally distributed numbers, by the transform of Box and Muller."""
        radius = torch.sqrt(-2 * torch.log1p(-self._uniform(shape)))
        return radius * torch.cos(2 * math.pi * self._uniform(shape))


def _mixed(x: torch.Tensor) -> torch.Tensor:
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ _shifted(x, shift)) * _signed(factor)
    return x ^ _shifted(x, 31)


def _shifted(x: torch.Tensor, by: int) -> torch.Tensor:
    """Shift right, and fill with zeros; PyTorch has no unsigned shift."""
    shifted = torch.bitwise_right_shift(x, torch.full((), by, dtype=x.dtype, device=x.device))
    return shifted & (2 ** (64 - by) - 1)


def _signed(bits: int) -> int:
    """Return the signed integer of 64 bits."""
    bits %= 2**64
    return bits - 2**64 if bits >= 2**63 else bits
