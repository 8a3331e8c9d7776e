# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-export-named-computations`: turn named computations into functions and calls.

Inner computations come first. For each:

1. The shardings of its edges are copied to the computation.
2. A private function of its name, with a suffix if it is taken, gets its body and the shardings
   of its arguments; edges on arguments are erased.
3. A call replaces it, with the shardings of its results; edges on results are erased.
4. `execution_thread` is moved to the function, `sdy.func_no_inline` as `no_inline`, and
   `sdy.func_contract` as `sdy.contract`; any other attribute is moved to the call.

Two computations `f` become `@f` and `@f_0`, both with the original name `f`.
"""

from __future__ import annotations

from typing import Annotated

from mlir_sdy import sdy
from mlir_sdy.attributes import AttributeCache
from mlir_sdy.discardable import (
    CONTRACT,
    FUNCTION_CONTRACT,
    get_discardable,
    has_discardable,
    remove_discardable,
    set_discardable,
)
from mlir_sdy.host import func, ir
from mlir_sdy.ods.irdl_groups import OPERAND_SIZES, RESULT_SIZES
from mlir_sdy.op_classes import view_as
from mlir_sdy.traversal import terminator_of
from mlir_sdy.uses import replace_by
from mlir_sdy.values import (
    SHARDING,
    body_argument_shardings,
    result_shardings_of,
    set_argument_shardings,
    set_result_shardings,
)
from pyshardy.irtools.analyses import OF_INTERFACE, UNCHANGED, Changes
from pyshardy.irtools.functions import (
    FUNCTION_NO_INLINE,
    NO_INLINE,
    ORIGINAL_FUNCTION_NAME,
    FreshNames,
)
from pyshardy.irtools.shardings import argument_edges, remove_edge, result_edges
from pyshardy.irtools.stablehlo_views import symbol_name
from pyshardy.irtools.walks import operations_named
from pyshardy.pipeline import register_pass
from pyshardy.pipeline.options import Help

_THREAD = "execution_thread"
_NAMELESS = "computation"  # symbols need a name
_OWN = frozenset({"name", "in_shardings", "out_shardings", OPERAND_SIZES, RESULT_SIZES})
_OF_THE_FUNCTION = frozenset({_THREAD, FUNCTION_NO_INLINE, FUNCTION_CONTRACT})


@register_pass("sdy-export-named-computations", release="0.10.2")
def export_named_computations(
    module: ir.Module, *, keep_calls: Annotated[bool, Help(release="pyshardy")] = False
) -> Changes:
    """Outline named computations into functions.

    Moves the body of each `sdy.named_computation` to a private function at the end of the module,
    and replaces the computation by a call. Data-flow edges of the computation are removed.

    - The function has the name of the computation, followed by a number if the name is taken, and
      the attribute `sdy.original_func_name`.
    - The function's arguments get the shardings of the edges in the body, or else `in_shardings`;
      the call gets the shardings of the edges that follow it, or else `out_shardings`. The pass
      `sdy-propagate-to-func-results` sets the shardings of the function's results.
    - The function gets `execution_thread`, and `sdy.func_no_inline` as `no_inline`; the call gets
      all other attributes.

    ```mlir
    %0 = sdy.named_computation<"f">(%a) in_shardings=[<@mesh, [{"x"}]>]
        out_shardings=[<@mesh, [{"y"}]>] (%arg: tensor<8xf32>) {
      sdy.return %arg : tensor<8xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    ```

    becomes

    ```mlir
    %0 = call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : ...
    ...
    func.func private @f(%arg: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
        -> tensor<8xf32> attributes {sdy.original_func_name = "f"} {
      return %arg : tensor<8xf32>
    }
    ```

    Options:
        keep_calls: whether to mark functions `no_inline` and to give them the result shardings of
            the computations.
    """
    computations = operations_named({"sdy.named_computation"}, module, ir.WalkOrder.POST_ORDER)
    if not computations:
        return UNCHANGED
    cache = AttributeCache(module.context)
    names = FreshNames(module)
    for computation in computations:
        arguments, results = argument_edges(computation), result_edges(computation)
        arguments.sink_shardings(cache)
        results.sink_shardings(cache)
        for edge in (*arguments.edges, *results.edges):
            if edge is not None:
                remove_edge(edge)
        function = _function_of(computation, module, names, cache)
        if keep_calls:
            set_discardable(function, NO_INLINE, ir.UnitAttr.get(module.context))
            remove_discardable(function, ORIGINAL_FUNCTION_NAME)
            shardings = result_shardings_of(computation)
            set_result_shardings(function, dict(enumerate(shardings)), cache)
        _replace_by_call(computation, function)
    return Changes({"func.call", "func.func", "func.return"}, OF_INTERFACE)


def _function_of(
    computation: ir.Operation, module: ir.Module, names: FreshNames, cache: AttributeCache
) -> ir.Operation:
    """Create a function at the end of the module with the body of a computation."""
    name = view_as(sdy.NamedComputationOp, computation).name.value
    body = computation.regions[0].blocks[0]
    shardings = body_argument_shardings(computation)
    function_type = ir.FunctionType.get(
        [argument.type for argument in body.arguments],
        [result.type for result in computation.results],
        module.context,
    )
    function = func.FuncOp(
        names.name(name or _NAMELESS),
        function_type,
        visibility="private",
        loc=computation.location,
        ip=ir.InsertionPoint(module.body),
    ).operation
    set_discardable(function, ORIGINAL_FUNCTION_NAME, ir.StringAttr.get(name, module.context))
    if has_discardable(computation, _THREAD):
        set_discardable(function, _THREAD, get_discardable(computation, _THREAD))
    if has_discardable(computation, FUNCTION_NO_INLINE):
        set_discardable(function, NO_INLINE, get_discardable(computation, FUNCTION_NO_INLINE))
    if has_discardable(computation, FUNCTION_CONTRACT):
        set_discardable(function, CONTRACT, get_discardable(computation, FUNCTION_CONTRACT))
    if shardings:
        set_argument_shardings(function, dict(enumerate(shardings)), cache)
    terminator = terminator_of(body)
    func.ReturnOp(
        list(terminator.operands), loc=terminator.location, ip=ir.InsertionPoint(terminator)
    )
    terminator.erase()
    body.append_to(function.regions[0])
    return function


def _replace_by_call(computation: ir.Operation, function: ir.Operation) -> None:
    kept = {
        name: attribute
        for name, attribute in computation.attributes.items()
        if name not in _OWN | _OF_THE_FUNCTION
    }
    out_shardings = view_as(sdy.NamedComputationOp, computation).out_shardings
    if out_shardings is not None:
        kept[SHARDING] = out_shardings
    call = ir.Operation.create(
        "func.call",
        results=[result.type for result in computation.results],
        operands=list(computation.operands),
        attributes={
            **kept,
            "callee": ir.FlatSymbolRefAttr.get(symbol_name(function), computation.context),
        },
        loc=computation.location,
        ip=ir.InsertionPoint(computation),
    )
    replace_by(computation, *call.results)
