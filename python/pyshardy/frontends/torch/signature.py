# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The arguments and results of an exported program."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import (
    ConstantArgument,
    InputKind,
    OutputKind,
)
from torch.fx import GraphModule

from mlir_sdy.diagnostics import UsageError, error
from pyshardy.frontends.torch.fragments import module_of


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


def merge_tied(program: ExportedProgram, only: Container[str] | None = None) -> None:
    """Give tensors with several paths in a module one argument, of the first path.

    Args:
        program: the program, which changes.
        only: the names of the placeholders to merge; by default all.
    """
    specs = program.graph_signature.input_specs
    placeholders = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    tensors: Mapping[str, Any] = {**program.constants, **program.state_dict}
    first: dict[int, Any] = {}
    for spec in [*specs]:
        if spec.target is None or (only is not None and spec.arg.name not in only):
            continue
        kept = first.setdefault(id(tensors[spec.target]), spec)
        if kept is not spec:
            placeholders[spec.arg.name].replace_all_uses_with(placeholders[kept.arg.name])
            program.graph.erase_node(placeholders[spec.arg.name])
            specs.remove(spec)


def check_memory(tensors: Mapping[str, torch.Tensor], changed: Iterable[str]) -> None:
    """Check that tensors that a program changes share no memory with the rest of its state.

    Args:
        tensors: the state of a program by name, each tensor once.
        changed: the names of those that it changes.

    Raises:
        UsageError: two tensors overlap, such as a parameter and its transpose.
    """
    places = {name: place for name, tensor in tensors.items() if (place := _place_of(tensor))}
    by_memory: dict[Any, list[str]] = {}
    for name, (memory, _, _) in places.items():
        by_memory.setdefault(memory, []).append(name)
    for name in changed:
        if name not in places:
            continue
        memory, start, end = places[name]
        for other in by_memory[memory]:
            _, first, last = places[other]
            if other != name and first < end and start < last:
                message = f"'{name}' and '{other}' share memory, and '{name}' changes"
                hint = "which the other one can't follow; use one parameter or buffer for both"
                raise UsageError(error(f"{message}, {hint}"))


def _place_of(tensor: torch.Tensor) -> tuple[Any, int, int] | None:
    """Return the memory of a tensor, and the first byte in it and the one after the last."""
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter) or not tensor.numel():
        return None
    size, start = tensor.element_size(), int(tensor.storage_offset())
    last = sum((each - 1) * int(by) for each, by in zip(tensor.shape, tensor.stride(), strict=True))
    return tensor.untyped_storage()._cdata, start * size, (start + last + 1) * size


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
