# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Optimizers of PyTorch as functions of parameters, gradients and state.

The step is that of the optimizer's class, traced on stand-ins for the tensors, so all parameter
groups and hyperparameters count. Here are the initial states of the classes, which PyTorch creates
at the first step. An optimizer that has made a step has its state already, whatever its class.
"""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.suggest import did_you_mean
from pyshardy.frontends.torch.failures import is_data_dependence
from pyshardy.frontends.torch.signature import free_name

STEP, RATE = "step", "lr"

Group = Mapping[str, Any]
"""The hyperparameters of a parameter group."""

Initial = Callable[["torch.Tensor", Group], "torch.Tensor"]
"""Returns the initial value of a tensor of the state, for a parameter."""


def _zeros(parameter: torch.Tensor, _: Group) -> torch.Tensor:
    return torch.zeros_like(parameter, memory_format=torch.preserve_format)


def _scalar(value: float) -> Initial:
    def of(_: torch.Tensor, _group: Group) -> torch.Tensor:
        is_double = torch.get_default_dtype() is torch.float64
        dtype = torch.float64 if is_double else torch.float32
        return torch.tensor(float(value), dtype=dtype)

    return of


def _rate_scalar(parameter: torch.Tensor, group: Group) -> torch.Tensor:
    return _scalar(float(group[RATE]))(parameter, group)


def _rates(parameter: torch.Tensor, group: Group) -> torch.Tensor:
    return torch.full_like(parameter, float(group[RATE]))


def _adam(group: Group) -> dict[str, Initial]:
    state = {STEP: _scalar(0), "exp_avg": _zeros, "exp_avg_sq": _zeros}
    return {**state, "max_exp_avg_sq": _zeros} if group.get("amsgrad") else state


def _sgd(group: Group) -> dict[str, Initial]:
    if group["momentum"] and group["dampening"]:
        message = (
            "'SGD' with dampening begins with the first gradient as its momentum, unlike later "
            "steps; make the first step in PyTorch, or set dampening=0"
        )
        raise UsageError(error(message))
    return {"momentum_buffer": _zeros} if group["momentum"] else {}


def _rmsprop(group: Group) -> dict[str, Initial]:
    optional = {"momentum_buffer": group["momentum"], "grad_avg": group["centered"]}
    kept: dict[str, Initial] = {name: _zeros for name, is_used in optional.items() if is_used}
    return {STEP: _scalar(0), "square_avg": _zeros, **kept}


_INITIAL: dict[str, Callable[[Group], dict[str, Initial]]] = {
    "Adadelta": lambda _: {STEP: _scalar(0), "square_avg": _zeros, "acc_delta": _zeros},
    "Adagrad": lambda _: {},  # its constructor creates it
    "Adam": _adam,
    "AdamW": _adam,
    "Adamax": lambda _: {STEP: _scalar(0), "exp_avg": _zeros, "exp_inf": _zeros},
    "ASGD": lambda _: {STEP: _scalar(0), "eta": _rate_scalar, "mu": _scalar(1), "ax": _zeros},
    "Muon": lambda _: {"momentum_buffer": _zeros},
    "NAdam": lambda group: {**_adam(group), "mu_product": _scalar(1)},
    "RAdam": _adam,
    "RMSprop": _rmsprop,
    "Rprop": lambda _: {STEP: _scalar(0), "prev": _zeros, "step_size": _rates},
    "SGD": _sgd,
}
"""The initial state of each class of `torch.optim` for the hyperparameters of a group."""


def supported() -> list[str]:
    """Return the names of the supported classes that this PyTorch has."""
    return [name for name in _INITIAL if hasattr(torch.optim, name)]


def optimizer_of(written: Any, parameters: Sequence[torch.nn.Parameter]) -> Optimizer:
    """Return an optimizer that is given as such, or by its class or its name.

    Args:
        written: an instance; or a class of `torch.optim` or its name in any case, which gets the
            default hyperparameters.
        parameters: the parameters for a new optimizer.

    Raises:
        UsageError: there is no such optimizer, or its step can't be traced.
    """
    names = supported()
    if isinstance(written, str):
        by_lower = {name.lower(): name for name in names}
        if written.lower() not in by_lower:
            hint = did_you_mean(written.lower(), by_lower)
            raise UsageError(error(f"no optimizer '{written}'{hint}; {_choice(names)}"))
        written = getattr(torch.optim, by_lower[written.lower()])
    if isinstance(written, type) and issubclass(written, torch.optim.Optimizer):
        kind: Any = written
        written = kind(parameters)
    if not isinstance(written, torch.optim.Optimizer):
        got = type(written).__name__
        raise UsageError(error(f"expected an optimizer of PyTorch or its name, got: {got}"))
    name = type(written).__name__
    closure = inspect.signature(type(written).step).parameters.get("closure")
    if closure is not None and closure.default is closure.empty:
        message = f"a step of '{name}' computes the loss several times, which a program can't"
        raise UsageError(error(f"{message}; {_choice(names)}"))
    return written


def _choice(names: Sequence[str]) -> str:
    return f"the supported optimizers are: '{', '.join(names)}'".replace(", ", "', '")


def _declared(optimizer: Optimizer) -> Callable[[Group], dict[str, Initial]] | None:
    """Return the initial state of an optimizer by its class or the nearest base class."""
    for kind in type(optimizer).__mro__:
        if getattr(torch.optim, kind.__name__, None) is kind and kind.__name__ in _INITIAL:
            return _INITIAL[kind.__name__]
    return None


def state_of(
    optimizer: Optimizer, parameter: torch.nn.Parameter, group: Group
) -> dict[str, torch.Tensor]:
    """Return the tensors of the state for a parameter: the current ones, or the initial ones."""
    current = optimizer.state.get(parameter)
    if current:
        return {
            name: value if isinstance(value, torch.Tensor) else torch.tensor(float(value))
            for name, value in current.items()
            if isinstance(value, torch.Tensor | int | float)
        }
    declared = _declared(optimizer)
    initial = {} if declared is None else declared(group)
    with torch.no_grad():
        return {name: value(parameter, group) for name, value in initial.items()}


def make_step(
    optimizer: Optimizer,
    stand_ins: Mapping[torch.nn.Parameter, torch.Tensor],
    states: Mapping[torch.nn.Parameter, dict[str, torch.Tensor]],
    rates: Sequence[torch.Tensor],
    before: Callable[[list[torch.Tensor]], object] | None = None,
) -> None:
    """Make a step of an optimizer on stand-ins, which change in place.

    The optimizer and its parameters stay as they are.

    Args:
        optimizer: the optimizer.
        stand_ins: a tensor for each parameter, with its gradient; parameters without one are
            ignored.
        states: the state for each of these parameters.
        rates: the learning rate of each group.
        before: a function of the parameters that is called first, such as one that clips gradients.

    Raises:
        UsageError: the step changes numbers outside of the state, or adds a tensor to it.
    """
    copy = object.__new__(type(optimizer))
    copy.__dict__.update(optimizer.__dict__)
    copy.param_groups = [
        {
            **group,
            **{name: value for name, value in _TRACEABLE.items() if name in group},
            "params": [stand_ins[each] for each in group["params"] if each in stand_ins],
            RATE: rate,
        }
        for group, rate in zip(optimizer.param_groups, rates, strict=True)
    ]
    copy.state = defaultdict(dict)
    for parameter, state in states.items():
        copy.state[stand_ins[parameter]] = state
    steps = {parameter: state[STEP] for parameter, state in states.items() if STEP in state}
    keys = {parameter: {*state} for parameter, state in states.items()}
    before_step = [_leaves(each) for each in (copy.__dict__, *copy.param_groups)]
    with torch.no_grad(), _scalars_as_tensors():
        if before is not None:
            before([*stand_ins.values()])
        for parameter, step in steps.items():
            # PyTorch computes factors such as 1 - beta**step with numbers of Python.
            states[parameter][STEP] = step.double()
        try:
            type(copy).step(copy)
        except RuntimeError as failure:
            if not is_data_dependence(failure) or not type(copy).__module__.startswith("torch."):
                raise
            message = f"the step of '{type(copy).__name__}' depends on the values of tensors"
            raise UsageError(error(f"{message}; {_choice(supported())}")) from failure
        for parameter, step in steps.items():
            states[parameter][STEP] = states[parameter][STEP].to(step.dtype)
    after_step = [_leaves(each) for each in (copy.__dict__, *copy.param_groups)]
    pairs = zip(before_step, after_step, strict=True)
    changed = [name for pair in pairs for name in _changed(*pair)]
    added = [name for each, state in states.items() for name in {*state} - keys[each]]
    if changed or added:
        does = f"changes '{changed[0]}'" if changed else f"adds '{added[0]}' to its state"
        message = (
            f"the step of the optimizer '{type(copy).__name__}' {does}, which a program can't; "
            "keep all that changes as tensors in the state of the parameters, and make the first "
            "step in PyTorch"
        )
        raise UsageError(error(message))


def _leaves(attributes: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the values of attributes, and those in lists and dictionaries, by name."""
    others = RATE, "param_groups", "state"
    return {
        name: pytree.tree_leaves(value) for name, value in attributes.items() if name not in others
    }


