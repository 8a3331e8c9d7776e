# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes on calls of functions on several meshes."""

from __future__ import annotations

from mlir_sdy.discardable import set_discardable
from mlir_sdy.host import ir
from mlir_sdy.mpmd.reading import (
    CALL,
    FOR,
    FRAGMENT,
    NAMED_COMPUTATION,
    body_of,
    is_mpmd_function,
    operations_of,
    returned_values,
)
from mlir_sdy.symbols import enclosing_function
from mlir_sdy.uses import is_used
from pyshardy.irtools.functions import (
    CallGraph,
    can_be_inlined,
    entry_block,
    erase_arguments,
    functions_of,
    is_private,
    must_stay,
    replace_by_body,
)
from pyshardy.irtools.stablehlo_views import CallView, FunctionView, symbol_name
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.rewriting.functions import (
    called_functions,
    calls_by_callee,
    copy_topology,
    entry_points,
    erase_results,
    mpmd_functions,
)
from pyshardy.mpmd.rewriting.regions import call_attributes, negligible_producer, with_call_values
from pyshardy.pipeline import register_pass


@register_pass("mpmd-copy-topology-from-main", release="0.10.2")
def copy_topology_from_main(module: ir.Module) -> None:
    """Give the callees of the entry point its topology.

    The callees of `mpmd.call`s get the topology, and become private.
    """
    functions = {symbol_name(each): each for each in functions_of(module)}
    for entry in entry_points(module):
        for call in operations_named({CALL}, entry):
            callee = functions[CallView(call).callee]
            copy_topology(entry, callee)
            FunctionView(callee).sym_visibility = "private"


_BODIES = (NAMED_COMPUTATION, FRAGMENT, FOR)


@register_pass("mpmd-inline-func-calls", release="pyshardy")
def inline_func_calls(module: ir.Module) -> None:
    """Inline calls of functions in the bodies of MPMD operations.

    The pass `inline` only inlines calls in functions, and in bodies of other dialects. Private
    functions without a call left are erased.

    Raises:
        PassError: a function calls itself.
    """
    if not _calls(module):
        return
    CallGraph(module).check_not_recursive("inlined")
    functions = {symbol_name(each): each for each in functions_of(module)}
    inlined: set[str] = set()
    while True:
        ready = [
            call
            for call in _calls(module)
            if not must_stay(call) and can_be_inlined(functions[CallView(call).callee])
        ]
        if not ready:
            break
        for call in ready:
            inlined.add(CallView(call).callee)
            copy = functions[CallView(call).callee].clone(ip=False).operation
            body = entry_block(copy)
            assert body is not None, "it can be inlined"
            replace_by_body(call, body)
    left = {CallView(call).callee for call in operations_named({"func.call"}, module)}
    for name in inlined - left:
        if is_private(functions[name]):
            functions[name].erase()


def _calls(module: ir.Module) -> list[ir.Operation]:
    found: list[ir.Operation] = []
    for each in operations_named(set(_BODIES), module):
        found += operations_named({"func.call"}, each)
    return list(dict.fromkeys(found))


@register_pass("mpmd-sink-negligible-ops-into-call-op", release="0.10.2")
def sink_negligible_ops_into_call_op(module: ir.Module) -> None:
    """Copy constants and the like into the functions that use them.

    An operation without operands and with a single result whose result is the same operand of all
    calls of a function is copied into the function, and the operand is dropped.
    """
    calls = calls_by_callee(module)
    within = set(mpmd_functions(module))
    for name, function in called_functions(module).items():
        if not all(enclosing_function(call) in within for call in calls[name]):
            continue
        sunk: set[int] = set()
        body = body_of(function)
        for index in reversed(range(len(body.arguments))):
            producers = {negligible_producer(call.operands[index]) for call in calls[name]}
            producer = producers.pop()
            if producer is None or producers:
                continue
            copy = producer.clone(ip=ir.InsertionPoint.at_block_begin(body)).operation
            body.arguments[index].replace_all_uses_with(copy.results[0])
            sunk.add(index)
        if sunk:
            erase_arguments(function, sunk)
            for call in calls[name]:
                kept = [each for at, each in enumerate(call.operands) if at not in sunk]
                with_call_values(call, kept, range(len(call.results)))


@register_pass("mpmd-erase-unused-callee-block-arguments", release="0.10.2")
def erase_unused_callee_block_arguments(module: ir.Module) -> None:
    """Erase arguments of callees that only the return uses.

    Arguments without a use are erased, too. A result that returns an argument is replaced by the
    operand of the call. A callee without a topology, or whose results nothing uses, stays as it is;
    if it has no results left, it vanishes with its calls.
    """
    calls = calls_by_callee(module)
    for name, function in called_functions(module).items():
        results = [result for call in calls[name] for result in call.results]
        if not is_mpmd_function(function) or not any(map(is_used, results)):
            continue
        body, returned = body_of(function), returned_values(function)
        erased = {
            argument.arg_number: argument
            for argument in body.arguments
            if all(use.owner.operation.name == "func.return" for use in argument.uses)
        }
        if not erased:
            continue
        dropped: dict[int, int] = {}
        for index, value in enumerate(returned):
            if isinstance(value, ir.BlockArgument) and value.arg_number in erased:
                dropped[index] = value.arg_number
        erase_results(function, dropped)
        erase_arguments(function, erased)
        for call in calls[name]:
            for index, argument in dropped.items():
                call.results[index].replace_all_uses_with(call.operands[argument])
            if len(dropped) == len(returned):
                call.erase()
                continue
            with_call_values(
                call,
                [each for at, each in enumerate(call.operands) if at not in erased],
                [index for index in range(len(call.results)) if index not in dropped],
            )
        if len(dropped) == len(returned):
            function.erase()


@register_pass("mpmd-call-inline", release="0.10.2")
def call_inline(module: ir.Module) -> None:
    """Inline calls of functions on several meshes.

    The attributes of a call, such as `call_counter`, are set on the inlined fragments.
    """
    functions = called_functions(module)
    for function in functions_of(module):
        for call in operations_named({CALL}, function):
            _inline(call, functions[CallView(call).callee])
    for function in functions_of(module):
        if symbol_name(function) in functions and is_private(function):
            function.erase()


def _inline(call: ir.Operation, callee: ir.Operation) -> None:
    body = body_of(callee.clone(ip=False).operation)
    attributes = call_attributes(call)
    for operation in operations_of(body):
        if operation.name == FRAGMENT:
            for name, attribute in attributes.items():
                set_discardable(operation, name, attribute)
    replace_by_body(call, body)
