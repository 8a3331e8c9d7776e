# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Partitioned programs as text for XLA."""

from __future__ import annotations

from mlir_sdy.assembly import asm
from mlir_sdy.discardable import set_discardable
from mlir_sdy.host import ir
from mlir_sdy.traversal import SCALAR_BODIES, operations_in
from pyshardy.backends.donations import ALIAS
from pyshardy.irtools.modules import copy_of
from pyshardy.irtools.plain_operations import make_synchronous
from pyshardy.irtools.stablehlo_builder import StablehloBuilder
from pyshardy.irtools.stablehlo_views import FunctionView, function_type_of, target_of
from pyshardy.irtools.tokens import is_token
from pyshardy.irtools.walks import operations_named
from pyshardy.local_program.custom_calls import drop_inspections
from pyshardy.local_program.segments import CONTROL_FLOW

_MARK, _MANUAL = "mhlo.sharding", "{manual}"
_CUSTOM_CALL = "stablehlo.custom_call"
_APPROXIMATE_TOP_K = "ApproxTopK"
_SHARDING = "Sharding"
"""The custom call that only carries a sharding."""


def text_for_xla(module: ir.Module) -> str:
    """Return the text of a local program, marked so that XLA doesn't partition it again.

    XLA partitions a program for more than one partition by its annotations; operations that are
    marked as manual are already local.

    Args:
        module: a local program, as in `PartitionedProgram.module`. It isn't changed.
    """
    local = copy_of(module)
    make_synchronous(local)  # not every jaxlib reads asynchronous operations
    mark = ir.StringAttr.get(_MANUAL, local.context)
    for view in local.body.operations:
        function = view.operation
        if function.name != "func.func":
            continue
        for inner in operations_in(function, leaving_out=SCALAR_BODIES):
            if inner.operation != function and not _takes_no_mark(inner.operation):
                set_discardable(inner.operation, _MARK, mark)
        for inner in operations_named(CONTROL_FLOW, function):
            _mark_captured(inner, mark)
        types = function_type_of(function)
        donations = _donations(function, len(types.inputs))
        arguments = [ir.DictAttr.get({_MARK: mark, **each}, local.context) for each in donations]
        results = [ir.DictAttr.get({_MARK: mark}, local.context)] * len(types.results)
        FunctionView(function).arg_attrs = arguments
        FunctionView(function).res_attrs = results
    return asm(local)


def text_to_partition(module: ir.Module) -> str:
    """Return the text, with locations, of a program that XLA propagates and partitions.

    Args:
        module: an annotated program. It isn't changed.
    """
    copy = copy_of(module)
    drop_inspections(copy)
    return asm(copy, debug_info=True)


def _donations(function: ir.Operation, count: int) -> list[dict[str, ir.Attribute]]:
    """Return for each argument the attributes that name the result that reuses its memory."""
    dictionaries = FunctionView(function).arg_attrs
    if not dictionaries:
        return [{}] * count
    return [{ALIAS: given[ALIAS]} if ALIAS in given else {} for given in dictionaries]


def _mark_captured(operation: ir.Operation, mark: ir.Attribute) -> None:
    """Mark the values that the regions of an operation capture.

    XLA passes these in a tuple, whose elements have the marks of the defining operations. But
    simplifications on the way to XLA drop the marks of replaced operations, such as a transpose
    that only reshapes. The element then counts as replicated, and XLA's partitioner aborts.
    """
    captured: dict[ir.Value, ir.Value] = {}
    inside = list(operations_in(operation))
    own = {value for each in inside for value in each.operation.results}
    for each in inside:
        for region in each.regions:
            for block in region.blocks:
                own |= set(block.arguments)
    for each in inside[1:]:
        operands = each.operation.operands
        for index, value in enumerate(operands):
            if value in own or is_token(value.type):
                continue
            if value not in captured:
                with operation.location, ir.InsertionPoint(operation):
                    builder = StablehloBuilder({_MARK: mark})
                    captured[value] = builder.custom_call(_SHARDING, [value], [value.type]).result
            operands[index] = captured[value]


def _takes_no_mark(operation: ir.Operation) -> bool:
    """Whether XLA rejects a sharding attribute on an operation."""
    if operation.name != _CUSTOM_CALL:
        return False
    return target_of(operation) == _APPROXIMATE_TOP_K
