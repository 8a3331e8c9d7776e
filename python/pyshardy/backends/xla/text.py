# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Partitioned programs as text for XLA."""

from __future__ import annotations

from mlir_sdy.assembly import asm
from mlir_sdy.host import ir
from pyshardy.backends.modules import copy_of
from pyshardy.passes.async_operations import make_synchronous

_MANUAL = "{manual}"
_APPROXIMATE_TOP_K = "ApproxTopK"


def text_for_xla(module: ir.Module) -> str:
    """The text of a local program, marked so that XLA compiles it for many partitions as it is.

    XLA partitions a program for more than one partition by its annotations; what is marked as
    manual it takes for the program of each device already.

    Args:
        module: a local program, as in `PartitionedProgram.module`. It isn't changed.
    """
    local = copy_of(module)
    make_synchronous(local)  # not every jaxlib reads asynchronous operations
    mark = ir.StringAttr.get(_MANUAL, local.context)
    marked = ir.DictAttr.get({"mhlo.sharding": mark}, local.context)
    for view in local.body.operations:
        function = view.operation
        if function.name != "func.func":
            continue
        for inner in function.regions[0].blocks[0].operations:
            if not _takes_no_mark(inner.operation):
                inner.operation.attributes["mhlo.sharding"] = mark
        types = function.attributes["function_type"].value
        for entry, values in (("arg_attrs", types.inputs), ("res_attrs", types.results)):
            function.attributes[entry] = ir.ArrayAttr.get([marked] * len(values), local.context)
    return asm(local)


def _takes_no_mark(operation: ir.Operation) -> bool:
    """Whether an operation is one that XLA reads without any further attribute."""
    if operation.name != "stablehlo.custom_call":
        return False
    return operation.attributes["call_target_name"].value == _APPROXIMATE_TOP_K
