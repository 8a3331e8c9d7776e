# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-propagate-to-func-results`: shard the results of functions as the values they return.

Before:

    func.func private @f(%a: tensor<8xf32> {sdy.sharding = <@mesh, [{"x"}]>}) -> tensor<8xf32> {
      return %a : tensor<8xf32>

After:

    func.func private @f(%a: tensor<8xf32> {sdy.sharding = <@mesh, [{"x"}]>})
        -> (tensor<8xf32> {sdy.sharding = <@mesh, [{"x"}]>}) {
      return %a : tensor<8xf32>
"""

from __future__ import annotations

from mlir_sdy.attributes import AttributeCache
from mlir_sdy.host import ir
from mlir_sdy.values import get_sharding, set_result_shardings
from pyshardy.passes.functions import functions_of, main_function, returned_values


def propagate_to_func_results(module: ir.Module) -> None:
    """Copy the shardings of returned values to the results of all functions but the main one.

    A result whose value has no sharding loses its own. The results of the main function are the
    user's, and propagation itself has dealt with them.

    Raises:
        PassError: there are several functions, but none is called `main`.
    """
    main = main_function(module)
    cache = AttributeCache(module.context)
    for function in functions_of(module):
        returned = returned_values(function)
        if function != main and returned:
            shardings = {index: get_sharding(value) for index, value in enumerate(returned)}
            set_result_shardings(function, shardings, cache)
