# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-inline-func-calls`, for bodies that the host's inliner leaves as they are."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.mpmd.reading import FOR, FRAGMENT, NAMED_COMPUTATION
from pyshardy.irtools.functions import (
    CallGraph,
    can_be_inlined,
    entry_block,
    functions_of,
    is_private,
    must_stay,
    replace_by_body,
)
from pyshardy.irtools.stablehlo_views import CallView, symbol_name
from pyshardy.irtools.walks import operations_named
from pyshardy.pipeline import register_pass

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
