# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-remove-sub-axes-in-input-output-shardings`: remove propagated sub-axes.

Before:

    %a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x":(1)2, ?}, {"x":(2)2}]>}

After:

    %a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", ?}, {"x":(2)2}]>}
"""

from __future__ import annotations

from itertools import takewhile

from mlir_sdy.attributes import AttributeCache
from mlir_sdy.host import ir
from mlir_sdy.model import AxisRef, DimensionSharding, TensorSharding
from mlir_sdy.values import (
    argument_shardings,
    result_shardings,
    set_argument_shardings,
    set_result_shardings,
)
from pyshardy.irtools.analyses import inserts, preserves
from pyshardy.irtools.functions import main_function


@inserts()
@preserves("result-kinds", "sharding-lists", "sharding-rules")
def remove_sub_axes_in_input_output_shardings(module: ir.Module) -> None:
    """Cut the axes of open dimensions of the main function's values before the first sub-axis.

    `[{"y", "x":(1)2, ?}p3, {"x":(2)2}]` becomes `[{"y", ?}p3, {"x":(2)2}]`: a closed dimension is
    kept as the user wrote it.

    Raises:
        PassError: there are several functions, but none is called `main`.
    """
    main = main_function(module)
    if main is None:
        return
    cache = AttributeCache(module.context)
    for read, write in (
        (argument_shardings, set_argument_shardings),
        (result_shardings, set_result_shardings),
    ):
        changed = {
            index: new
            for index, sharding in enumerate(read(main))
            if sharding is not None and (new := _with_full_axes(sharding)) != sharding
        }
        if changed:
            write(main, changed, cache)


def _with_full_axes(sharding: TensorSharding) -> TensorSharding:
    return sharding.with_dims(
        tuple(dim if dim.is_closed else _cut(dim) for dim in sharding.dim_shardings)
    )


def _cut(dim: DimensionSharding) -> DimensionSharding:
    return dim.with_axes(tuple(takewhile(_is_full, dim.axes)))


def _is_full(axis: AxisRef) -> bool:
    return axis.sub_axis_info is None
