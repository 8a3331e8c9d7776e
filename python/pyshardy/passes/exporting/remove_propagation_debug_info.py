# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-remove-propagation-debug-info`: remove the debug information of propagation."""

from __future__ import annotations

from mlir_sdy.discardable import remove_discardable
from mlir_sdy.host import ir
from pyshardy.irtools.analyses import UNCHANGED, Changes
from pyshardy.irtools.stablehlo_views import INTERFACE
from pyshardy.pipeline import register_pass

_NOTES = tuple(
    f"sdy.{prefix}{name}"
    for name in ("propagation_edges", "sharding_origins")
    for prefix in ("", "block_arg_", "result_")
)


@register_pass("sdy-remove-propagation-debug-info", release="0.10.2")
def remove_propagation_debug_info(module: ir.Module) -> Changes:
    """Remove the debug information of propagation.

    Removes `sdy.propagation_edges` and `sdy.sharding_origins` from operations, function arguments
    and function results, and their variants for block arguments (`sdy.block_arg_...`) and results
    (`sdy.result_...`) of operations with regions. `sdy.sharding_origin_name` is kept.

    ```mlir
    %0 = stablehlo.negate %a {sdy.sharding_origins = [{x = "input: 0"}]} : tensor<8xf32>
    ```

    becomes

    ```mlir
    %0 = stablehlo.negate %a : tensor<8xf32>
    ```
    """

    def visit(operation: ir.Operation) -> ir.WalkResult:
        if operation.name == "func.func":
            _clean_interface(operation)
            return ir.WalkResult.ADVANCE
        for name in _NOTES:
            remove_discardable(operation, name)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return UNCHANGED


def _clean_interface(function: ir.Operation) -> None:
    """Remove debug information from the attributes of a function's arguments and results."""
    for entry in INTERFACE:
        dictionaries = [
            {named.name: named.attr for named in dictionary} for dictionary in entry.of(function)
        ]
        if any(name in dictionary for dictionary in dictionaries for name in _NOTES):
            kept = [
                ir.DictAttr.get(
                    {name: each for name, each in dictionary.items() if name not in _NOTES},
                    function.context,
                )
                for dictionary in dictionaries
            ]
            entry.set_on(function, kept)
