# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rewrites of a local program that XLA requires, in a child and in `as_jax`."""

from __future__ import annotations

from mlir_sdy.assembly import asm
from mlir_sdy.discardable import set_discardable
from mlir_sdy.host import ir
from mlir_sdy.traversal import SCALAR_BODIES, operations_in
from mlir_sdy.values import OF_GSPMD
from pyshardy.backends.decompositions.registry import decompose
from pyshardy.backends.decompositions.tensors import Tensor, constant, where
from pyshardy.backends.donations import ALIAS
from pyshardy.backends.jax_internals import stablehlo_version
from pyshardy.backends.registry import XLA_ASYNC_COLLECTIVES
from pyshardy.irtools.collectives import first_free_channel, set_channel
from pyshardy.irtools.functions import CallGraph
from pyshardy.irtools.loops import carries_unchanged
from pyshardy.irtools.modules import copy_of
from pyshardy.irtools.plain_operations import make_synchronous
from pyshardy.irtools.ragged_dots import expand_ragged_dots
from pyshardy.irtools.stablehlo_builder import StablehloBuilder
from pyshardy.irtools.stablehlo_views import (
    CollectiveView,
    FunctionView,
    function_type_of,
    target_of,
)
from pyshardy.irtools.tokens import is_token
from pyshardy.irtools.walks import operations_named
from pyshardy.local_program.custom_calls import drop_inspections
from pyshardy.local_program.errors import ExecutionError
from pyshardy.local_program.segments import CONTROL_FLOW
from pyshardy.local_program.values import use_dense_constants

_FOLDED_WRONGLY = ("convert",)
"""The operations whose decomposition XLA needs on its way from StableHLO to HLO."""

_LAYOUT_CONSTRAINT = "LayoutConstraint"
"""The custom call that fixes the layout of a tensor in XLA."""

_VARIADIC = frozenset({"stablehlo.all_gather", "stablehlo.all_reduce"})
_REDUCTIONS = frozenset({"stablehlo.all_reduce", "stablehlo.reduce_scatter"})
_MAXIMUM = "stablehlo.maximum"
_EXTREMES = frozenset({_MAXIMUM, "stablehlo.minimum"})


def prepare_for_xla(module: ir.Module, platform: str, *, nan_safe: bool = False) -> None:
    """Rewrite operations to the forms that XLA supports.

    Args:
        module: a local program, which is changed in place.
        platform: the platform by its name in JAX: `cpu`, `gpu`, `cuda` ...
        nan_safe: whether maxima and minima of several devices keep NaN on a CPU; all collectives
            become synchronous then, as those are two.

    Raises:
        ExecutionError: a function calls itself, which crashes XLA.
    """
    CallGraph(module).check_not_recursive(
        "compiled by XLA: run it with the backend 'jit'", ExecutionError
    )
    make_synchronous(module, () if nan_safe or not _reads_async() else XLA_ASYNC_COLLECTIVES)
    use_dense_constants(module)
    _split_collectives(module)
    decompose(module, _FOLDED_WRONGLY)
    if platform == "cpu":
        expand_ragged_dots(module)
        if nan_safe:
            _keep_nans(module)
        _lay_out_transforms(module)


def _reads_async() -> bool:
    """Whether the jaxlib at hand reads asynchronous operations: with StableHLO 1.15 or newer."""
    major, minor, *_ = map(int, stablehlo_version().split("."))
    return (major, minor) >= (1, 15)


# --- Layouts that XLA's CPU doesn't assign itself ------------------------------------------------


def _lay_out_transforms(module: ir.Module) -> None:
    """Fix the layout of the operands and results of Fourier transforms to row-major.

    Their code supports no other layout, but other operations, such as all-gathers, may cause XLA
    to assign one.

    Args:
        module: a program for XLA's CPU, which is changed in place.
    """
    for transform in operations_named({"stablehlo.fft"}, module):
        with transform.location:
            operand = transform.operands[0]
            transform.operands[0] = _laid_out(operand, ir.InsertionPoint(transform))
            result = transform.results[0]
            laid_out = _laid_out(result, ir.InsertionPoint.after(transform))
            result.replace_all_uses_except(laid_out, laid_out.owner.operation)


def _laid_out(value: ir.Value, place: ir.InsertionPoint) -> ir.Value:
    """Return a tensor in row-major layout."""
    rank = value.type.rank
    dims = ", ".join(map(str, reversed(range(rank))))
    layout = ir.Attribute.parse(f"[dense<[{dims}]> : tensor<{rank}xindex>]")
    layouts = {"operand_layouts": layout, "result_layouts": layout}
    with place:
        call = StablehloBuilder().custom_call(_LAYOUT_CONSTRAINT, [value], [value.type], layouts)
    return call.result


# --- Collectives of several operands -------------------------------------------------------------