def _changed(before: Mapping[str, list[Any]], after: Mapping[str, list[Any]]) -> list[str]:
    """Return the names of values that aren't as before; tensors are compared as objects."""

    def is_changed(old: Any, new: Any) -> bool:
        if new is old:
            return False
        return isinstance(new, Tensor) or isinstance(old, Tensor) or bool(new != old)

    return [
        name
        for name, values in after.items()
        if len(values) != len(before.get(name, ()))
        or any(map(is_changed, before.get(name, ()), values))
    ]


_TRACEABLE = {"foreach": False, "fused": False, "differentiable": False, "capturable": True}
"""The hyperparameters that choose an implementation without numbers taken out of tensors."""


def _scalars_as_tensors() -> Any:
    """Return a context in which factors of operations may be tensors.

    A learning rate that is a tensor becomes the `alpha` of `add_` or the `value` of `addcdiv_`,
    which take numbers.
    """

    class Mode(TorchFunctionMode):
        def __torch_function__(
            self, func: Any, _types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            named = dict(kwargs or {})
            for name in ("alpha", "value"):
                if len(args) > 1 and isinstance(named.get(name), Tensor):
                    factor = named.pop(name)
                    args = (args[0], args[1] * factor, *args[2:])
            return func(*args, **named)

    return Mode()


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
        constants: the hyperparameters of each group that are constants of the program.
    """

    optimizer: Optimizer
    prefix: str
    parameters: Mapping[str, torch.nn.Parameter]
    names: Mapping[str, Mapping[str, str]]
    rates: tuple[str, ...]
    shares_step: bool
    constants: tuple[Group, ...]

    def tensors(self) -> dict[str, torch.Tensor]:
        """Return the current tensors by name.

        Raises:
            UsageError: a hyperparameter has changed since the step was traced.
        """
        self._check_constants()
        by_name: dict[str, torch.Tensor] = {}
        for name, keys in self.names.items():
            state = _state(self.optimizer, self.parameters[name])
            for key, each in keys.items():
                by_name.setdefault(each, state[key])
        for name, group in zip(self.rates, self.optimizer.param_groups, strict=True):
            is_double = any(each.dtype == torch.float64 for each in group["params"])
            dtype = torch.float64 if is_double else torch.float32
            by_name[name] = torch.tensor(float(group[RATE]), dtype=dtype)
        return by_name

    def _check_constants(self) -> None:
        groups = self.optimizer.param_groups
        if len(groups) != len(self.constants):
            message = "the optimizer got parameter groups after the step was traced; trace it again"
            raise UsageError(error(message))
        for index, (before, now) in enumerate(zip(self.constants, groups, strict=True)):
            for name in _changed(_leaves(now), _leaves(before)):
                message = (
                    f"'{name}' of the parameter group {index} was {before[name]} when the step was "
                    f"traced, and is {now.get(name)} now; hyperparameters other than the learning "
                    "rate are constants of the program: trace again, or keep them constant, as "
                    "schedulers do with cycle_momentum=False"
                )
                raise UsageError(error(message))

    def without(self, unchanged: Collection[str]) -> OptimizerState:
        """Return the state without that of parameters that get no update."""
        kept = {name: keys for name, keys in self.names.items() if name not in unchanged}
        return replace(self, names=kept)

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
                current[key] = type(current[key])(kept.item()) if is_number else kept


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
    hyperparameters = {*optimizer.defaults} - {RATE}
    constants = tuple(
        {name: value for name, value in group.items() if name in hyperparameters}
        for group in groups
    )
    return OptimizerState(optimizer, prefix, trained, names, rates, shares_step, constants)


def _state(optimizer: Optimizer, parameter: Any) -> dict[str, torch.Tensor]:
    group = next(
        group
        for group in optimizer.param_groups
        if any(each is parameter for each in group["params"])
    )
    return state_of(optimizer, parameter, group)
