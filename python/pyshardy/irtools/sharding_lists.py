# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The shardings of all arguments, or all results, of a function as one list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, TensorSharding, TensorShardingPerValue
from mlir_sdy.values import rank_of


def complete_list(
    shardings: Sequence[TensorSharding | None],
    types: Sequence[ir.Type],
    meshes: Mapping[str, Mesh],
) -> TensorShardingPerValue | None:
    """Return the shardings of values, fully open ones for values without; None if no value has one.

    1. The mesh of the open ones is that of the first sharding that is not on a maximal mesh.
    2. If there is no such sharding, there is no list.

    No sharding and `<@mesh, [{"x"}]>` give `[<@mesh, [{?}]>, <@mesh, [{"x"}]>]`.

    Args:
        shardings: the sharding of each value, or None.
        types: the types of the values.
        meshes: the meshes of the module by their names.
    """
    references = (given.mesh_or_ref for given in shardings if given is not None)
    for reference in references:
        mesh = meshes[reference] if isinstance(reference, str) else reference
        if not mesh.is_maximal:
            return TensorShardingPerValue(
                tuple(
                    given or TensorSharding.fully_open(rank_of(value_type), reference)
                    for given, value_type in zip(shardings, types, strict=True)
                )
            )
    return None
