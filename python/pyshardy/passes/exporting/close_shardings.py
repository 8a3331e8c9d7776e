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

from mlir_sdy.attributes import TensorShardingPerValueAttr
from mlir_sdy.host import identity, ir
from mlir_sdy.model import DimensionSharding, TensorSharding
from mlir_sdy.values import map_shardings
from pyshardy.irtools.analyses import (
    inserts,
    is_computed,
    mark_all_preserved,
    preserves,
    replace_analysis,
)
from pyshardy.irtools.shardings import (
    ResultKind,
    ShardingLists,
    any_sharding,
    different_shardings,
    result_kinds,
)
from pyshardy.pipeline import register_pass


@register_pass("sdy-close-shardings", release="0.10.2")
@inserts()
@preserves("sharding-rules")
def close_shardings(module: ir.Module) -> None:
    """Close the dimensions of all shardings.

    Closes every dimension of every sharding, and drops replicated axes, which have no meaning in
    a closed sharding. Dimensions keep their axes; unreduced axes are also kept.

    `<@mesh, [{"x", ?}, {?}], replicated={"y"}>` becomes `<@mesh, [{"x"}, {}]>`.
    """
    root = module.operation
    if is_computed("sharding-lists", root) and not any_sharding(module, _is_open):
        mark_all_preserved()
        return
    kinds = result_kinds(root) if is_computed("result-kinds", root) else None
    pairs = map_shardings(module, _closed)
    if all(old is new for old, new in pairs):
        mark_all_preserved()
    lists = (new for _, new in pairs if isinstance(new, TensorShardingPerValueAttr))
    replace_analysis("sharding-lists", root, ShardingLists(lists))
    replace_analysis("interface-shardings", root, different_shardings(new for _, new in pairs))
    if kinds is not None:
        closed = {identity(old): new for old, new in pairs}
        left = (
            ResultKind(closed[identity(kind.shardings)], kind.types)
            for kind in kinds
            if identity(kind.shardings) in closed
        )
        replace_analysis("result-kinds", root, tuple(dict.fromkeys(left)))


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
