# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-legalize-async`; see `irtools.plain_operations.make_synchronous`."""

from __future__ import annotations

from mlir_sdy.diagnostics import PassError, UsageError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.suggest import did_you_mean
from mlir_sdy.values import ASYNC_DONE, ASYNC_START
from pyshardy.irtools.plain_operations import make_synchronous
from pyshardy.irtools.stablehlo_views import COLLECTIVES
from pyshardy.irtools.walks import operations_named
from pyshardy.pipeline import register_pass


@register_pass("sdy-legalize-async", release="pyshardy")
def legalize_async(module: ir.Module, *, keep: tuple[str, ...] = ()) -> None:
    """Replace asynchronous operations by synchronous ones at their starts.

    Back ends that can't run some asynchronous collectives do this to their copy of a program.

    ```mlir
    %0 = "stablehlo.async_start"(%a) ({ ... "stablehlo.all_gather" ... })
    %2 = stablehlo.tanh %b
    %1 = "stablehlo.async_done"(%0)
    ```

    becomes

    ```mlir
    %1 = "stablehlo.all_gather"(%a) ...
    %2 = stablehlo.tanh %b
    ```

    Options:
        keep: collectives that stay asynchronous, such as all_gather.

    Raises:
        UsageError: there is no such collective.
        PassError: a future is awaited in another function, or by no single operation.
    """
    known = [name.removeprefix("stablehlo.") for name in sorted(COLLECTIVES)]
    for name in keep:
        if name not in known:
            hint = did_you_mean(name, known)
            raise UsageError(error(f"'keep': '{name}' is no collective{hint}"))
    make_synchronous(module, keep)
    for operation in operations_named({ASYNC_START, ASYNC_DONE}, module):
        start = operation if operation.name == ASYNC_START else operation.operands[0].owner
        if isinstance(start, ir.Block) or _collective_of(start) not in keep:
            message = (
                f"the future of '{operation.name}' isn't awaited once, by a 'stablehlo.async_done' "
                "in the function that starts it, so that it can't become synchronous"
            )
            raise PassError(error(message, location_of(operation.location)))


def _collective_of(start: ir.Operation | ir.OpView) -> str:
    """Return the operation inside of an `async_start`, without its dialect."""
    inside = start.operation.regions[0].blocks[0].operations[0].operation.name
    return inside.removeprefix("stablehlo.")
