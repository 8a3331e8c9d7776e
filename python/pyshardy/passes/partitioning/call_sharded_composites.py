# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-call-sharded-composites`: replace composites with sharded decompositions.

A composite is one operation on global tensors. If its decomposition, a function, contains
shardings, the devices must run that function.

1. A decomposition contains shardings if an argument, a result or an operation of the function
   is sharded along some axis, or if it contains manual computations, reshards or constraints.
2. The result of the call gets the sharding of the composite.
"""

from __future__ import annotations

from collections.abc import Iterable

from mlir_sdy.discardable import get_discardable, has_discardable
from mlir_sdy.host import ir
from mlir_sdy.model import TensorSharding
from mlir_sdy.traversal import named_operations_in
from mlir_sdy.uses import replace_by
from mlir_sdy.values import SHARDING, argument_shardings, result_shardings, result_shardings_of
from pyshardy.irtools.analyses import OF_INTERFACE, UNCHANGED, Changes
from pyshardy.irtools.functions import functions_of
from pyshardy.irtools.stablehlo_views import CompositeView, symbol_name
from pyshardy.irtools.walks import may_occur_at_start, operations_named
from pyshardy.pipeline import register_pass

_COMPOSITE = "stablehlo.composite"
_SHARDS = frozenset({"sdy.manual_computation", "sdy.reshard", "sdy.sharding_constraint"})


@register_pass("sdy-call-sharded-composites", release="pyshardy")
def call_sharded_composites(module: ir.Module) -> Changes:
    """Replace composites by calls if their decompositions are sharded.

    Replaces a `stablehlo.composite` by a call of its decomposition if a value in the decomposition
    is sharded. Other composites are computed on replicated tensors.

    ```mlir
    %0 = stablehlo.composite "my.norm" %a {decomposition = @norm} : (tensor<8xf32>) -> tensor<8xf32>
    ```

    becomes

    ```mlir
    %0 = call @norm(%a) : (tensor<8xf32>) -> tensor<8xf32>
    ```
    """
    if not may_occur_at_start({_COMPOSITE}, module):
        return UNCHANGED
    composites = operations_named({_COMPOSITE}, module)
    names = {CompositeView(composite).decomposition for composite in composites}
    sharded = {
        name
        for function in functions_of(module)
        if (name := symbol_name(function)) in names and _is_sharded(function)
    }
    for composite in composites:
        name = CompositeView(composite).decomposition
        if name in sharded:
            _call(composite, name)
    return Changes({"func.call"}, OF_INTERFACE)


def _is_sharded(function: ir.Operation) -> bool:
    if _have_axes([*argument_shardings(function), *result_shardings(function)]):
        return True
    return any(
        name in _SHARDS or _have_axes(result_shardings_of(operation))
        for operation, name in named_operations_in(function)
        if name in _SHARDS or has_discardable(operation, SHARDING)
    )


def _have_axes(shardings: Iterable[TensorSharding | None]) -> bool:
    return any(sharding is not None and not sharding.is_fully_replicated for sharding in shardings)


def _call(composite: ir.Operation, name: str) -> None:
    attributes: dict[str, ir.Attribute] = {
        "callee": ir.FlatSymbolRefAttr.get(name, composite.context)
    }
    if has_discardable(composite, SHARDING):
        attributes[SHARDING] = get_discardable(composite, SHARDING)
    with composite.location, ir.InsertionPoint(composite):
        call = ir.Operation.create(
            "func.call",
            results=[result.type for result in composite.results],
            operands=list(composite.operands),
            attributes=attributes,
        )
    replace_by(composite, *call.results)
