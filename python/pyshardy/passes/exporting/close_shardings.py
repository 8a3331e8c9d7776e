# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-close-shardings`: make every dimension of every sharding closed.

Before:

    %0 = stablehlo.add %a, %b {sdy.sharding = [<@mesh, [{"x", ?}, {?}], replicated={"y"}>]}

After:

    %0 = stablehlo.add %a, %b {sdy.sharding = [<@mesh, [{"x"}, {}]>]}

Axes, unreduced axes and priorities are kept, except the priorities of dimensions without axes,
which a closed dimension must not have.
"""

from __future__ import annotations

from dataclasses import replace

from mlir_sdy.host import ir
from mlir_sdy.model import DimensionSharding, TensorSharding
from pyshardy.irtools.analyses import Changes
from pyshardy.irtools.shardings import change_shardings
from pyshardy.pipeline import register_pass


@register_pass("sdy-close-shardings", release="0.10.2")
def close_shardings(module: ir.Module) -> Changes:
    """Close the dimensions of all shardings.

    Closes every dimension of every sharding, and drops replicated axes, which have no meaning in
    a closed sharding. Dimensions keep their axes; unreduced axes are also kept.

    `<@mesh, [{"x", ?}, {?}], replicated={"y"}>` becomes `<@mesh, [{"x"}, {}]>`.
    """
    return change_shardings(module, _is_open, _closed)


def _is_open(sharding: TensorSharding) -> bool:
    return sharding != _closed(sharding)


def _closed(sharding: TensorSharding) -> TensorSharding:
    return replace(
        sharding,
        dim_shardings=tuple(
            dim.closed() if dim.axes else DimensionSharding(is_closed=True)
            for dim in sharding.dim_shardings
        ),
        replicated_axes=(),
    )
