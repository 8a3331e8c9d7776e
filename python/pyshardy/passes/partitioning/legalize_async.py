# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-legalize-async`; see `irtools.plain_operations.make_synchronous`."""

from __future__ import annotations

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import ir
from mlir_sdy.suggest import did_you_mean
from pyshardy.irtools.plain_operations import make_synchronous
from pyshardy.irtools.stablehlo_views import COLLECTIVES
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
    """
    known = [name.removeprefix("stablehlo.") for name in sorted(COLLECTIVES)]
    for name in keep:
        if name not in known:
            hint = did_you_mean(name, known)
            raise UsageError(error(f"'keep': '{name}' is no collective{hint}"))
    make_synchronous(module, keep)
