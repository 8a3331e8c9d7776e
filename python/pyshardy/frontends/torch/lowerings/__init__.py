# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversions of PyTorch operations to StableHLO that the importer lacks.

The importer passes these operations on as custom calls, which are replaced afterwards:

    @lowering("aten._fft_c2c")
    def fft(build, self, dim, normalization, forward): ...  # builds StableHLO

A lowering gets the builder, then the arguments of the operation with an `ir.Value` in the place of
each tensor. It returns a value, or a sequence of values for several results. With `applies`, it
takes some forms of an operation only, and others are decomposed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.fx import map_arg

from mlir_sdy.diagnostics import PassError
from mlir_sdy.discardable import text_of
from mlir_sdy.host import TORCH_CALL, ir, passmanager
from pyshardy.frontends.torch import failures
from pyshardy.frontends.torch.fragments import Arguments, values_of
from pyshardy.frontends.torch.lowerings.builder import (
    COMPLEX_LOWERINGS,
    LOWERINGS,
    BuildFunction,
    LoweringBuilder,
)
from pyshardy.frontends.torch.registry import load_definitions
from pyshardy.irtools.functions import functions_of
from pyshardy.irtools.stablehlo_views import CustomCallView, FunctionView, symbol_name
from pyshardy.irtools.walks import operations_named

load_definitions(__name__)


def has_lowering(operation: Any, arguments: Arguments | None = None) -> bool:
    """Whether an operation of PyTorch has a lowering.

    Args:
        operation: the operation.
        arguments: its arguments and keyword arguments; without them, the lowering must take all.
    """
    result = LOWERINGS.get(operation)
    if result is None or result.applies is None:
        return result is not None
    return arguments is not None and result.applies(*arguments[0], **arguments[1])


def lowering_of(node: Any) -> BuildFunction | None:
    """Return the function that builds an operation in a graph of PyTorch, or None."""
    result = LOWERINGS.get(node.target)
    if result is not None and has_lowering(node.target, (node.args, node.kwargs)):
        return result.build
    of_complex = COMPLEX_LOWERINGS.get(node.target)
    return of_complex if of_complex is not None and _has_complex_numbers(node) else None


def _has_complex_numbers(node: Any) -> bool:
    values = (value for one in (node, *node.all_input_nodes) for value in values_of(one))
    return any(isinstance(value, torch.Tensor) and value.is_complex() for value in values)


def lower_calls(module: ir.Module, nodes: Sequence[Any]) -> None:
    """Replace the custom calls for operations of PyTorch.

    Args:
        module: a module with custom calls of `TORCH_CALL`.
        nodes: the operations, see `TorchImport`.
    """
    functions = {symbol_name(function): function for function in functions_of(module)}
    for operation in operations_named(["stablehlo.custom_call"], module):
        call = CustomCallView(operation)
        if call.call_target_name == TORCH_CALL:
            _lower(operation, nodes[int(text_of(operation, "backend_config") or 0)], functions)
    for name, function in functions.items():
        if name != "main":
            FunctionView(function).sym_visibility = "private"
    # The importer has merged equal operations that it has converted itself.
    passes = "inline,func.func(cse)" if len(functions) > 1 else "func.func(cse)"
    with module.context:
        passmanager.PassManager.parse(f"builtin.module({passes})").run(module.operation)


def _lower(call: ir.Operation, node: Any, functions: Mapping[str, ir.Operation]) -> None:
    """Replace the custom call for an operation of PyTorch.

    Raises:
        PassError: the operation has no counterpart for its types.
    """
    lower = lowering_of(node)
    assert lower is not None
    operands = iter(call.operands)

    def take(_: Any) -> Any:
        return next(operands)

    args, kwargs = map_arg((node.args, node.kwargs), take)
    results = call.results
    with ir.InsertionPoint(call), call.location:
        build = LoweringBuilder(node, [one.type for one in results], functions)
        try:
            output = lower(build, *args, **kwargs)
        except (ir.MLIRError, ValueError) as failure:  # of a type that no operation has
            raise PassError(failures.of_operation(node, str(failure))) from failure
    values = output if isinstance(output, Sequence) else (output,)
    for result, value in zip(results, values, strict=True):
        result.replace_all_uses_with(value)
    call.erase()
