# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Source locations for operations inside JAX's own functions."""

from __future__ import annotations

from mlir_sdy.host import ir, location_of
from mlir_sdy.traversal import operations_in
from pyshardy.irtools.call_graph import CallGraph
from pyshardy.irtools.stablehlo_views import callee_of


def locate_by_calls(module: ir.Module) -> None:
    """Locate operations in functions of JAX itself by the first calls of these functions.

    JAX omits its own frames, so operations have no location if a function of `jax.numpy` has become
    a function of the module; but the calls of that function have locations.

    1. Callers are visited before callees.
    2. An operation without a location gets a call-site location at the first call of its function.

    In `def f(x): return jnp.sort(x)`, the operation `stablehlo.sort` in the function `@sort` is
    located at `jnp.sort(x)`.
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
