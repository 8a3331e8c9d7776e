# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Places in the user's source for what JAX's own functions are made of."""

from __future__ import annotations

from mlir_sdy.host import ir, location_of
from mlir_sdy.traversal import operations_in
from pyshardy.irtools.call_graph import CallGraph, callee_of


def locate_by_calls(module: ir.Module) -> None:
    """Locate operations in functions of JAX itself by the first calls of these functions.

    JAX leaves its own frames out. Nothing else is left where a function of `jax.numpy` has become a
    function of the module; but its calls have places.

    1. Functions come before those that they call.
    2. An operation without a place gets that of the first call of its function, as what is called
       from there.

    So in `def f(x): return jnp.sort(x)` the operation `stablehlo.sort`, which stands in a function
    `@sort`, is located at `jnp.sort(x)`.
    """
    graph = CallGraph(module)
    calls: dict[str, ir.Location] = {}
    for name in reversed(graph.post_order):
        if name in calls:
            for operation in operations_in(graph.functions[name]):
                if location_of(operation.location) is None:
                    called = ir.Location.callsite(operation.location, [calls[name]], module.context)
                    operation.operation.location = called
        for call in graph.calls[name]:
            if location_of(call.location) is not None:
                calls.setdefault(callee_of(call), call.location)
