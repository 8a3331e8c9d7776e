# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-insert-func-call-reshards`: give results of calls the shardings of the callee's results.

Operands of calls are handled by `sdy-insert-explicit-reshards`.

1. The *inner* shardings are those of the callee's results, fully open where there is none. If
   the callee has none on a mesh of several devices, they are replicated where the call has any.
   With neither, nothing changes.
2. A result whose inner sharding isn't equivalent to that of the call gets a reshard to the
   latter, or is replicated if the call has no shardings.
3. The call gets the inner shardings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlir_sdy import sdy
from mlir_sdy.attributes import AttributeCache
from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import Mesh, TensorSharding, are_equivalent, complete_shardings
from mlir_sdy.values import (
    rank_of,
    result_shardings,
    result_shardings_of,
    set_result_shardings_of,
)
from pyshardy.irtools.analyses import OF_INTERFACE, UNCHANGED, Changes
from pyshardy.irtools.functions import functions_of
from pyshardy.irtools.stablehlo_views import callee_of, function_type_of, symbol_name
from pyshardy.irtools.walks import operations_named
from pyshardy.partition.function_context import FunctionContext
from pyshardy.pipeline import register_pass

_Shardings = Sequence[TensorSharding]


@register_pass("sdy-insert-func-call-reshards", release="0.10.2")
def insert_func_call_reshards(module: ir.Module) -> Changes:
    """Insert reshards between callee results and call results.

    A call result whose sharding is not equivalent to that of the callee's result gets the sharding
    of the callee's result, followed by a reshard to its former sharding. Callee results without
    a sharding, and results of calls without shardings, are replicated. Operands of calls are
    handled by `sdy-insert-explicit-reshards`.

    ```mlir
    // the result of @f is sharded by [{"x"}]
    %0 = call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : ...
    ```

    becomes

    ```mlir
    %0 = call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : ...
    %1 = sdy.reshard %0 <@mesh, [{"y"}]> : tensor<8xf32>
    ```

    Raises:
        PassError: the callee is not in the module, which is not changed then.
    """
    functions = functions_of(module)
    calls = [call for function in functions for call in operations_named({"func.call"}, function)]
    if not calls:
        return UNCHANGED
    context = FunctionContext.of(module)
    meshes, cache = context.meshes, context.cache
    inner = {symbol_name(function): _inner_shardings(function, meshes) for function in functions}
    for call in calls:
        callee = callee_of(call)
        if callee not in inner:
            message = f"unknown callee: no function @{callee} in the module"
            raise PassError(error(message, location_of(call.location)))
    for call in calls:
        outer = result_shardings_of(call)
        inside = inner[callee_of(call)] or [sharding.fully_closed_like() for sharding in outer]
        if inside:
            outside = outer or [sharding.fully_closed_like() for sharding in inside]
            _reshard_results(call, inside, outside, cache)
    return Changes({"sdy.reshard"}, OF_INTERFACE)


def _inner_shardings(function: ir.Operation, meshes: Mapping[str, Mesh]) -> _Shardings:
    types = function_type_of(function).results
    return complete_shardings(result_shardings(function), map(rank_of, types), meshes) or ()


def _reshard_results(
    call: ir.Operation, inside: _Shardings, outside: _Shardings, cache: AttributeCache
) -> None:
    for result, before, after in zip(call.results, inside, outside, strict=True):
        if not are_equivalent(before, after):
            place = ir.InsertionPoint.after(call)  # reshards of later results come first
            reshard = sdy.reshard(result, cache[after], loc=call.location, ip=place)
            result.replace_all_uses_except(reshard, reshard.owner.operation)
    set_result_shardings_of(call, dict(enumerate(inside)), cache)
