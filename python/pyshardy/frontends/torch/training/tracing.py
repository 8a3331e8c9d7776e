# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tracing of training steps.

1. Patterns of shardings that begin with the prefix of the optimizer's state, `optimizer.`, are
   those of this state, and all others those of parameters, buffers, inputs and targets.
2. A tensor of the state without a pattern that has the shape of its parameter is sharded like it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import torch

from mlir_sdy.diagnostics import UsageError, emit, error, warning
from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, TensorSharding
from mlir_sdy.values import (
    set_argument_attributes,
    set_argument_shardings,
    set_result_shardings,
)
from mlir_sdy.verify import verify
from pyshardy.backends.donations import ALIAS
from pyshardy.forms import ShardingSpec
from pyshardy.frontends.meshes import declare_meshes_of_arguments, match
from pyshardy.frontends.torch.assignments import without_autocast
from pyshardy.frontends.torch.dtensors import Layouts
from pyshardy.frontends.torch.importing import import_graph
from pyshardy.frontends.torch.local_maps import kept_local_maps
from pyshardy.frontends.torch.objects import as_trees
from pyshardy.frontends.torch.signature import check_memory
from pyshardy.frontends.torch.traced import (
    TracedModel,
    array_of,
    tensor_of,
    tensors_of_inputs,
)
from pyshardy.frontends.torch.tracing import (
    check_inputs,
    check_module,
    failures_of_user,
    name_values,
)
from pyshardy.frontends.torch.training.forward import Forward, Loss, forward_of
from pyshardy.frontends.torch.training.optimizers import (
    OptimizerState,
    StepNames,
    optimizer_of,
    optimizer_state,
)
from pyshardy.frontends.torch.training.step import step_graph
from pyshardy.local_program.tensor_spec import Array
from pyshardy.pipeline.collection import collection_paused

Value = TypeVar("Value")


def batch_of(inputs: Any, targets: Any) -> tuple[tuple[Any, ...], dict[str, Any], tuple[Any, ...]]:
    """Return the positional and keyword inputs of a model, and the targets.

    Args:
        inputs: one input, a tuple or list of positional ones, or a mapping of keyword ones.
        targets: one target, or a tuple or list of them.
    """
    if isinstance(inputs, Mapping):
        return (), dict(inputs), _as_tuple(targets)
    return _as_tuple(inputs), {}, _as_tuple(targets)


def _as_tuple(values: Any) -> tuple[Any, ...]:
    return tuple(values) if isinstance(values, tuple | list) else (values,)


@dataclass(frozen=True, repr=False)
class TracedTraining(TracedModel):
    """A training step as a function of all state and a batch.

    Attributes:
        module: the program.
        arguments: the name of each argument: parameters, buffers and constants; the state of the
            optimizer, behind `optimizer.`; `seed`, if there are random operations; inputs and
            targets.
        results: the name of each result: `loss`, and the changed arguments.
    """

    module: ir.Module
    arguments: tuple[str, ...]
    results: tuple[str, ...]
    _forward: Forward = field(repr=False)
    _optimizer: OptimizerState = field(repr=False)
    _names: StepNames = field(repr=False)

    @property
    def optimizer(self) -> torch.optim.Optimizer:
        """The optimizer."""
        return self._optimizer.optimizer

    @property
    def state(self) -> Mapping[str, torch.Tensor]:
        """The current tensors of the arguments that aren't inputs, targets or the seed."""
        tensors = {**self._forward.signature.state, **self._optimizer.tensors()}
        return {name: tensors[name] for name in self.arguments if name in tensors}

    def inputs(self, inputs: Any, targets: Any = (), *, seed: int = 0) -> list[Array]:
        """Return the arrays of all arguments, for the current state and a batch.

        Args:
            inputs: the inputs of the model, in the form for `trace_training`.
            targets: the targets of the loss.
            seed: the seed of random operations such as dropout; use another one in each step.

        Raises:
            UsageError: the step was traced for other inputs.
        """
        given = {name: array_of(tensor, name) for name, tensor in self.state.items()}
        given |= self.batch(inputs, targets, seed=seed)
        return [given[name] for name in self.arguments]

    def batch(self, inputs: Any, targets: Any = (), *, seed: int = 0) -> dict[str, Array]:
        """Return the arrays of inputs, targets and seed by name; see `inputs`.

        For loops that keep the state on the devices:

            results = program.run_sharded(traced.inputs(tokens, labels), "xla")
            arguments = traced.new_state(results) | traced.batch(tokens, labels)
            results = program.run_sharded(arguments, "xla")
        """
        args, kwargs, given = batch_of(inputs, targets)
        names = self._forward.targets
        if len(given) != len(names):
            message = f"the step was traced for other inputs: expected {len(names)} targets"
            raise UsageError(error(f"{message}, got {len(given)}"))
        kwargs |= dict(zip(names, given, strict=True))
        signature, tree = self._forward.signature, self._forward.in_tree
        tensors = tensors_of_inputs(signature, tree, args, kwargs)
        arrays = {name: array_of(tensor, name) for name, tensor in tensors.items()}
        if self._names.seed in self.arguments:
            arrays[self._names.seed] = np.array(seed, np.int64)
        return arrays

    def loss(self, results: Sequence[Any]) -> float:
        """Return the loss.

        Args:
            results: the results of the program, from `run` or `run_sharded`.
        """
        return float(np.asarray(results[self.results.index(self._names.loss)], np.float64))

    def new_state(self, results: Sequence[Value]) -> dict[str, Value]:
        """Return the results that are the new values of arguments, by the names of arguments.

        Arguments that the step doesn't change have their current values.
        """
        changed = dict(zip(self.results, results, strict=True))
        del changed[self._names.loss]
        kept = {
            name: array_of(tensor, name)
            for name, tensor in self.state.items()
            if name not in changed
        }
        return {**kept, **changed}  # type: ignore[return-value]

    def load(self, results: Sequence[Any]) -> None:
        """Write the new state into the model and its optimizer.

        Args:
            results: the results of the program, from `run` or `run_sharded`.
        """
        arrays = dict(zip(self.results, results, strict=True))
        current = {**self._forward.signature.state, **self._optimizer.tensors()}
        new = {
            name: tensor_of(np.asarray(array), current[name].dtype)
            for name, array in arrays.items()
            if name != self._names.loss
        }
        with torch.no_grad():
            for name, tensor in self._forward.signature.state.items():
                if name in new:
                    tensor.copy_(new[name])
        self._optimizer.load(new)


