# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bodies of fragments as functions, and functions that equal bodies share for a while.

While a schedule orders hundreds of fragments, most of which compute the same in other microbatches,
equal bodies are calls of one function, so that passes take as long as for one microbatch.
"""

from __future__ import annotations

from collections.abc import Mapping

from mlir_sdy.discardable import has_discardable
from mlir_sdy.host import ir
from mlir_sdy.mpmd.building import add_body, return_
from mlir_sdy.mpmd.dialect import has_effects
from mlir_sdy.mpmd.reading import FRAGMENT, body_of
from mlir_sdy.traversal import terminator_of
from pyshardy.irtools.functions import CallGraph, FreshNames, replace_by_body
from pyshardy.irtools.stablehlo_views import FunctionView, callee_of, function_type_of, symbol_name
from pyshardy.irtools.walks import operations_named

_SHARED = "mpmd.shared_body"
"""The mark of functions that bodies share, which have such names, too."""

_LARGE = 8
"""The least operations of a body that is shared; passes look into smaller ones."""

_LOOKED_AT = frozenset({"stablehlo.custom_call", "sdy.manual_computation"})
"""Operations that passes look for in bodies."""


def function_of_body(
    fragment: ir.Operation, module: ir.Module, attributes: Mapping[str, ir.Attribute]
) -> ir.Operation:
    """Make a function at the end of a module with the body of a fragment, which loses it."""
    body = body_of(fragment)
    terminator = terminator_of(body)
    inputs = [each.type for each in body.arguments]
    results = [each.type for each in terminator.operands]
    with ir.InsertionPoint(module.body), fragment.location:
        given = {
            "sym_name": ir.StringAttr.get("f"),
            "function_type": ir.TypeAttr.get(ir.FunctionType.get(inputs, results)),
            **attributes,
        }
        built = ir.Operation.create("func.func", attributes=given, regions=1)
    with ir.InsertionPoint(terminator), terminator.location:
        ir.Operation.create("func.return", operands=list(terminator.operands))
    terminator.erase()
    body.append_to(built.regions[0])
    return built


def share_bodies(module: ir.Module) -> None:
    """Replace large bodies without effects by calls of functions, which equal ones share."""
    known: dict[str, ir.Operation] = {}
    names = FreshNames(module)
    attributes = {
        "sym_visibility": ir.StringAttr.get("private", module.context),
        _SHARED: ir.UnitAttr.get(module.context),
    }
    for fragment in operations_named({FRAGMENT}, module):
        is_small = len(body_of(fragment).operations) < _LARGE
        if is_small or has_effects(fragment) or operations_named(_LOOKED_AT, fragment):
            continue
        function = function_of_body(fragment, module, attributes)
        text = function.get_asm(assume_verified=True, use_local_scope=True)
        shared = known.setdefault(text, function)
        if shared == function:
            FunctionView(function).sym_name = names.name(_SHARED)
        else:
            function.erase()
        kind = function_type_of(shared)
        with fragment.location:
            body = add_body(fragment, kind.inputs)
            with ir.InsertionPoint(body):
                callee = {"callee": ir.FlatSymbolRefAttr.get(symbol_name(shared))}
                call = ir.Operation.create("func.call", kind.results, list(body.arguments), callee)
                return_(list(call.results))


def inline_shared_bodies(module: ir.Module) -> None:
    """Undo `share_bodies`: copy the bodies of shared functions to their calls."""
    graph = CallGraph(module)
    shared = {
        name: function
        for name, function in graph.functions.items()
        if has_discardable(function, _SHARED)
    }
    for call in [each for calls in graph.calls.values() for each in calls]:
        if callee_of(call) in shared:
            copy = shared[callee_of(call)].clone(ip=False).operation
            replace_by_body(call, body_of(copy))
    for function in shared.values():
        function.erase()
