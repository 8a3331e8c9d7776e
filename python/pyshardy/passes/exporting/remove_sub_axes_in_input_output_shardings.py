# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-remove-sub-axes-in-input-output-shardings`: remove propagated sub-axes.

`[{"y", "x":(1)2, ?}p3, {"x":(2)2}]` becomes `[{"y", ?}p3, {"x":(2)2}]`: a closed dimension is
kept as the user wrote it.
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
from pyshardy.irtools.analyses import OF_INTERFACE, UNCHANGED, Changes
from pyshardy.irtools.functions import main_function
from pyshardy.pipeline import register_pass


@register_pass("sdy-remove-sub-axes-in-input-output-shardings", release="0.10.2")
def remove_sub_axes_in_input_output_shardings(module: ir.Module) -> Changes:
    """Remove sub-axes from open dimensions of the main function's signature.

    Truncates the axes of each open dimension of the main function's arguments and results before
    the first sub-axis, since propagation added the axes of these dimensions. Closed dimensions are
    the user's choice and are not changed.

    The main function is the only function of the module, or the one named `main`.

    ```mlir
    %a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x":(1)2, ?}, {"x":(2)2}]>}
    ```

    becomes

    ```mlir
    %a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", ?}, {"x":(2)2}]>}
    ```

    Raises:
        PassError: there are several functions, but none is called `main`.
    """
    main = main_function(module)
    if main is None:
        return UNCHANGED
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
    return Changes(stale=OF_INTERFACE)


def _with_full_axes(sharding: TensorSharding) -> TensorSharding:
    return sharding.with_dims(
        tuple(dim if dim.is_closed else _cut(dim) for dim in sharding.dim_shardings)
    )


def _cut(dim: DimensionSharding) -> DimensionSharding:
    return dim.with_axes(tuple(takewhile(_is_full, dim.axes)))


def _is_full(axis: AxisRef) -> bool:
    return axis.sub_axis_info is None
