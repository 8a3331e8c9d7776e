# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shardings of the arguments of a training step.

1. Patterns that begin with the prefix of the optimizer's state, `optimizer.`, are those of this
   state, and all others those of parameters, buffers, inputs and targets.
2. A tensor of the state without a pattern that has the shape of its parameter is sharded like it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from mlir_sdy.model import TensorSharding
from pyshardy.frontends.torch.patterns import Axes, match
from pyshardy.frontends.torch.training.state import OptimizerState

Shape = Sequence[int]

Value = TypeVar("Value")


def shardings_of(
    patterns: Mapping[str, TensorSharding | Axes],
    shapes: Mapping[str, Shape],
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
    found: dict[str, TensorSharding] = {}
    for is_state in (False, True):
        of_patterns = _part(patterns, state.prefix, is_state=is_state)
        found |= match(of_patterns, _part(ranks, state.prefix, is_state=is_state))
    for parameter, names in state.names.items():
        for name in names.values():
            follows = parameter in found and name in shapes and name not in found
            if follows and [*shapes[name]] == [*shapes[parameter]]:
                found[name] = found[parameter]
    return found


def _part(by_name: Mapping[str, Value], prefix: str, *, is_state: bool) -> dict[str, Value]:
    """Return the entries for the optimizer's state, or all others."""
    return {name: value for name, value in by_name.items() if name.startswith(prefix) == is_state}
