# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-insert-func-call-reshards`: calls have the results' shardings of their callee.

With a callee whose result is sharded by `[{"x"}]`,

    %0 = call @f(%a)    // sharded by [{"y"}]

becomes

    %0 = call @f(%a)    // sharded by [{"x"}]
    %1 = sdy.reshard %0 <@mesh, [{"y"}]>

Operands of calls are the matter of `explicit_reshards`.
"""

from __future__ import annotations

from mlir_sdy import sdy
from mlir_sdy.attributes import AttributeCache
from mlir_sdy.host import ir
from mlir_sdy.model import TensorSharding, are_equivalent_if_given
from mlir_sdy.values import (
    rank_of,
    result_shardings,
    result_shardings_of,
    set_result_shardings_of,
)


def insert_func_call_reshards(module: ir.Module) -> None:
    """Insert reshards behind the calls of a module.

    1. A result of a call that is sharded as the callee's result stays as it is.
    2. Any other one gets the sharding of the callee's result, or is whole if that has none, and
       a reshard leads back to what it had.
    """
    cache = AttributeCache(module.context)
    symbols = ir.SymbolTable(module.operation)
    calls: list[ir.Operation] = []

    def collect(operation: ir.Operation) -> ir.WalkResult:
        if operation.name == "func.call":
            calls.append(operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(collect, ir.WalkOrder.PRE_ORDER)
    for call in calls:
        callee = symbols[call.attributes["callee"].value].operation
        _reshard_results(call, result_shardings(callee), cache)


def _reshard_results(
    call: ir.Operation, inside: list[TensorSharding | None], cache: AttributeCache
) -> None:
    outside = list(result_shardings_of(call)) or [None] * len(call.results)
    changed: dict[int, TensorSharding] = {}
    for index, (callee_sharding, own) in enumerate(zip(inside, outside, strict=True)):
        if are_equivalent_if_given(callee_sharding, own):
            continue
        given = callee_sharding or own
        assert given is not None, "two absent shardings are equivalent"
        result = call.results[index]
        whole = TensorSharding.fully_closed(rank_of(result.type), given.mesh_or_ref)
        changed[index] = callee_sharding or whole
        reshard = sdy.reshard(
            result, cache[own or whole], loc=call.location, ip=ir.InsertionPoint.after(call)
        )
        result.replace_all_uses_except(reshard, reshard.owner.operation)
    if changed:
        set_result_shardings_of(call, changed, cache)