_Shape = Sequence[int]


def shardings_of(
    patterns: Mapping[str, ShardingSpec],
    shapes: Mapping[str, _Shape],
    state: OptimizerState,
) -> dict[str, TensorSharding]:
    """Return the shardings of arguments by name.

    Args:
        patterns: shardings by patterns of names.
        shapes: the shape of each argument.
        state: the optimizer's state.

    Raises:
        UsageError: a pattern matches no name, or the rank of its sharding differs.
    """
    ranks = {name: len(shape) for name, shape in shapes.items()}
    matched: dict[str, TensorSharding] = {}
    for is_state in (False, True):
        of_patterns = _part(patterns, state.prefix, is_state=is_state)
        matched |= match(of_patterns, _part(ranks, state.prefix, is_state=is_state))
    for parameter, names in state.names.items():
        for name in names.values():
            follows = parameter in matched and name in shapes and name not in matched
            if follows and [*shapes[name]] == [*shapes[parameter]]:
                matched[name] = matched[parameter]
    return matched


def _part(by_name: Mapping[str, Value], prefix: str, *, is_state: bool) -> dict[str, Value]:
    """Return the entries for the optimizer's state, or all others."""
    return {name: value for name, value in by_name.items() if name.startswith(prefix) == is_state}


@collection_paused()
@torch.inference_mode(False)  # which also enables gradients
def trace_training(
    model: torch.nn.Module,
    loss: Loss | None,
    inputs: Any,
    targets: Any = (),
    *,
    optimizer: torch.optim.Optimizer | type[torch.optim.Optimizer] | str = "adamw",
    before_step: Callable[[list[torch.Tensor]], object] | None = None,
    shardings: Mapping[str, ShardingSpec] | None = None,
    mesh: Mesh | None = None,
    donate: bool = True,
    context: ir.Context | None = None,
) -> TracedTraining:
    """Trace a training step of a PyTorch model: forward, backward and optimizer.

        traced = sdy.torch.trace_training(
            model, torch.nn.functional.cross_entropy, tokens, labels, optimizer="adamw",
            mesh=sdy.Mesh.of({"data": 4, "model": 2}),
            shardings={"*.up.weight": ("model", None), "tokens": ("data", None)},
        )

    The program takes all state and a batch, and returns the loss and the new state. The model and
    the optimizer don't change.

    | argument, result            | value                                                    |
    |-----------------------------|----------------------------------------------------------|
    | `blocks.0.up.weight`        | parameters and buffers, by their paths in the model      |
    | `optimizer.<param>.exp_avg` | the state of the optimizer for a parameter               |
    | `optimizer.step`            | the number of steps                                      |
    | `optimizer.lr`              | argument: the learning rate; `optimizer.lr.0` of several |
    | `seed`                      | argument: the seed of random operations, if any          |
    | `tokens`, `labels`          | argument: inputs as in `forward`, targets as in the loss |
    | `loss`                      | result: the loss                                         |

    Parameters and buffers keep their paths. An input or target that has the name of one gets
    `input.` or `target.` in front. If the model has arguments named `seed` or `loss`, or behind
    `optimizer.`, these names get `training.` in front.

    Other hyperparameters are constants of the program.

    Args:
        model: the model, in training mode or not.
        loss: a function of the model's output and the targets that returns a scalar, such as
            `torch.nn.functional.cross_entropy`; None if the model returns the loss, alone or as
            `loss`.
        inputs: one input of the model, a tuple of positional ones, or a mapping of keyword ones.
        targets: one target, or a tuple of them.
        optimizer: an optimizer for the parameters of the model; or the name or class of one in
            `torch.optim`, which gets the default hyperparameters.
        before_step: a function of the parameters with gradients, called before the optimizer, such
            as `lambda parameters: torch.nn.utils.clip_grad_norm_(parameters, 1.0)`.
        shardings: the shardings of arguments by `fnmatch` patterns of their names, as for `trace`.
            The state of the optimizer is sharded like its parameter, unless a pattern that begins
            with `optimizer.` matches it: `{"optimizer.*.weight.exp_avg*": ("data", None)}`. New
            state is sharded like the state before.
        mesh: the mesh of the shardings.
        donate: whether the program may reuse the memory of the state for the new state.
        context: a context with the dialect; a new one by default.

    Raises:
        UsageError: PyTorch is missing or can't export the model; the loss isn't a scalar; the
            optimizer isn't supported; or a pattern is wrong.
        PassError: an operation can't be expressed in StableHLO.
        VerificationError: a sharding is invalid on the mesh.
    """
    _check_types(model, loss, targets)
    layouts = Layouts.of(model, (), mesh)
    trainable = [each for each in model.parameters() if each.requires_grad]
    if not trainable:
        raise UsageError(error("the model has no parameters with requires_grad=True"))
    chosen = optimizer_of(optimizer, trainable)
    args, kwargs, given = as_trees(batch_of(inputs, targets))
    check_inputs((args, given), kwargs)
    with kept_local_maps(layouts):
        forward = forward_of(model, loss, args, kwargs, given)
        names = StepNames.beside(forward.signature.arguments)
        state = optimizer_state(chosen, forward.parameters, names.optimizer)
        with failures_of_user(model), without_autocast():
            step = step_graph(forward, state, names, before_step)
        check_memory(forward.signature.state, step.results)
        with without_autocast():
            imported = import_graph(step.module, context)
    if step.without_gradient:
        unchanged = "', '".join(step.without_gradient)
        message = (
            f"these parameters have no gradient, so the optimizer leaves them as is: '{unchanged}'"
        )
        emit(warning(message))
    entry = ir.SymbolTable(imported.operation)["main"].operation
    name_values(entry, step.arguments, step.results)
    types = [value.type for value in entry.regions[0].blocks[0].arguments]
    shapes = {
        name: ir.RankedTensorType(each).shape
        for name, each in zip(step.arguments, types, strict=True)
    }
    patterns = dict(shardings or {})
    for name, sharding in layouts.shardings(forward.signature).items():
        patterns.setdefault(name, sharding)
    state = state.without(step.without_gradient)
    matched = shardings_of(patterns, shapes, state)
    declare_meshes_of_arguments(imported, matched, layouts.mesh or mesh)
    positions = {name: index for index, name in enumerate(step.arguments)}
    results = {name: index for index, name in enumerate(step.results)}
    changed = [name for name in results if name in positions]
    if donate:
        kind = ir.IntegerType.get_signless(32, entry.context)
        aliases = {positions[name]: ir.IntegerAttr.get(kind, results[name]) for name in changed}
        set_argument_attributes(entry, ALIAS, aliases)
    if matched:
        set_argument_shardings(entry, {positions[name]: one for name, one in matched.items()})
        kept = {results[name]: matched[name] for name in changed if name in matched}
        set_result_shardings(entry, kept)
        verify(imported)
    return TracedTraining(imported, step.arguments, step.results, forward, state, names)


def _check_types(model: Any, loss: Any, targets: Any) -> None:
    check_module(model)
    if loss is not None and not callable(loss):
        raise UsageError(error(f"expected a loss function, got: {type(loss).__name__}"))
    if loss is None and not (isinstance(targets, tuple | list) and not targets):
        raise UsageError(error("targets need a loss: give the model that returns it more inputs"))