def _split_collectives(module: ir.Module) -> None:
    """Replace collectives of several operands by a collective per operand, with distinct channels.

        %0:2 = "stablehlo.all_reduce"(%a, %b)

        %0 = "stablehlo.all_reduce"(%a)
        %1 = "stablehlo.all_reduce"(%b)

    XLA refuses the first ("SPMD partitioner supports only single-operand allreduce in manual
    partitioning mode"), and combines collectives itself if that is profitable on a device.

    Args:
        module: a local program, which is changed in place.
    """
    channel = first_free_channel(module)
    for operation in operations_named(_VARIADIC, module):
        if len(operation.operands) == 1:
            continue
        for operand, result in zip(operation.operands, operation.results, strict=True):
            single = operation.clone(ip=False).operation
            made = ir.Operation.create(
                operation.name,
                results=[result.type],
                operands=[operand],
                attributes=dict(operation.attributes.items()),
                regions=len(operation.regions),
                loc=operation.location,
                ip=ir.InsertionPoint(operation),
            )
            for source, target in zip(single.regions, made.regions, strict=True):
                for block in list(source.blocks):
                    block.append_to(target)
            if CollectiveView.channel_handle.is_in(made):
                set_channel(made, channel)
                channel += 1
            result.replace_all_uses_with(made.result)
        operation.erase()


# --- Reductions that propagate NaN ---------------------------------------------------------------


def drops_nans(operation: ir.Operation) -> bool:
    """Whether XLA drops NaN in a collective: a maximum or minimum of floating-point numbers."""
    if operation.name not in _REDUCTIONS:
        return False
    first, *_ = operation.regions[0].blocks[0].operations
    element = ir.ShapedType(operation.operands[0].type).element_type
    return first.operation.name in _EXTREMES and isinstance(element, ir.FloatType)


def _keep_nans(module: ir.Module) -> None:
    """Rewrite such collectives to return NaN where any device has NaN.

    A second collective computes these positions: the maximum of flags that are 1 for NaN, else 0.

    Args:
        module: a local program with collectives of one operand, which is changed in place.
    """
    channel = first_free_channel(module)
    for operation in operations_named(_REDUCTIONS, module):
        if not drops_nans(operation):
            continue
        operand, result = Tensor(operation.operands[0]), Tensor(operation.results[0])
        with operation.context, operation.location:
            integer = ir.IntegerType.get_signless(32)
            with ir.InsertionPoint(operation):
                flags = (~operand.equals(operand)).to(integer)
                told = _maximum(operation, flags, ir.RankedTensorType.get(result.shape, integer))
            if CollectiveView.channel_handle.is_in(told.owner.operation):
                set_channel(told.owner.operation, channel)
                channel += 1
            with ir.InsertionPoint.after(operation):
                nans = constant(float("nan"), result.element)
                kept = where(Tensor(told) > 0, nans, result).value
        result.value.replace_all_uses_except(kept, kept.owner.operation)


def _maximum(operation: ir.Operation, flags: Tensor, result: ir.Type) -> ir.Value:
    """Build the maximum of flags in the groups of a collective."""
    made = ir.Operation.create(
        operation.name,
        results=[result],
        operands=[flags.value],
        attributes=dict(operation.attributes.items()),
        regions=1,
    )
    StablehloBuilder().fill_body(made.regions[0], flags.element, _MAXIMUM)
    return made.result


_MANUAL = "{manual}"
_WHILE = "stablehlo.while"
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
    mark = ir.StringAttr.get(_MANUAL, local.context)
    for view in local.body.operations:
        function = view.operation
        if function.name != "func.func":
            continue
        for inner in operations_in(function, leaving_out=SCALAR_BODIES):
            if inner.operation != function and not _takes_no_mark(inner.operation):
                set_discardable(inner.operation, OF_GSPMD, mark)
        for inner in operations_named(CONTROL_FLOW, function):
            _mark_captured(inner, mark)
        types = function_type_of(function)
        donations = _donations(function, len(types.inputs))
        arguments = [ir.DictAttr.get({OF_GSPMD: mark, **each}, local.context) for each in donations]
        results = [ir.DictAttr.get({OF_GSPMD: mark}, local.context)] * len(types.results)
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
    that only reshapes. The element then counts as replicated, and XLA's partitioner aborts. Another
    simplification makes regions capture the operands that a loop returns unchanged.
    """
    captured: dict[ir.Value, ir.Value] = {}
    inside = list(operations_in(operation))
    own = {value for each in inside for value in each.operation.results}
    for each in inside:
        for region in each.regions:
            for block in region.blocks:
                own |= set(block.arguments)
    for each in inside:
        is_around = each.operation == operation
        operands = each.operation.operands
        for index, value in enumerate(operands):
            if value in own or is_token(value.type):
                continue
            if is_around and not (each.name == _WHILE and carries_unchanged(operation, index)):
                continue
            if value not in captured:
                with operation.location, ir.InsertionPoint(operation):
                    builder = StablehloBuilder({OF_GSPMD: mark})
                    captured[value] = builder.custom_call(_SHARDING, [value], [value.type]).result
            operands[index] = captured[value]


def _takes_no_mark(operation: ir.Operation) -> bool:
    """Whether XLA rejects a sharding attribute on an operation."""
    if operation.name != _CUSTOM_CALL:
        return False
    return target_of(operation) == _APPROXIMATE_TOP_K
