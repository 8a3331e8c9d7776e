# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A traced training step."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import torch
from torch.utils import _pytree as pytree

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import ir
from pyshardy.frontends.torch.arrays import array_of, tensor_of
from pyshardy.frontends.torch.signature import Constant
from pyshardy.frontends.torch.training.forward import Forward
from pyshardy.frontends.torch.training.state import OptimizerState, StepNames
from pyshardy.local_program.tensor_spec import Array

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


@dataclass(frozen=True)
class TracedTraining:
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
        message = "the step was traced for other inputs"
        if len(given) != len(names):
            raise UsageError(error(f"{message}: expected {len(names)} targets, got {len(given)}"))
        kwargs |= dict(zip(names, given, strict=True))
        tree: Any = self._forward.in_tree
        leaves, found = pytree.tree_flatten((args, kwargs))
        expected = self._forward.signature.inputs
        if found != tree or len(leaves) != len(expected):
            raise UsageError(error(f"{message}: expected {tree}, got {found}"))
        arrays: dict[str, Array] = {}
        for leaf, name in zip(leaves, expected, strict=True):
            if not isinstance(name, Constant):
                arrays[name] = array_of(leaf, name)
            elif leaf != name.value:
                raise UsageError(error(f"{message}: expected {name.value!r}, got {leaf!r}"))
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
        found = dict(zip(self.results, results, strict=True))
        del found[self._names.loss]
        kept = {
            name: array_of(tensor, name) for name, tensor in self.state.items() if name not in found
        }
        return {**kept, **found}  # type: ignore[return-value]

    def load(self, results: Sequence[Any]) -> None:
        """Write the new state into the model and its optimizer.

        Args:
            results: the results of the program, from `run` or `run_sharded`.
        """
        arrays = dict(zip(self.results, results, strict=True))
        current = self.state
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
