# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The call graph of a module."""

from __future__ import annotations

from collections.abc import Iterator

from mlir_sdy.diagnostics import PassError, error, note
from mlir_sdy.host import ir, location_of
from pyshardy.irtools.functions import functions_of, has_body
from pyshardy.irtools.stablehlo_views import callee_of, symbol_name
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
        """Yield the functions, each after those that it calls.

        Functions are visited in the order of the module and, depth first, their callees in the
        order of the calls. With functions `main`, `a` and `b` in this order, where `main` calls
        `b` and `b` calls `a`, the result is `a`, `b`, `main`.

        A recursive function comes after all its other callees.
        """
        return self._post_order

    def calls_in_post_order(self) -> Iterator[ir.Operation]:
        """Yield all calls, function by function, each function after those that it calls."""
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
