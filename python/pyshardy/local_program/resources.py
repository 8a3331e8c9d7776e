# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Constants whose elements are in a resource of the module: `dense_resource<weights>`."""

from __future__ import annotations

import re

from mlir_sdy.diagnostics import error
from mlir_sdy.host import ir, location_of
from mlir_sdy.late_numpy import np
from pyshardy.irtools.stablehlo_views import ConstantView
from pyshardy.irtools.walks import operations_named
from pyshardy.local_program.errors import ExecutionError

_CONTENTS = re.compile(r': "0x[0-9A-Fa-f]{8}([0-9A-Fa-f]*)"')
"""A resource in the text of a module: the alignment, and the elements."""


def use_dense_constants(module: ir.Module) -> None:
    """Replace each constant with a resource by one with its elements, in place.

    Engines read resources wrongly, or not at all.

    Raises:
        ExecutionError: a resource has no contents, or too many or few.
    """
    for constant in operations_named({"stablehlo.constant"}, module):
        literal = ConstantView(constant).value
        if not isinstance(literal, ir.DenseElementsAttr):
            ConstantView(constant).value = _dense(constant)


def _dense(constant: ir.Operation) -> ir.DenseElementsAttr:
    # The bindings show the contents in the text of a module only.
    holder = ir.Module.create(constant.location)
    holder.body.append(constant.clone(ip=False))
    contents = _CONTENTS.search(str(holder))
    try:
        literal = ir.DenseResourceElementsAttr(ConstantView(constant).value)
        data = np.frombuffer(bytes.fromhex(contents[1] if contents else ""), np.uint8)
        return ir.DenseElementsAttr.get(data, type=literal.type, context=constant.context)
    except ValueError:
        message = (
            f"the elements of this constant of type {constant.results[0].type} are unknown: it is "
            "elided or sparse, or its resource has another size; print the program with all "
            "elements (without '--mlir-elide-elementsattrs-if-larger')"
        )
        raise ExecutionError(error(message, location_of(constant.location))) from None
