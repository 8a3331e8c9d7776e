# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes that unroll loops: those of the dialect, and `stablehlo.while` around names."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.discardable import get_discardable, remove_discardable, set_discardable
from mlir_sdy.host import ir, location_of
from mlir_sdy.mpmd.building import unsigned
from mlir_sdy.mpmd.reading import (
    CALL,
    CALL_COUNTER,
    FOR,
    body_of,
    integer_of,
    operations_of,
    returned_values,
)
from mlir_sdy.uses import replace_by
from pyshardy.irtools.functions import CallGraph, FreshNames, functions_of
from pyshardy.irtools.loops import Counter, loop_counter
from pyshardy.irtools.stablehlo_views import callee_of, symbol_name
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.inference.mesh_sets import operands_with_free_values
from pyshardy.mpmd.passes.import_names import functions_with_names, mark_of
from pyshardy.pipeline import register_pass


@register_pass("mpmd-unroll-for-loops", release="0.10.2")
def unroll_for_loops(module: ir.Module) -> None:
    """Unroll loops completely.

    The operations of iteration `i` get the attribute `unroll_counter` with the value `i`, counted
    on from the loop before in the same function. The index becomes a constant.

    Raises:
        PassError: a loop is to be unrolled partially, or is inside of another loop.
    """
    for function in functions_of(module):
        start = 0
        for loop in operations_named({FOR}, function):
            iterations = integer_of(loop, "iterations")
            factor = integer_of(loop, "unroll_factor")
            if iterations is None or factor != iterations:
                raise PassError(
                    error(
                        "Currently, only full unrolling is supported, unroll factor: "
                        f"{factor or 'missing'}; the loop has {iterations} iterations: set "
                        f"'unroll_factor = {iterations} : ui32'",
                        location_of(loop.location),
                    )
                )
            if operations_named({FOR}, loop):
                message = (
                    "Nested fori loops aren't supported. Please contact OWNERs if you need this "
                    "feature."
                )
                raise PassError(error(message, location_of(loop.location)))
            _unroll(loop, start, iterations)
            start += iterations


def _unroll(loop: ir.Operation, start: int, iterations: int) -> None:
    carried = list(loop.operands)
    for iteration in range(iterations):
        counter = unsigned(start + iteration, loop.context)
        copy = loop.clone().operation
        body = body_of(copy)
        index = body.arguments[len(carried)]
        with ir.InsertionPoint(loop), loop.location:
            value = ir.DenseElementsAttr.get_splat(
                index.type, ir.IntegerAttr.get(index.type.element_type, iteration)
            )
            constant = ir.Operation.create(
                "stablehlo.constant", results=[index.type], attributes={"value": value}
            )
        set_discardable(constant, UNROLL_COUNTER, counter)
        index.replace_all_uses_with(constant.results[0])
        for argument, value in zip(body.arguments, carried, strict=False):
            argument.replace_all_uses_with(value)
        carried = returned_values(copy)
        for operation in operations_of(body)[:-1]:
            set_discardable(operation, UNROLL_COUNTER, counter)
            operation.move_before(loop)
        copy.erase()
    replace_by(loop, *carried)


UNROLL_COUNTER = "unroll_counter"
"""The attribute with the number of the iteration of a loop that an operation comes from."""


@register_pass("mpmd-from-unroll-to-call-counter", release="0.10.2")
def from_unroll_to_call_counter(module: ir.Module) -> None:
    """Number calls by the iterations of the loops that they come from.

    On `mpmd.call`s, the attribute `unroll_counter` becomes `call_counter`.
    """
    for call in operations_named({CALL}, module):
        counter = get_discardable(call, UNROLL_COUNTER)
        if counter is not None:
            set_discardable(call, CALL_COUNTER, counter)
            remove_discardable(call, UNROLL_COUNTER)


_WHILE = "stablehlo.while"
_MOST_TRIPS = 256


@register_pass("mpmd-unroll-scan", release="pyshardy")
def unroll_scan(module: ir.Module) -> None:
    """Unroll loops over microbatches, a known number of calls of functions with names.

    The body of a `stablehlo.while` becomes a function, and the loop its calls with the numbers of
    microbatches. The numbers of a loop whose names are all transposed descend, as the loop of a
    gradient goes through the microbatches in reverse.

    Raises:
        PassError: the number of iterations isn't constant or is above 256, or the loop is inside of
            another region.
    """
    graph = CallGraph(module)
    marked = functions_with_names(graph)
    if not marked:
        return
    names = FreshNames(module)
    found = {
        loop: calls
        for loop in operations_named({_WHILE}, module)
        if (calls := [each for each in _calls(loop) if callee_of(each) in marked])
    }
    inside = {each for calls in found.values() for call in calls for each in _reached(graph, call)}
    for loop, calls in found.items():
        counter = _checked(loop, inside)
        name = names.name("scan")
        _unroll_scan(module, loop, counter, name, descends=_are_transposed(graph, calls))


