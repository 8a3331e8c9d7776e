# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-inline-small-functions`: inline calls that add communication.

The arguments and results of a function need the shardings of its signature, which must be even,
for all its calls. Inlined, they don't.

1. A function is inlined if it is called once, or has few operations, including those of the
   functions that have been inlined into it, or if an argument or a result is sharded unevenly,
   and would have to be gathered for the call.
2. Functions that call themselves, that have several blocks, or the attribute `no_inline`, and
   those with unreduced arguments or results, are kept. So are calls with `no_inline`, or with
   the attributes of JAX and XLA for that (`must_stay`).
3. Values keep their shardings: those of the signature and of the call are dropped.
4. A reshard to the sharding of an argument gets the attribute `AT_CALL`, so that
   `sdy-propagate-past-calls` may remove it. It is moved into the branch of its only call, which
   may not be taken.
5. Functions without remaining calls are not erased, since they may have other references:
   `symbol-dce` erases them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from mlir_sdy.discardable import set_discardable
from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, mesh_of
from mlir_sdy.symbols import meshes_of
from mlir_sdy.uses import has_one_use
from mlir_sdy.values import argument_shardings, result_shardings
from pyshardy.irtools.analyses import OF_INTERFACE, UNCHANGED, Changes
from pyshardy.irtools.functions import (
    MOST_OPERATIONS,
    CallGraph,
    can_be_inlined,
    has_at_most,
    has_static_shape,
    must_stay,
    replace_by_body,
)
from pyshardy.irtools.stablehlo_views import callee_of, function_type_of
from pyshardy.partition.partial.unreduced import origin_of
from pyshardy.pipeline import register_pass
from pyshardy.pipeline.options import Natural

AT_CALL = "sdy.at_call"
"""The attribute of reshards to the sharding of an argument of an inlined function."""

_BRANCHING = frozenset({"stablehlo.case", "stablehlo.if"})


@register_pass("sdy-inline-small-functions", release="pyshardy")
def inline_small_functions(
    module: ir.Module, *, max_operations: Natural = MOST_OPERATIONS
) -> Changes:
    """Inline small functions.

    Inlines calls of private functions that are called once, that have at most `max-operations`
    operations, or that have an unevenly sharded argument or result. A function signature fixes
    shardings and requires even ones; inside the caller, values can have any sharding.

    Functions with the attribute `no_inline` are not inlined, nor calls with `no_inline`,
    `inlineable = "false"` or `_xla_compute_type` (as attributes or in `mhlo.frontend_attributes`).
    `symbol-dce` erases functions that are no longer called. Reshards of arguments at an inlined
    call get the attribute `sdy.at_call`, and move into the branch of the call.

    ```mlir
    %0 = call @double(%a) : (tensor<7xf32>) -> tensor<7xf32>
    ```

    becomes

    ```mlir
    %0 = stablehlo.add %a, %a : tensor<7xf32>
    ```

    Options:
        max_operations: maximum number of operations of an inlined function that is called more than
            once.
    """
    graph = CallGraph(module)
    meshes = meshes_of(module)
    if graph.is_recursive:
        return UNCHANGED
    counts = Counter(callee_of(call) for calls in graph.calls.values() for call in calls)
    inlined = {
        name
        for name, function in graph.functions.items()
        if counts[name] and can_be_inlined(function)
    }
    for name in graph.post_order:
        for call in graph.calls[name]:
            callee = callee_of(call)
            if callee not in inlined or must_stay(call):
                continue
            function = graph.functions[callee]
            if (
                counts[callee] == 1
                or has_at_most(max_operations, function)
                or _is_uneven(function, meshes)
            ):
                _mark_reshards(call)
                copy = function.clone(ip=False).operation
                replace_by_body(call, copy.regions[0].blocks[0])
    return Changes(stale=OF_INTERFACE)


def _is_uneven(function: ir.Operation, meshes: Mapping[str, Mesh]) -> bool:
    """Whether an argument or a result has a dimension that its axes don't divide."""
    signature = function_type_of(function)
    types = (*signature.inputs, *signature.results)
    shardings = (*argument_shardings(function), *result_shardings(function))
    return any(
        sharding is not None
        and has_static_shape(value_type)
        and (mesh := mesh_of(sharding, meshes)) is not None
        and not sharding.divides(tuple(ir.RankedTensorType(value_type).shape), mesh)
        for sharding, value_type in zip(shardings, types, strict=True)
    )


def _mark_reshards(call: ir.Operation) -> None:
    """Mark the reshards of operands that propagation has inserted for calls.

    They have the location of the value they reshard; a constraint has a location of its own.
    """
    for operand in call.operands:
        if isinstance(operand, ir.BlockArgument) or operand.owner.operation.name != "sdy.reshard":
            continue
        reshard = operand.owner.operation
        is_for_calls = all(use.owner.operation.name == "func.call" for use in operand.uses)
        if is_for_calls and reshard.location == origin_of(reshard.operands[0]):
            set_discardable(reshard, AT_CALL, ir.UnitAttr.get(call.context))
            if has_one_use(operand) and _is_in_branch_of(call, reshard.block):
                reshard.move_before(call)


def _is_in_branch_of(operation: ir.Operation, block: ir.Block) -> bool:
    """Whether an operation is in a branch of a block, or in a branch of that, but in no loop."""
    inner = operation
    while inner.block != block:
        parent = inner.parent
        if parent is None or parent.name not in _BRANCHING:
            return False
        inner = parent.operation
    return inner != operation
