# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-populate-unreduced-out-sharding`."""

from __future__ import annotations

from dataclasses import replace

from mlir_sdy.host import ir
from mlir_sdy.model import TensorSharding
from mlir_sdy.mpmd.reading import FRAGMENT, returned_values
from mlir_sdy.values import get_sharding, result_shardings_of, set_result_shardings_of
from pyshardy.irtools.walks import operations_named
from pyshardy.pipeline import register_pass


@register_pass("mpmd-populate-unreduced-out-sharding", release="0.10.2")
def populate_unreduced_out_sharding(module: ir.Module) -> None:
    """Set the unreduced axes of results of fragments to those of the values they return.

    Unreduced axes don't propagate; a result whose value in the body has partial sums keeps them.
    """
    for fragment in operations_named({FRAGMENT}, module):
        changed: dict[int, TensorSharding] = {}
        values = returned_values(fragment)
        given = result_shardings_of(fragment) or [None] * len(values)
        for index, (sharding, value) in enumerate(zip(given, values, strict=True)):
            inner = get_sharding(value)
            if inner is None or not inner.unreduced_axes:
                continue
            if sharding is None:
                changed[index] = inner
            elif not sharding.unreduced_axes:
                changed[index] = replace(
                    sharding,
                    unreduced_axes=inner.unreduced_axes,
                    reduction_kind=inner.reduction_kind,
                )
        if changed:
            set_result_shardings_of(fragment, changed)
