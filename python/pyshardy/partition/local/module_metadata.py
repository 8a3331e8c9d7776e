# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The shardings of the main function as attributes of its module.

A local program has the types of shards only. Attributes of the module tell its caller the shardings
of the global inputs and outputs:

    module attributes {
      sdy.parameters_shardings = #sdy.sharding_per_value<[<mesh<["x"=2]>, [{"x"}]>]>,
      sdy.output_shardings = #sdy.sharding_per_value<[<mesh<["x"=2]>, [{}]>]>
    }
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlir_sdy.attributes import attribute_of
from mlir_sdy.discardable import set_discardable
from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, TensorSharding, TensorShardingPerValue, mesh_of
from mlir_sdy.values import argument_shardings, rank_of, result_shardings
from pyshardy.irtools.functions import functions_of, has_body
from pyshardy.irtools.shardings import MODULE_SHARDING_METADATA
from pyshardy.irtools.stablehlo_views import function_type_of, symbol_name
from pyshardy.partition.op_facts.device_meshes import device_mesh_of


def write_module_metadata(module: ir.Module, meshes: Mapping[str, Mesh]) -> None:
    """Give a global module with a function `@main` the attributes of `MODULE_SHARDING_METADATA`.

    1. Shardings hold their meshes, as the declarations of meshes are dropped later.
    2. A value without a sharding is replicated on the mesh of the function, or on an empty one.
    """
    main = next((f for f in functions_of(module) if symbol_name(f) == "main"), None)
    if main is None or not has_body(main):
        return
    mesh_name = device_mesh_of(main, meshes)
    default = Mesh() if mesh_name is None else meshes[mesh_name]
    signature = function_type_of(main)
    lists = (
        _complete(argument_shardings(main), signature.inputs, meshes, default),
        _complete(result_shardings(main), signature.results, meshes, default),
    )
    for name, shardings in zip(MODULE_SHARDING_METADATA, lists, strict=True):
        attribute = attribute_of(TensorShardingPerValue(shardings), module.context)
        set_discardable(module.operation, name, attribute)


def _complete(
    shardings: Sequence[TensorSharding | None],
    types: Sequence[ir.Type],
    meshes: Mapping[str, Mesh],
    default: Mesh,
) -> tuple[TensorSharding, ...]:
    return tuple(
        TensorSharding.fully_closed(rank_of(value_type), default)
        if sharding is None
        else sharding.with_mesh(mesh_of(sharding, meshes) or default)
        for sharding, value_type in zip(shardings, types, strict=True)
    )
