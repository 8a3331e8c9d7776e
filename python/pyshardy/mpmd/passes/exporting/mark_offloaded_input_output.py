# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-mark-offloaded-input-output`."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.mpmd.reading import (
    ARGUMENT_ATTRIBUTES,
    FRAGMENT,
    RESULT_ATTRIBUTES,
    mesh_type,
)
from mlir_sdy.mpmd.values import PINNED_HOST
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.rewriting.functions import mpmd_functions
from pyshardy.mpmd.rewriting.lifetimes import mark_values
from pyshardy.pipeline import register_pass


@register_pass("mpmd-mark-offloaded-input-output", release="0.10.2")
def mark_offloaded_input_output(module: ir.Module) -> None:
    """Mark operands and results of fragments in the memory of the host by `mhlo.memory_kind`."""
    kind = ir.StringAttr.get(PINNED_HOST, module.context)
    for function in mpmd_functions(module):
        for fragment in operations_named({FRAGMENT}, function):
            for name, values in (
                (ARGUMENT_ATTRIBUTES, fragment.operands),
                (RESULT_ATTRIBUTES, fragment.results),
            ):
                found = [mesh_type(each) for each in values]
                hosts = [each is not None and each.is_on_host for each in found]
                marks = [{"mhlo.memory_kind": kind} if each else {} for each in hosts]
                mark_values(fragment, name, marks)
