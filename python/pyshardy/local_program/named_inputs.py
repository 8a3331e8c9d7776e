# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs of a program by the names of its arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.suggest import did_you_mean

_Value = TypeVar("_Value")


def in_order(
    inputs: Sequence[_Value] | Mapping[str, _Value], names: Sequence[str]
) -> Sequence[_Value]:
    """Return inputs by name in the order of the arguments, and a sequence as it is.

    Args:
        inputs: the inputs.
        names: the names of the arguments. A `%` in front is optional in `inputs`.

    Raises:
        UsageError: an argument has no input, or a name no argument.
    """
    if not isinstance(inputs, Mapping):
        return inputs
    given = {name.removeprefix("%"): value for name, value in inputs.items()}
    plain = [name.removeprefix("%") for name in names]
    listed = f"; the arguments are {', '.join(map(repr, plain))}"
    for name in given:
        if name not in plain:
            advice = did_you_mean(name, plain) or listed
            raise UsageError(error(f"the program has no argument '{name}'{advice}"))
    for name in plain:
        if name not in given:
            raise UsageError(error(f"the inputs have no array '{name}'{listed}"))
    return [given[name] for name in plain]
