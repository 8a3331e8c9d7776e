# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The graph of a training step: forward, backward and optimizer.

`torch.export` gives the graph of the loss, with names and source locations. It is run on stand-ins,
with PyTorch's autograd behind it, and all operations are recorded: so decompositions come after
differentiation, and operations keep their own gradients. Operations of the backward pass get the
locations of the forward operation that they belong to.

PyTorch's own functions for joint graphs require a gradient for each parameter and leave out the
optimizer.
"""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportPrivateUsage=false, reportMissingTypeStubs=false

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mlir_sdy.diagnostics import UsageError, error
from pyshardy.frontends.torch.replacing import replaced_attribute
from pyshardy.frontends.torch.training.forward import Forward
from pyshardy.frontends.torch.training.optimizers import make_step
from pyshardy.frontends.torch.training.randomness import SeededRandomness
from pyshardy.frontends.torch.training.scopes import Places, caller
from pyshardy.frontends.torch.training.state import LOSS, SEED, OptimizerState

if TYPE_CHECKING:
    import torch
    from torch.fx import Graph, GraphModule, Interpreter, Node


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
    before_step: Callable[[list[torch.Tensor]], object] | None = None,
) -> StepGraph:
    """Return the graph of a training step.

    Args:
        forward: the model with its loss.
        state: the optimizer with its state.
        before_step: a function of the parameters, called between the backward pass and the
            optimizer.

    Raises:
        UsageError: the loss depends on no parameter, or the step of the optimizer can't be traced.
    """
    import torch  # noqa: PLC0415
    from torch._dispatch.python import enable_python_dispatcher  # noqa: PLC0415
    from torch._subclasses.functional_tensor import dispatch_functionalize  # noqa: PLC0415
    from torch.fx import traceback  # noqa: PLC0415
    from torch.fx.experimental.proxy_tensor import make_fx  # noqa: PLC0415
    from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: PLC0415

    places = Places(caller())
    graph = forward.module.graph
    places.name_forward(graph)
    inputs = [node.meta["val"] for node in graph.nodes if node.op == "placeholder"]
    mode = next(value.fake_mode for value in inputs if hasattr(value, "fake_mode"))
    tensors = state.tensors()
    with mode:
        stand_ins = [torch.empty(each.shape, dtype=each.dtype) for each in tensors.values()]
        seed = torch.zeros((), dtype=torch.int64)
    randomness = SeededRandomness()
    step = _Step(forward, state, tuple(tensors), before_step, places)
    functional = dispatch_functionalize(step.run)

    def seeded(seed: torch.Tensor, *arguments: torch.Tensor) -> Any:
        randomness.seed = seed
        return functional(*arguments)

    with (
        mode,
        traceback.preserve_node_meta(),
        enable_python_dispatcher(),
        sdpa_kernel(SDPBackend.MATH),  # the others compute the gradients in one operation
        replaced_attribute(torch.compiler, "_is_compiling_flag", True),  # no numbers from tensors
    ):
        traced = make_fx(seeded, decomposition_table=randomness.definitions())
        module = traced(seed, *stand_ins, *inputs)
    names = [SEED, *tensors, *forward.signature.arguments]
    return _pruned(module, names, step)


@dataclass
class _Step:
    """A training step on stand-ins.

    Attributes:
        tensors: the names of the first arguments of `run`, those for the optimizer.
        results: the names of the results of `run`, which the first call sets.
        without_gradient: the parameters that have no gradient, which the first call sets.
    """

    forward: Forward
    state: OptimizerState
    tensors: Sequence[str]
    before_step: Callable[[list[torch.Tensor]], object] | None
    places: Places
    results: list[str] = field(default_factory=list)
    without_gradient: list[str] = field(default_factory=list)

    def run(self, *arguments: torch.Tensor) -> list[torch.Tensor]:
        """Return the loss, and all state after the step."""
        from torch.fx import traceback  # noqa: PLC0415

        count = len(self.tensors)
        states = dict(zip(self.tensors, arguments[:count], strict=True))
        values = dict(zip(self.forward.signature.arguments, arguments[count:], strict=True))
        leaves = {name: values[name].detach().requires_grad_() for name in self.state.names}
        loss, gradients = _gradients(self.forward, {**values, **leaves}, leaves, self.places)
        stand_ins: dict[Any, torch.Tensor] = {}
        of_parameters: dict[Any, dict[str, torch.Tensor]] = {}
        for (name, leaf), gradient in zip(leaves.items(), gradients, strict=True):
            if gradient is None:
                self.without_gradient.append(name)
                continue
            leaf.grad = gradient
            parameter = self.forward.parameters[name]
            stand_ins[parameter] = leaf
            of_parameters[parameter] = {
                key: states[each].clone() for key, each in self.state.names[name].items()
            }
        rates = [states[name] for name in self.state.rates]
        with traceback.set_current_meta(self.places.optimizer):
            make_step(self.state.optimizer, stand_ins, of_parameters, rates, self.before_step)
        results = {LOSS: loss.detach(), **{name: leaf.detach() for name, leaf in leaves.items()}}
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
) -> tuple[torch.Tensor, Sequence[torch.Tensor | None]]:
    """Return the loss and the gradients of leaves, None for those that it doesn't depend on."""
    import torch  # noqa: PLC0415
    from torch.fx import traceback  # noqa: PLC0415

    origins: dict[Any, Node] = {}
    interpreter = _interpreter(forward.module, origins)
    outputs = interpreter.run(*(values[name] for name in forward.signature.arguments))
    loss = outputs[-1]
    if loss.grad_fn is None:
        message = "the loss depends on no parameter that the optimizer trains"
        raise UsageError(error(message))
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
        gradients = torch.autograd.grad(loss, [*leaves.values()], allow_unused=True)
    return loss, gradients


