# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Copies of functions and their callees."""

from __future__ import annotations

from collections.abc import Iterator

from mlir_sdy.discardable import set_discardable
from mlir_sdy.host import ir
from pyshardy.irtools.functions import (
    ORIGINAL_FUNCTION_NAME,
    functions_of,
    has_body,
    original_name,
)
from pyshardy.irtools.stablehlo_views import CallView, FunctionView, callee_of, symbol_name
from pyshardy.irtools.symbols import FreshNames
from pyshardy.irtools.walks import operations_named


class FunctionCloner:
    """Copies functions of a module, so that each copy has one call.

    1. A copy has all attributes of its function, and in `sdy.original_func_name` the name of the
       function that it is a direct or indirect copy of.
    2. Its callees are copied likewise, once for each call. Declarations are not copied.
    3. Copies are appended to the module, callees before callers, and named after the copied
       function by `FreshNames`.

    If `f` calls `g`, a copy of `f` is called `f_1` and calls `g_0`.
    """

    def __init__(self, module: ir.Module):
        self._module = module
        self._functions = {
            symbol_name(function): function
            for function in functions_of(module)
            if has_body(function)
        }
        self._fresh = FreshNames(module)

    def clone(self, name: str) -> str:
        """Copy the function of that name, which must not be recursive; return the copy's name."""
        # The unfinished copies, outermost first: their calls, and the current call.
        begun: list[tuple[str, ir.Operation, Iterator[ir.Operation]]] = [self._begin(name)]
        pending: list[ir.Operation] = []
        while True:
            base, copy, calls = begun[-1]
            call = next((c for c in calls if callee_of(c) in self._functions), None)
            if call is not None:
                pending.append(call)
                begun.append(self._begin(callee_of(call)))
                continue
            begun.pop()
            finished = self._insert(copy, base)
            if not begun:
                return finished
            CallView(pending.pop()).callee = finished

    def _begin(self, name: str) -> tuple[str, ir.Operation, Iterator[ir.Operation]]:
        function = self._functions[name]
        copy = function.clone(ip=False).operation
        context = self._module.context
        original = ir.StringAttr.get(original_name(function), context)
        set_discardable(copy, ORIGINAL_FUNCTION_NAME, original)
        return name, copy, iter(operations_named({"func.call"}, copy))

    def _insert(self, copy: ir.Operation, base: str) -> str:
        name = self._fresh.name(base)
        FunctionView(copy).sym_name = name
        self._module.body.append(copy)
        self._functions[name] = copy
        return name
