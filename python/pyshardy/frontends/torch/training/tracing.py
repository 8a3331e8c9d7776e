# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tracing of training steps."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

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
from pyshardy.frontends.meshes import declare_meshes
from pyshardy.frontends.torch.dtensors import Layouts
from pyshardy.frontends.torch.importing import import_graph
from pyshardy.frontends.torch.local_maps import kept_local_maps
from pyshardy.frontends.torch.patterns import Axes
from pyshardy.frontends.torch.tracing import failures_of_user, name_values
from pyshardy.frontends.torch.training.forward import Loss, forward_of
from pyshardy.frontends.torch.training.layout import shardings_of
from pyshardy.frontends.torch.training.optimizers import optimizer_of
from pyshardy.frontends.torch.training.state import StepNames, optimizer_state
from pyshardy.frontends.torch.training.step import step_graph
from pyshardy.frontends.torch.training.traced import TracedTraining, batch_of
from pyshardy.pipeline.collection import collection_paused


@collection_paused()
def trace_training(
    model: torch.nn.Module,
    loss: Loss | None,
    inputs: Any,
    targets: Any = (),
    *,
    optimizer: torch.optim.Optimizer | type[torch.optim.Optimizer] | str = "adamw",
    before_step: Callable[[list[torch.Tensor]], object] | None = None,
    shardings: Mapping[str, TensorSharding | Axes] | None = None,
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
    _check_types(model, loss)
    layouts = Layouts.of(model, (), mesh)
    trainable = [each for each in model.parameters() if each.requires_grad]
    if not trainable:
        raise UsageError(error("the model has no parameters with requires_grad=True"))
    chosen = optimizer_of(optimizer, trainable)
    args, kwargs, given = batch_of(inputs, targets)
    with kept_local_maps(layouts):
        forward = forward_of(model, loss, args, kwargs, given)
        names = StepNames.beside(forward.signature.arguments)
        state = optimizer_state(chosen, forward.parameters, names.optimizer)
        with failures_of_user(model):
            step = step_graph(forward, state, names, before_step)
        imported = import_graph(step.module, context)
    if step.without_gradient:
        unchanged = "', '".join(step.without_gradient)
        message = (
            f"the loss doesn't depend on these parameters, which stay unchanged: '{unchanged}'"
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
    found = shardings_of(patterns, shapes, state)
    declare_meshes(imported, found.values(), layouts.mesh or mesh)
    positions = {name: index for index, name in enumerate(step.arguments)}
    results = {name: index for index, name in enumerate(step.results)}
    changed = [name for name in results if name in positions]
    if donate:
        kind = ir.IntegerType.get_signless(32, entry.context)
        aliases = {positions[name]: ir.IntegerAttr.get(kind, results[name]) for name in changed}
        set_argument_attributes(entry, ALIAS, aliases)
    if found:
        set_argument_shardings(entry, {positions[name]: one for name, one in found.items()})
        kept = {results[name]: found[name] for name in changed if name in found}
        set_result_shardings(entry, kept)
        verify(imported)
    return TracedTraining(imported, step.arguments, step.results, forward, state, names)


def _check_types(model: Any, loss: Any) -> None:
    if not isinstance(model, torch.nn.Module):
        raise UsageError(error(f"expected a torch.nn.Module, got: {type(model).__name__}"))
    if loss is not None and not callable(loss):
        raise UsageError(error(f"expected a loss function, got: {type(loss).__name__}"))
