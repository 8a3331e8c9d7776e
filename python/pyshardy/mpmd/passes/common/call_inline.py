# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-call-inline`."""

from __future__ import annotations

from mlir_sdy.discardable import set_discardable
from mlir_sdy.host import ir
from mlir_sdy.mpmd.reading import CALL, FRAGMENT, body_of, operations_of
from pyshardy.irtools.functions import functions_of, is_private, replace_by_body
from pyshardy.irtools.stablehlo_views import CallView, symbol_name
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.rewriting.functions import called_functions
from pyshardy.mpmd.rewriting.regions import call_attributes
from pyshardy.pipeline import register_pass


@register_pass("mpmd-call-inline", release="0.10.2")
def call_inline(module: ir.Module) -> None:
    """Inline calls of functions on several meshes.

    The attributes of a call, such as `call_counter`, are set on the inlined fragments.
    """
    functions = called_functions(module)
    for function in functions_of(module):
        for call in operations_named({CALL}, function):
            _inline(call, functions[CallView(call).callee])
    for function in functions_of(module):
        if symbol_name(function) in functions and is_private(function):
            function.erase()


def _inline(call: ir.Operation, callee: ir.Operation) -> None:
    body = body_of(callee.clone(ip=False).operation)
    attributes = call_attributes(call)
    for operation in operations_of(body):
        if operation.name == FRAGMENT:
            for name, attribute in attributes.items():
                set_discardable(operation, name, attribute)
    replace_by_body(call, body)
