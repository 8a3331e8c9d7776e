# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A traced PyTorch module, and conversion of tensors to NumPy arrays and back."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch._subclasses.fake_tensor import is_fake
from torch.export import ExportedProgram
from torch.export.graph_signature import (
    ConstantArgument,
    InputKind,
    OutputKind,
)
from torch.fx import GraphModule
from torch.utils import _pytree as pytree

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import ir
from pyshardy.frontends.torch.dtensors import gathered, is_dtensor
from pyshardy.frontends.torch.fragments import module_of
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
    return (values.to(torch.float32) if lacking else values).resolve_conj().numpy()


def tensor_of(array: Array, dtype: torch.dtype) -> torch.Tensor:
    """Return a tensor of a type with the values of an array."""
    # PyTorch doesn't support the small types that `ml_dtypes` adds to NumPy.
    taken = array.astype(np.float32) if array.dtype.kind == "V" else np.array(array)
    return torch.from_numpy(taken).to(dtype)


def value_of(array: Array, dtype: torch.dtype | None) -> torch.Tensor | complex:
    """Return a tensor of a type with the values of an array, or its number for the type None."""
    return array.item() if dtype is None else tensor_of(array, dtype)


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
        tensors = {**self.state, **tensors_of_inputs(self._signature, self._in_tree, args, kwargs)}
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
    leaves, given = pytree.tree_flatten((args, kwargs))
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


@dataclass(frozen=True, slots=True)
class Constant:
    """A number, a string or None in the place of a tensor, which `torch.export` specializes."""

    value: Any


@dataclass(frozen=True, slots=True)
class Result:
    """A tensor or a number that the module returns.

    Attributes:
        index: the index of the program's result.
        dtype: the type of the tensor; None for a number.
    """

    index: int
    dtype: torch.dtype | None


@dataclass(frozen=True)
class Signature:
    """The arguments and results of an exported program.

    Attributes:
        arguments: the names of its arguments: parameters and buffers by their paths, constants in
            the code, and inputs as in `forward`, all of them different; see `signature_of`.
        state: the arguments that aren't inputs.
        inputs: for each leaf of the tree of inputs the name of its argument.
        results: the names of its results: `output`, `output 1`, and updated buffers by their paths;
            of a joint graph of forward and backward also `loss`, and `gradient.<argument>`.
        outputs: for each leaf of the tree of outputs the index of its result.
    """

    arguments: tuple[str, ...]
    state: Mapping[str, torch.Tensor]
    inputs: tuple[str | Constant, ...]
    results: tuple[str, ...]
    outputs: tuple[Result | Constant, ...]


def signature_of(
    program: ExportedProgram,
    path_of: Callable[[str], str] = str,
    targets: Container[str] = (),
) -> Signature:
    """Return the signature of a program without the values that `graph_of_tensors` removes.

    1. Parameters, buffers and constants have their paths as names.
    2. An input has the name of the parameter of `forward`. If an argument has it already, the input
       gets `input.` in front, and a target of a loss `target.`.
    3. An output with the name of a changed buffer gets `output.` in front.

    A module with a buffer `mask` and an input `mask` has the arguments `mask` and `input.mask`.

    Args:
        program: the program.
        path_of: returns the path to use for that of a tensor in the program.
        targets: the names of the inputs that are targets.
    """
    arguments: list[str] = []
    state: dict[str, torch.Tensor] = {}
    inputs: list[str | Constant] = []
    tensors: Mapping[str, Any] = {**program.constants, **program.state_dict}
    specs = program.graph_signature.input_specs
    taken = {path_of(spec.target) for spec in specs if spec.target is not None}
    for spec in specs:
        if isinstance(spec.arg, ConstantArgument):
            inputs.append(Constant(spec.arg.value))
        elif spec.kind is InputKind.USER_INPUT or spec.target is None:
            prefix = "target." if spec.arg.name in targets else "input."
            name = free_name(spec.arg.name, taken, prefix)
            taken.add(name)
            inputs.append(name)
            arguments.append(name)
        else:
            path = path_of(spec.target)
            arguments.append(path)
            state[path] = tensors[spec.target]
    gradients = (OutputKind.GRADIENT_TO_PARAMETER, OutputKind.GRADIENT_TO_USER_INPUT)
    values = {node.name: node.meta.get("val") for node in program.graph.nodes}
    results: list[str] = []
    outputs: list[Result | Constant] = []
    changed = {spec.target for spec in program.graph_signature.output_specs}
    for spec in program.graph_signature.output_specs:
        if isinstance(spec.arg, ConstantArgument):
            outputs.append(Constant(spec.arg.value))
        elif spec.kind is OutputKind.LOSS_OUTPUT:
            outputs.append(Result(len(results), _dtype(values[spec.arg.name])))
            results.append("loss")
        elif spec.kind in gradients:
            results.append(f"gradient.{spec.target}")
        elif spec.kind is OutputKind.USER_OUTPUT:
            count = sum(isinstance(output, Result) for output in outputs)
            outputs.append(Result(len(results), _dtype(values[spec.arg.name])))
            name = f"output {count}" if count else "output"
            results.append(free_name(name, changed, "output."))
        else:
            results.append(path_of(spec.target or spec.arg.name))
    return Signature(tuple(arguments), state, tuple(inputs), tuple(results), tuple(outputs))


def free_name(name: str, taken: Container[Any], prefix: str) -> str:
    """Return a name with as many prefixes in front as it takes to differ from names in use."""
    while name in taken:
        name = prefix + name
    return name


def _dtype(value: Any) -> torch.dtype | None:
    return value.dtype if isinstance(value, torch.Tensor) else None


def graph_of_tensors(program: ExportedProgram) -> GraphModule:
    """Return the graph of a program without the inputs and outputs that aren't tensors."""
    specs = program.graph_signature
    constants = [isinstance(spec.arg, ConstantArgument) for spec in specs.output_specs]
    dropped = {
        spec.arg.name for spec in specs.input_specs if isinstance(spec.arg, ConstantArgument)
    }
    if not dropped and not any(constants):
        return program.graph_module
    graph = torch.fx.Graph()
    values: dict[Any, Any] = {}
    for node in program.graph.nodes:
        if node.op == "output":
            kept = (
                values[value]
                for value, is_constant in zip(node.args[0], constants, strict=True)
                if not is_constant
            )
            graph.output(tuple(kept))
        elif node.op != "placeholder" or node.name not in dropped:
            values[node] = graph.node_copy(node, values.__getitem__)
    return module_of(graph, program.graph_module)