_UNCHECKED = {
    "inverse.default": ("linalg_inv_ex", 1),
    "linalg_cholesky.default": ("linalg_cholesky_ex", 1),
    "linalg_inv.default": ("linalg_inv_ex", 1),
    "linalg_lu_factor.default": ("linalg_lu_factor_ex", 2),
    "linalg_solve.default": ("linalg_solve_ex", 1),
}
"""For operations that check whether they succeeded, which a program cannot do, those that don't.

They have further results, whether they succeeded; the number is that of the others.
"""


def _interpreter(module: GraphModule, origins: dict[Any, Node]) -> Interpreter:
    """Return an interpreter that notes the node that each function of autograd belongs to."""
    import torch  # noqa: PLC0415
    from torch.utils import _pytree as pytree  # noqa: PLC0415

    class Noting(torch.fx.Interpreter):
        def run_node(self, n: Node) -> Any:
            found = super().run_node(n)
            for leaf in pytree.tree_leaves(found):
                if isinstance(leaf, torch.Tensor):
                    for function in _functions_of(leaf, origins):
                        origins[function] = n
            return found

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
            if name in _UNCHECKED:
                unchecked, results = _UNCHECKED[name]
                if unchecked == "linalg_solve_ex":
                    # Gradients of PyTorch 2.7 take the factors of a row-major matrix as those of
                    # its transpose, as LAPACK sees it.
                    matrix, *others = args
                    args = matrix.mT.contiguous().mT, *others
                made = getattr(torch.ops.aten, unchecked)(*args, **kwargs)
                return made[:results] if results > 1 else made[0]
            return super().call_function(target, args, kwargs)

    return Noting(module)


def _functions_of(tensor: torch.Tensor, known: Mapping[Any, Any]) -> Iterator[Any]:
    """Yield the functions of autograd that a tensor comes from, unless they are known."""
    remaining = [tensor.grad_fn]
    while remaining:
        function = remaining.pop()
        if function is None or function in known:
            continue
        yield function
        remaining += [each for each, _ in function.next_functions]


def _pruned(module: GraphModule, names: Sequence[str], step: _Step) -> StepGraph:
    """Remove results that are unchanged arguments, and state without use."""
    graph: Graph = module.graph
    (output,) = [node for node in graph.nodes if node.op == "output"]
    placeholders = [node for node in graph.nodes if node.op == "placeholder"]
    by_name = dict(zip(names, placeholders, strict=True))
    kept = {
        name: node
        for name, node in zip(step.results, output.args[0], strict=True)
        if _origin(node) is not by_name.get(name)
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


def _origin(node: Any) -> Any:
    """Return the node whose value a node passes on."""
    while getattr(node.target, "__name__", "") in ("detach.default", "alias.default"):
        node = node.args[0]
    return node
