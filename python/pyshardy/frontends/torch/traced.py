# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A traced PyTorch module."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils import _pytree as pytree

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import ir
from pyshardy.frontends.torch.arrays import array_of, value_of
from pyshardy.frontends.torch.signature import Constant, Signature
from pyshardy.local_program.tensor_spec import Array


@dataclass(frozen=True)
class TracedModule:
    """A PyTorch module as a function of its weights and inputs.

    Attributes:
        module: the program, whose arguments are parameters, buffers, constants and inputs.
    """

    module: ir.Module
    _signature: Signature = field(repr=False)
    _in_tree: Any = field(repr=False)
    _out_tree: Any = field(repr=False)

    @property
    def arguments(self) -> tuple[str, ...]:
        """The name of each argument: `layers.0.weight`, or the name of the input."""
        return self._signature.arguments

    @property
    def results(self) -> tuple[str, ...]:
        """The name of each result: `output`, `output 1`, or the path of an updated buffer."""
        return self._signature.results

    @property
    def state(self) -> Mapping[str, torch.Tensor]:
        """The tensors of the arguments that aren't inputs, by their names."""
        return self._signature.state

    def inputs(self, *args: Any, **kwargs: Any) -> list[Array]:
        """Return the arrays of all arguments of the program, for the weights and for inputs.

        Args:
            args: the positional inputs.
            kwargs: the keyword inputs.

        Raises:
            UsageError: the module was traced for other inputs.
        """
        leaves, tree = pytree.tree_flatten((args, kwargs))
        expected = self._signature.inputs
        if tree != self._in_tree or len(leaves) != len(expected):
            message = f"the module was traced for inputs like {_text(self._in_tree)}"
            raise UsageError(error(f"{message}, got: {_text(tree)}"))
        tensors = dict(self.state)
        for leaf, name in zip(leaves, expected, strict=True):
            if not isinstance(name, Constant):
                tensors[name] = leaf
            elif leaf != name.value:
                message = f"the module was traced for the constant {name.value!r}, got: {leaf!r}"
                raise UsageError(error(message))
        return [array_of(tensors[name], name) for name in self.arguments]

    def outputs(self, arrays: Sequence[Array]) -> Any:
        """Return the outputs of the module from the arrays of the program's results.

        They don't include updated buffers; see `results` for their positions.
        """
        leaves = [
            output.value
            if isinstance(output, Constant)
            else value_of(arrays[output.index], output.dtype)
            for output in self._signature.outputs
        ]
        return pytree.tree_unflatten(leaves, self._out_tree)


def _text(tree: Any) -> str:
    (args, kwargs) = pytree.tree_unflatten(["*"] * tree.num_leaves, tree)
    named = [f"{name}={value}" for name, value in kwargs.items()]
    return f"({', '.join([*map(str, args), *named])})".replace("'*'", "*")
