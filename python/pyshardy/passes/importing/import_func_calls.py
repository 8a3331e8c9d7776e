# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-import-func-calls`: replace calls by named computations.

1. The computation has the original name of the function. Its inputs are sharded as the
   function's arguments, its outputs as the call; the shardings of the function's results are
   ignored.
2. It has the attributes of the call. From the function it has `execution_thread`, and
   `sdy.contract` as `sdy.func_contract`.
3. If a function is called from several places, each gets a copy of the body.
4. Functions that are called are erased; others are kept, and so are declarations and their
   calls.
5. With `keep_no_inline`, computations get `sdy.func_no_inline` if the function has `no_inline`, and
   so do the named computations of the input: their names ask for calls of these names to be kept,
   while functions of a front end may be inlined. Calls keep `no_inline`.
"""

from __future__ import annotations

from typing import Annotated

from mlir_sdy import sdy
from mlir_sdy.diagnostics import PassError, emit, error, warning
from mlir_sdy.discardable import (
    CONTRACT,
    FUNCTION_CONTRACT,
    get_discardable,
    has_discardable,
    set_discardable,
)
from mlir_sdy.host import ir, location_of
from mlir_sdy.traversal import terminator_of
from mlir_sdy.uses import replace_by
from mlir_sdy.values import SHARDING, argument_shardings
from pyshardy.irtools.analyses import OF_SHARDINGS, UNCHANGED, Changes
from pyshardy.irtools.functions import FUNCTION_NO_INLINE, NO_INLINE, CallGraph, original_name
from pyshardy.irtools.shardings import complete_list
from pyshardy.irtools.stablehlo_views import callee_of
from pyshardy.irtools.walks import may_occur_at_start, operations_named, tell_inserted
from pyshardy.partition.function_context import FunctionContext
from pyshardy.passes.importing.add_data_flow_edges import add_edges
from pyshardy.pipeline import register_pass
from pyshardy.pipeline.options import Help

_CALL = "func.call"
_NAMED_COMPUTATION = "sdy.named_computation"
_EXECUTION_THREAD = "execution_thread"
_OF_THE_CALL = frozenset({SHARDING, "callee", "arg_attrs", "res_attrs"})
"""Attributes of a call that a computation has in another form, or not at all."""


@register_pass("sdy-import-func-calls", release="0.10.2")
def import_func_calls(
    module: ir.Module,
    *,
    add_data_flow_edges_on_named_computations: bool = True,
    keep_no_inline: Annotated[bool, Help(release="pyshardy")] = False,
) -> Changes:
    """Replace calls by named computations.

    Replaces each call by an `sdy.named_computation` with the body and the original name of the
    function. The shardings of the function's arguments become `in_shardings`, and the sharding of
    the call becomes `out_shardings`. The computation keeps the attributes of the call, and gets
    `execution_thread` of the function. Called functions are erased.

    With `keep-no-inline` the computation also gets `no_inline` of the function, as
    `sdy.func_no_inline`, and so do the named computations of the input.

    Recursive functions are an error; calls of declarations are not replaced.

    ```mlir
    %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
    ```

    becomes

    ```mlir
    %0 = sdy.named_computation<"f">(%a) (%x: tensor<8xf32>) {
      %1 = sdy.data_flow_edge %x : tensor<8xf32>
      ...
      sdy.return %2 : tensor<8xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    %3 = sdy.data_flow_edge %0 : tensor<8xf32>
    ```

    Options:
        add_data_flow_edges_on_named_computations: whether to add data-flow edges to all named
            computations.
        keep_no_inline: whether functions must not be inlined later that have `no_inline`, or are
            exported from named computations of the input.

    Raises:
        PassError: a function calls itself, or has several blocks. The module is not changed then.
    """
    if not may_occur_at_start({_CALL, _NAMED_COMPUTATION}, module):
        return UNCHANGED
    graph = CallGraph(module)
    graph.check_not_recursive("imported")
    if keep_no_inline:
        for computation in operations_named({_NAMED_COMPUTATION}, module):
            set_discardable(computation, FUNCTION_NO_INLINE, ir.UnitAttr.get(module.context))
    called = {callee_of(call) for calls in graph.calls.values() for call in calls}
    called_functions = [function for name, function in graph.functions.items() if name in called]
    for function in called_functions:
        _check_one_block(function)
    importer = _Importer(module, keep_no_inline=keep_no_inline)
    for call in graph.calls_in_post_order():
        if callee_of(call) in graph.functions:
            importer.replace(call, graph.functions[callee_of(call)])
    for function in called_functions:
        function.erase()
    tell_inserted(module, _NAMED_COMPUTATION)
    if add_data_flow_edges_on_named_computations:
        add_edges(operations_named({_NAMED_COMPUTATION}, module, ir.WalkOrder.POST_ORDER))
    return Changes({_NAMED_COMPUTATION, "sdy.data_flow_edge", "sdy.return"}, OF_SHARDINGS)


class _Importer:
    def __init__(self, module: ir.Module, *, keep_no_inline: bool):
        self._keep_no_inline = keep_no_inline
        context = FunctionContext.of(module)
        self._cache, self._meshes = context.cache, context.meshes
        self._computations: dict[str, ir.Operation] = {}
        self._warned: set[str] = set()

    def replace(self, call: ir.Operation, function: ir.Operation) -> None:
        """Replace `call` by a computation with the body of `function`."""
        computation = self._create(call, function)
        self._body(call, function).append_to(computation.regions[0])
        self._computations.setdefault(callee_of(call), computation)
        if has_discardable(function, _EXECUTION_THREAD):
            thread = get_discardable(function, _EXECUTION_THREAD)
            set_discardable(computation, _EXECUTION_THREAD, thread)
        if self._keep_no_inline and has_discardable(function, NO_INLINE):
            set_discardable(computation, FUNCTION_NO_INLINE, get_discardable(function, NO_INLINE))
        if has_discardable(function, CONTRACT):
            set_discardable(computation, FUNCTION_CONTRACT, get_discardable(function, CONTRACT))
        for name, attribute in call.attributes.items():
            if name not in _OF_THE_CALL and (self._keep_no_inline or name != NO_INLINE):
                set_discardable(computation, name, attribute)
        replace_by(call, *computation.results)

    def _create(self, call: ir.Operation, function: ir.Operation) -> ir.Operation:
        operands = list(call.operands)
        in_shardings = complete_list(
            argument_shardings(function), [operand.type for operand in operands], self._meshes
        )
        return sdy.NamedComputationOp(
            [result.type for result in call.results],
            original_name(function),
            operands,
            in_shardings=None if in_shardings is None else self._cache[in_shardings],
            out_shardings=get_discardable(call, SHARDING),
            loc=call.location,
            ip=ir.InsertionPoint(call),
        ).operation

    def _body(self, call: ir.Operation, function: ir.Operation) -> ir.Block:
        """Return the body of `function`: the original for the first call, a copy for later ones."""
        known = self._computations.get(callee_of(call))
        if known is not None:
            self._warn_once(call)
            return known.clone(ip=False).operation.regions[0].blocks[0]
        body = function.regions[0].blocks[0]
        terminator = terminator_of(body)
        sdy.ReturnOp(
            list(terminator.operands), loc=terminator.location, ip=ir.InsertionPoint(terminator)
        )
        terminator.erase()
        return body

    def _warn_once(self, call: ir.Operation) -> None:
        callee = callee_of(call)
        if callee not in self._warned:
            self._warned.add(callee)
            message = (
                f"function @{callee} has multiple call ops, we need to clone the function body "
                "for each call"
            )
            emit(warning(message, location_of(call.location)))


def _check_one_block(function: ir.Operation) -> None:
    if len(function.regions[0].blocks) > 1:
        message = (
            f"function '{original_name(function)}' is called, but has several blocks, and the body "
            "of a named computation has one: use control flow with regions, such as stablehlo.case"
        )
        raise PassError(error(message, location_of(function.location)))
