# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Removal of tokens, by which StableHLO orders effects, from functions and programs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress

from mlir_sdy.host import ir
from mlir_sdy.traversal import terminator_of
from pyshardy.irtools.stablehlo_builder import StablehloBuilder
from pyshardy.irtools.stablehlo_views import INTERFACE, FunctionView, function_type_of

_MAKERS = frozenset({"stablehlo.after_all", "stablehlo.create_token"})
_TYPE = "!stablehlo.token"
_LAYOUTS = ("operand_layouts", "result_layouts")


def is_token(value_type: ir.Type) -> bool:
    """Whether a type is that of tokens."""
    return not isinstance(value_type, ir.RankedTensorType) and str(value_type) == _TYPE


def users_of_tokens(module: ir.Module) -> list[ir.Operation]:
    """Return the operations with tokens as operands or results, inner ones first."""
    found: list[ir.Operation] = []

    def visit(operation: ir.Operation) -> ir.WalkResult:
        if _has_tokens(operation):
            found.append(operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit, ir.WalkOrder.POST_ORDER)
    return found


def close_entry(function: ir.Operation) -> None:
    """Remove tokens from the arguments and results of an entry function, which creates its own.

    Callers from outside of the program have no tokens, and their calls are ordered. Attributes of
    the other arguments and results are kept.

    Args:
        function: a `func.func` with one block, without calls in the program.
    """
    block = function.regions[0].blocks[0]
    if not _has_tokens(function):
        return
    with function.context, function.location, ir.InsertionPoint.at_block_begin(block):
        for argument in block.arguments:
            if is_token(argument.type):
                argument.replace_all_uses_with(StablehloBuilder().token())
    terminator = terminator_of(block)
    _rebuilt(terminator)
    _erase_arguments(block)
    _change_signature(function)


def drop_tokens(module: ir.Module) -> None:
    """Remove all tokens from a program that is executed in the order of its text.

    Args:
        module: a program in which only functions, calls, control flow and custom calls have
            tokens. It is changed in place.
    """
    blocks: list[ir.Block] = []
    # Users come before producers, and operations before those in their regions.
    for operation in reversed(users_of_tokens(module)):
        if operation.name == "func.func":
            _change_signature(operation)
            blocks += operation.regions[0].blocks
        elif operation.name in _MAKERS:
            operation.erase()
        else:
            rebuilt = _rebuilt(operation)
            for region in rebuilt.regions:
                blocks += region.blocks
    for block in blocks:
        _erase_arguments(block)


def _has_tokens(operation: ir.Operation) -> bool:
    if FunctionView.function_type.is_in(operation):
        signature = function_type_of(operation)
        return any(map(is_token, (*signature.inputs, *signature.results)))
    return any(is_token(each.type) for each in (*operation.operands, *operation.results))


def _rebuilt(operation: ir.Operation) -> ir.Operation:
    """Replace an operation whose tokens are unused by one without tokens."""
    kept = [not is_token(result.type) for result in operation.results]
    attributes = {
        name: value for name, value in operation.attributes.items() if name not in _LAYOUTS
    }
    made = ir.Operation.create(
        operation.name,
        results=[result.type for result in compress(operation.results, kept)],
        operands=[operand for operand in operation.operands if not is_token(operand.type)],
        attributes=attributes,
        regions=len(operation.regions),
        loc=operation.location,
        ip=ir.InsertionPoint(operation),
    )
    for source, target in zip(operation.regions, made.regions, strict=True):
        for block in list(source.blocks):
            block.append_to(target)
    for old, new in zip(compress(operation.results, kept), made.results, strict=True):
        old.replace_all_uses_with(new)
    operation.erase()
    return made


def _erase_arguments(block: ir.Block) -> None:
    for index in reversed(range(len(block.arguments))):
        if is_token(block.arguments[index].type):
            block.erase_argument(index)


def _change_signature(function: ir.Operation) -> None:
    signature = function_type_of(function)
    parts: list[Sequence[ir.Type]] = []
    for attributes, types in zip(INTERFACE, (signature.inputs, signature.results), strict=True):
        kept = [not is_token(each) for each in types]
        parts.append([*compress(types, kept)])
        if attributes.is_in(function):
            attributes.set_on(function, [*compress(attributes.of(function), kept)])
    flat = ir.FunctionType.get(*parts, context=function.context)
    FunctionView(function).function_type = flat
