# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The call graph of a module, and copies of functions with their callees."""

from __future__ import annotations

from collections.abc import Iterator

from mlir_sdy.diagnostics import PassError, error, note
from mlir_sdy.discardable import set_discardable
from mlir_sdy.host import ir, location_of
from pyshardy.irtools.functions import (
    ORIGINAL_FUNCTION_NAME,
    FreshNames,
    functions_of,
    has_body,
    original_name,
)
from pyshardy.irtools.stablehlo_views import CallView, FunctionView, callee_of, symbol_name
from pyshardy.irtools.walks import operations_named


class CallGraph:
    """The functions of a module that have a body, and the calls in them.

    It is a snapshot of the module at the time of its construction.

    Attributes:
        functions: the functions by their names, in the order of the module, without declarations.
        calls: for each function its calls, in the order of the text, those in regions included.
    """

    def __init__(self, module: ir.Module):
        self.functions: dict[str, ir.Operation] = {
            symbol_name(function): function
            for function in functions_of(module)
            if has_body(function)
        }
        self.calls: dict[str, list[ir.Operation]] = {
            name: operations_named({"func.call"}, function)
            for name, function in self.functions.items()
        }
        self._cycle: list[ir.Operation] = []
        self._post_order = self._search()

    @property
    def post_order(self) -> list[str]:
        """Yield the functions, callees before callers.

        Functions are visited in the order of the module and, depth first, their callees in the
        order of the calls. With functions `main`, `a` and `b` in this order, where `main` calls
        `b` and `b` calls `a`, the result is `a`, `b`, `main`.

        A recursive function comes after all its other callees.
        """
        return self._post_order

    def calls_in_post_order(self) -> Iterator[ir.Operation]:
        """Yield all calls, function by function, callees before callers."""
        for name in self._post_order:
            yield from self.calls[name]

    @property
    def is_recursive(self) -> bool:
        """Whether a function calls itself, directly or indirectly."""
        return bool(self._cycle)

    def check_not_recursive(self, purpose: str) -> None:
        """Check that no function of the module calls itself.

        Args:
            purpose: the participle that the error message uses, such as "flattened".

        Raises:
            PassError: a function is recursive.
        """
        if self._cycle:
            first, *others = self._cycle
            name = callee_of(self._cycle[-1])
            notes = [
                note(f"which calls '{callee_of(call)}' here", location_of(call.location))
                for call in others
            ]
            message = f"function '{name}' calls itself: recursive functions can't be {purpose}"
            raise PassError(error(message, location_of(first.location), notes))

    def _search(self) -> list[str]:
        finished: list[str] = []
        seen: set[str] = set()
        for root in self.functions:
            if root in seen:
                continue
            seen.add(root)
            # The path to the current function: names, the calls on the path, and calls to follow.
            path: list[tuple[str, ir.Operation | None, Iterator[ir.Operation]]] = [
                (root, None, iter(self.calls[root]))
            ]
            on_path = {root}
            while path:
                name, _, calls = path[-1]
                call = next(calls, None)
                if call is None:
                    path.pop()
                    on_path.remove(name)
                    finished.append(name)
                    continue
                callee = callee_of(call)
                if callee in on_path and not self._cycle:
                    start = [step[0] for step in path].index(callee)
                    self._cycle = [step[1] for step in path[start + 1 :] if step[1] is not None]
                    self._cycle.append(call)
                if callee in self.functions and callee not in seen:
                    seen.add(callee)
                    path.append((callee, call, iter(self.calls[callee])))
                    on_path.add(callee)
        return finished


class FunctionCloner:
    """Copies functions of a module, so that no copy has two calls.

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
