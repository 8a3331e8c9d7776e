# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversions of PyTorch operations to StableHLO that the importer lacks.

The importer passes these operations on as custom calls, which are replaced afterwards:

    @lowering("aten._fft_c2c")
    def fft(build, self, dim, normalization, forward): ...  # builds StableHLO

A lowering gets the builder, then the arguments of the operation with an `ir.Value` in the place of
each tensor. It returns a value, or a sequence of values for several results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mlir_sdy.discardable import text_of
from mlir_sdy.host import TORCH_CALL, ir, passmanager
from pyshardy.frontends.torch.registry import Registry
from pyshardy.irtools.functions import functions_of
from pyshardy.irtools.stablehlo_builder import StablehloBuilder
from pyshardy.irtools.stablehlo_views import CustomCallView, FunctionView, symbol_name
from pyshardy.irtools.walks import operations_named


class LoweringBuilder(StablehloBuilder):
    """The builder of the operations that replace one of PyTorch.

    Attributes:
        node: the operation.
        result_types: the types of its results.
        functions: the functions for the graphs that it may refer to, by name.
    """

    def __init__(
        self, node: Any, result_types: Sequence[ir.Type], functions: Mapping[str, ir.Operation]
    ):
        super().__init__()
        self.node = node
        self.result_types = tuple(result_types)
        self.functions = functions


_REGISTRY: Registry[Callable[..., ir.Value | Sequence[ir.Value]]] = Registry()

lowering = _REGISTRY.register
"""Register a lowering for operations, given by their names."""


def has_lowering(operation: Any) -> bool:
    """Whether an operation of PyTorch has a lowering."""
    return _REGISTRY.get(operation) is not None


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
    if len(functions) > 1:
        for name, function in functions.items():
            if name != "main":
                FunctionView(function).sym_visibility = "private"
        with module.context:
            passmanager.PassManager.parse("builtin.module(inline)").run(module.operation)


def _lower(call: ir.Operation, node: Any, functions: Mapping[str, ir.Operation]) -> None:
    """Replace the custom call for an operation of PyTorch."""
    from torch.fx import map_arg  # noqa: PLC0415

    lower = _REGISTRY.get(node.target)
    assert lower is not None
    operands = iter(call.operands)

    def take(_: Any) -> Any:
        return next(operands)

    args, kwargs = map_arg((node.args, node.kwargs), take)
    results = call.results
    with ir.InsertionPoint(call), call.location:
        build = LoweringBuilder(node, [one.type for one in results], functions)
        made = lower(build, *args, **kwargs)
    values = made if isinstance(made, Sequence) else (made,)
    for result, value in zip(results, values, strict=True):
        result.replace_all_uses_with(value)
    call.erase()
