# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A traced PyTorch module, and conversion of tensors to NumPy arrays and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import torch
from torch._subclasses.fake_tensor import is_fake
from torch.utils import _pytree as pytree

from mlir_sdy.assembly import asm
from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import ir
from mlir_sdy.values import argument_shardings
from pyshardy.display import Displayed, Table, counted
from pyshardy.frontends.torch.dtensors import gathered, is_dtensor
from pyshardy.frontends.torch.objects import as_objects, as_trees
from pyshardy.frontends.torch.signature import Constant, Signature
from pyshardy.local_program.tensor_spec import Array


def array_of(tensor: torch.Tensor | Any, name: str) -> Array:
    """Return the values of a tensor; types that NumPy lacks become `float32`.

    The values of a DTensor are gathered, which all processes of its mesh must do at once.

    Args:
        tensor: the tensor.
        name: its name in diagnostics.

    Raises:
        UsageError: it isn't a tensor.
    """
    if not isinstance(tensor, torch.Tensor):
        message = f"'{name}' must be a torch.Tensor, got: {type(tensor).__name__}"
        raise UsageError(error(message))
    if tensor.is_meta or is_fake(tensor):
        message = f"'{name}' has no values, only a shape; give the model weights with values"
        raise UsageError(error(message))
    if is_dtensor(tensor):
        tensor = gathered(tensor)
    values = tensor.detach().cpu()
    # f32 represents all values of smaller types.
    lacking = values.is_floating_point() and values.dtype not in (
        torch.float16,
        torch.float32,
        torch.float64,
    )
    values = values.to(torch.float32) if lacking else values
    return values.resolve_conj().resolve_neg().numpy()


def tensor_of(array: Array, dtype: torch.dtype) -> torch.Tensor:
    """Return a tensor of a type with the values of an array."""
    # PyTorch doesn't support the small types that `ml_dtypes` adds to NumPy.
    is_known = array.dtype.type.__module__ == np.__name__
    taken = np.array(array) if is_known else array.astype(np.float32)
    return torch.from_numpy(taken).to(dtype)


def value_of(array: Array, dtype: torch.dtype | None) -> torch.Tensor | complex:
    """Return a tensor of a type with the values of an array, or its number for the type None."""
    return array.item() if dtype is None else tensor_of(array, dtype)


class _Traced(Protocol):
    """A traced module or training step."""

    @property
    def module(self) -> ir.Module: ...
    @property
    def arguments(self) -> tuple[str, ...]: ...
    @property
    def results(self) -> tuple[str, ...]: ...
    @property
    def state(self) -> Mapping[str, torch.Tensor]: ...


class TracedModel(Displayed):
    """Base of traced modules and training steps."""

    def summary(self: _Traced) -> str:
        """Return the numbers of arguments and results in one line."""
        inputs = len(self.arguments) - len(self.state)
        given = f"{counted(len(self.state), 'tensor')} of state, {counted(inputs, 'input')}"
        return f"{given}, {counted(len(self.results), 'result')}"

    def tables(self: _Traced) -> list[Table]:
        """Return a table of the arguments with their types and shardings."""
        entry = ir.SymbolTable(self.module.operation)["main"].operation
        values, shardings = entry.regions[0].blocks[0].arguments, argument_shardings(entry)
        rows = [
            (name, value.type, sharding or "open")
            for name, value, sharding in zip(self.arguments, values, shardings, strict=True)
        ]
        return [Table("Arguments", ("name", "type", "sharding"), rows)]

    def __str__(self: _Traced) -> str:
        return asm(self.module, debug_info=True)


@dataclass(frozen=True, repr=False)
class TracedModule(TracedModel):
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
        tensors = {**self.state, **tensors_of_inputs(self._signature, self._in_tree, args, kwargs)}
        return [array_of(tensors[name], name) for name in self.arguments]

    def outputs(self, arrays: Sequence[Array]) -> Any:
        """Return the outputs of the module from the arrays of the program's results.

        They don't include updated buffers; see `results` for their positions.

        Raises:
            UsageError: they aren't the arrays of all results.
        """
        if len(arrays) != len(self.results):
            message = f"the program has {len(self.results)} results, but got {len(arrays)} arrays"
            raise UsageError(error(message))
        arrays = [*map(np.asarray, arrays)]
        leaves = [
            output.value
            if isinstance(output, Constant)
            else value_of(arrays[output.index], output.dtype)
            for output in self._signature.outputs
        ]
        return as_objects(pytree.tree_unflatten(leaves, self._out_tree))


def tensors_of_inputs(
    signature: Signature, tree: Any, args: Any, kwargs: Mapping[str, Any]
) -> dict[str, torch.Tensor]:
    """Return the inputs of a program that are tensors, by the names of arguments.

    Args:
        signature: the arguments of the program.
        tree: the tree of inputs that the program was traced for.
        args: the positional inputs.
        kwargs: the keyword inputs.

    Raises:
        UsageError: the program was traced for other inputs.
    """
    _, expected = pytree.tree_unflatten([None] * tree.num_leaves, tree)
    if expected.keys() == kwargs.keys():
        kwargs = {name: kwargs[name] for name in expected}  # in any order
    leaves, given = pytree.tree_flatten(as_trees((args, kwargs)))
    if given != tree or len(leaves) != len(signature.inputs):
        message = f"the module was traced for inputs like {_text(tree)}, got: {_text(given)}"
        raise UsageError(error(message))
    tensors: dict[str, torch.Tensor] = {}
    for leaf, name in zip(leaves, signature.inputs, strict=True):
        if not isinstance(name, Constant):
            tensors[name] = leaf
        elif leaf != name.value:
            message = f"the module was traced for the constant {name.value!r}, got: {leaf!r}"
            raise UsageError(error(message))
    return tensors


def _text(tree: Any) -> str:
    (args, kwargs) = pytree.tree_unflatten(["*"] * tree.num_leaves, tree)
    named = [f"{name}={value}" for name, value in kwargs.items()]
    return f"({', '.join([*map(str, args), *named])})".replace("'*'", "*")
