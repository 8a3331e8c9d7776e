# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The names and values of an optimizer's state."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch.optim import Optimizer

from mlir_sdy.diagnostics import UsageError, error
from pyshardy.frontends.torch.signature import free_name
from pyshardy.frontends.torch.training.optimizers import RATE, STEP, state_of


@dataclass(frozen=True)
class StepNames:
    """The names of what a training step has beside the arguments of the model.

    If an argument of the model has such a name, `training.` is in front: `training.seed`.

    Attributes:
        loss: the name of the loss.
        seed: the name of the seed of random operations.
        optimizer: the beginning of the names of the optimizer's state.
    """

    loss: str
    seed: str
    optimizer: str

    @classmethod
    def beside(cls, arguments: Collection[str]) -> StepNames:
        """Return names that differ from those of the arguments of a model."""
        first = {f"{name.partition('.')[0]}." for name in arguments}
        prefix = "training."
        return cls(
            free_name("loss", arguments, prefix),
            free_name("seed", arguments, prefix),
            free_name("optimizer.", first, prefix),
        )


@dataclass(frozen=True)
class OptimizerState:
    """The state of an optimizer, as arguments of a program.

    | name                        | value                                                  |
    |-----------------------------|--------------------------------------------------------|
    | `optimizer.<param>.exp_avg` | the state for a parameter, by PyTorch's key            |
    | `optimizer.step`            | the number of steps, if equal for all parameters       |
    | `optimizer.lr`              | the learning rate; `optimizer.lr.0` of several groups  |

    Attributes:
        optimizer: the optimizer.
        prefix: the beginning of all names, `optimizer.`, unless the model has such names.
        parameters: the trained parameters by name.
        names: for each of them the names of its state by PyTorch's key.
        rates: the names of the learning rates of the groups.
        shares_step: whether all parameters have made the same number of steps.
    """

    optimizer: Optimizer
    prefix: str
    parameters: Mapping[str, torch.nn.Parameter]
    names: Mapping[str, Mapping[str, str]]
    rates: tuple[str, ...]
    shares_step: bool

    def tensors(self) -> dict[str, torch.Tensor]:
        """Return the current tensors by name."""
        groups = self.optimizer.param_groups
        found: dict[str, torch.Tensor] = {}
        for name, keys in self.names.items():
            state = _state(self.optimizer, self.parameters[name])
            for key, each in keys.items():
                found.setdefault(each, state[key])
        for name, group in zip(self.rates, groups, strict=True):
            is_double = any(each.dtype == torch.float64 for each in group["params"])
            dtype = torch.float64 if is_double else torch.float32
            found[name] = torch.tensor(float(group[RATE]), dtype=dtype)
        return found

    def load(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Set the state of the optimizer, by the names of arguments."""
        self.optimizer.__dict__["_opt_called"] = True  # learning rate schedulers warn otherwise
        for name, keys in self.names.items():
            parameter = self.parameters[name]
            if not any(each in tensors for each in keys.values()):
                continue
            current = self.optimizer.state[parameter]
            for key, value in _state(self.optimizer, parameter).items():
                new = tensors.get(keys.get(key, ""))
                is_number = isinstance(current.get(key), int | float)
                kept = value if new is None else new.to(value.dtype).clone()
                current[key] = kept.item() if is_number else kept


def optimizer_state(
    optimizer: Optimizer, parameters: Mapping[str, torch.nn.Parameter], prefix: str
) -> OptimizerState:
    """Return the state of an optimizer for the parameters of a model that it trains.

    Args:
        optimizer: the optimizer.
        parameters: the parameters of the model by name.
        prefix: the beginning of the names of the state.

    Raises:
        UsageError: the optimizer has parameters that the model doesn't have, or none that it has.
    """
    groups = optimizer.param_groups
    of_optimizer = {id(each) for group in groups for each in group["params"]}
    trained = {
        name: each
        for name, each in parameters.items()
        if each.requires_grad and id(each) in of_optimizer
    }
    if not trained:
        message = "the optimizer trains none of the model's parameters"
        hint = "pass parameters of this model to it, with requires_grad=True"
        raise UsageError(error(f"{message}; {hint}"))
    foreign = len(of_optimizer - {id(each) for each in parameters.values()})
    if foreign:
        message = f"{foreign} parameters of the optimizer aren't parameters of the model"
        raise UsageError(error(f"{message}; make an optimizer for this model"))
    steps = [
        float(state[STEP])
        for state in (_state(optimizer, each) for each in trained.values())
        if STEP in state
    ]
    shares_step = len({*steps}) == 1
    names = {
        name: {
            key: prefix + (key if key == STEP and shares_step else f"{name}.{key}")
            for key in _state(optimizer, each)
        }
        for name, each in trained.items()
    }
    rate = prefix + RATE
    count = len(groups)
    rates = (rate,) if count == 1 else tuple(f"{rate}.{index}" for index in range(count))
    return OptimizerState(optimizer, prefix, trained, names, rates, shares_step)


def _state(optimizer: Optimizer, parameter: Any) -> dict[str, torch.Tensor]:
    group = next(
        group
        for group in optimizer.param_groups
        if any(each is parameter for each in group["params"])
    )
    return state_of(optimizer, parameter, group)