def _calls(loop: ir.Operation) -> list[ir.Operation]:
    return operations_named({"func.call"}, loop)


def _reached(graph: CallGraph, call: ir.Operation) -> Iterator[str]:
    """Yield the functions that a call runs."""
    yield callee_of(call)
    for each in graph.calls[callee_of(call)]:
        yield from _reached(graph, each)


def _checked(loop: ir.Operation, inside: Collection[str]) -> Counter:
    """Return the counter of a loop that can be unrolled.

    Args:
        loop: the loop.
        inside: the functions that are called in loops with names.
    """
    place = location_of(loop.location)
    parent = loop.parent
    is_in_function = parent is not None and parent.operation.name == "func.func"
    if parent is None or not is_in_function or symbol_name(parent.operation) in inside:
        message = "a loop with names must not be inside of another loop or branch"
        raise PassError(error(f"{message}: write a Python loop outside", place))
    counter = loop_counter(loop)
    if counter is None:
        message = (
            "a loop with names needs a constant number of iterations: write a Python loop, "
            "'jax.lax.scan', or 'sdy.mpmd.microbatched'"
        )
        raise PassError(error(message, place))
    if counter.trips > _MOST_TRIPS:
        message = f"a loop with names has {counter.trips} iterations, more than {_MOST_TRIPS}"
        raise PassError(error(f"{message}: use larger microbatches", place))
    return counter


def _are_transposed(graph: CallGraph, calls: list[ir.Operation]) -> bool:
    """Whether all names that are called are transposed."""
    found: list[bool] = []
    stack = [(call, False) for call in calls]
    while stack:
        call, is_transposed = stack.pop()
        mark = mark_of(call)
        is_transposed = is_transposed or mark.transpose_count > 0
        if mark.kind == "name":
            found.append(is_transposed)
        else:
            stack += [(each, is_transposed) for each in graph.calls[callee_of(call)]]
    return bool(found) and all(found)


def _unroll_scan(
    module: ir.Module, loop: ir.Operation, counter: Counter, name: str, *, descends: bool
) -> None:
    own, body = list(loop.operands), loop.regions[1].blocks[0]
    uses = {
        value: [use for use in value.uses if _is_inside(use.owner.operation, body)]
        for value in operands_with_free_values(loop)
    }
    captured = [value for value, found in uses.items() if found]
    types = [each.type for each in own]
    with loop.context, loop.location:
        inputs = [*types, *(each.type for each in captured)]
        function = ir.Operation.create(
            "func.func",
            attributes={
                "sym_name": ir.StringAttr.get(name),
                "sym_visibility": ir.StringAttr.get("private"),
                "function_type": ir.TypeAttr.get(ir.FunctionType.get(inputs, types)),
            },
            regions=1,
            ip=ir.InsertionPoint(module.body),
        )
        values = list(own)
        for trip in range(counter.trips):
            number = ir.IntegerAttr.get(
                ir.ShapedType(types[counter.index]).element_type,
                counter.start + trip * counter.step,
            )
            with ir.InsertionPoint(loop):
                values[counter.index] = ir.Operation.create(
                    "stablehlo.constant",
                    results=[types[counter.index]],
                    attributes={
                        "value": ir.DenseElementsAttr.get_splat(types[counter.index], number)
                    },
                ).results[0]
                call = ir.Operation.create(
                    "func.call",
                    results=types,
                    operands=[*values, *captured],
                    attributes={"callee": ir.FlatSymbolRefAttr.get(name)},
                )
            microbatch = counter.trips - 1 - trip if descends else trip
            set_discardable(call, "mpmd.call_counter", ir.StringAttr.get(str(microbatch)))
            values = list(call.results)
    for old, new in zip(loop.results, values, strict=True):
        old.replace_all_uses_with(new)
    body.append_to(function.regions[0])
    block = function.regions[0].blocks[0]
    for value in captured:
        argument = block.add_argument(value.type, value.location)
        for use in uses[value]:
            use.owner.operation.operands[use.operand_number] = argument
    end = list(block.operations)[-1].operation
    with ir.InsertionPoint(end), end.location:
        ir.Operation.create("func.return", operands=list(end.operands))
    end.erase()
    loop.erase()


def _is_inside(operation: ir.Operation, block: ir.Block) -> bool:
    while operation.block != block:
        parent = operation.parent
        if parent is None or parent.operation.name == "func.func":
            return False
        operation = parent.operation
    return True
