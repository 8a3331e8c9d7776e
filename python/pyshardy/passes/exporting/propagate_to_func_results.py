# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-propagate-to-func-results`: copy the shardings of returned values to function results.

1. A result of the main function keeps its sharding, which is the user's, if it has one.
2. Any other result gets the sharding of its value, or loses its own if the value has none.
3. A sharding on a single device is not copied: the value is resharded after its definition, and
   the partitioner rejects interfaces on a single device.
"""

from __future__ import annotations

from collections.abc import Mapping

from mlir_sdy.attributes import AttributeCache
from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, TensorSharding, mesh_of
from mlir_sdy.symbols import meshes_of
from mlir_sdy.values import get_sharding, result_shardings, set_result_shardings
from pyshardy.irtools.analyses import OF_INTERFACE, Changes
from pyshardy.irtools.functions import functions_of, main_function, returned_values
from pyshardy.pipeline import register_pass


def is_maximal(sharding: TensorSharding, meshes: Mapping[str, Mesh]) -> bool:
    """Whether a sharding is on a single device."""
    mesh = mesh_of(sharding, meshes)
    return mesh is not None and mesh.is_maximal


@register_pass("sdy-propagate-to-func-results", release="0.10.2")
def propagate_to_func_results(module: ir.Module) -> Changes:
    """Propagate the shardings of returned values to function results.

    Sets the sharding of each function result to that of the returned value, and removes it if the
    returned value has none. The main function is excluded: the user annotates its results, and
    propagation includes them.

    ```mlir
    func.func private @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
        -> tensor<8xf32> {
      return %a : tensor<8xf32>
    ```

    shards the result of the function by "x".

    Raises:
        PassError: there are several functions, but none is called `main`.
    """
    main = main_function(module)
    meshes, cache = meshes_of(module), AttributeCache(module.context)
    for function in functions_of(module):
        given = result_shardings(function) if function == main else ()
        if given and None not in given:
            continue  # all are the user's
        returned = returned_values(function)
        if not returned:
            continue
        shardings = {index: get_sharding(value) for index, value in enumerate(returned)}
        for index, sharding in shardings.items():
            if sharding is not None and is_maximal(sharding, meshes):
                shardings[index] = None
        if function == main:
            shardings = {
                index: sharding
                for index, sharding in shardings.items()
                if sharding is not None and given[index] is None
            }
        if shardings:
            set_result_shardings(function, shardings, cache)
    return Changes(stale=OF_INTERFACE)
