# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-annotate-sizes`: name the sizes of arguments and results."""

from __future__ import annotations

from typing import Annotated

from mlir_sdy.discardable import set_discardable
from mlir_sdy.host import ir
from mlir_sdy.traversal import operations_in
from pyshardy.irtools.analyses import UNCHANGED, UNKNOWN, Changes
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.pipeline import register_pass
from pyshardy.pipeline.options import Help
from pyshardy.sizes.signature import SIZES, entry_of, signature_of, takes_sizes, write_sizes
from pyshardy.sizes.size_map import SizeMap
from pyshardy.sizes.static_program import equalized, inline_calls
from pyshardy.sizes.symbols import declare


@register_pass("sdy-annotate-sizes", release="pyshardy")
def annotate_sizes(
    module: ir.Module,
    *,
    symbols: Annotated[str, Help("the ranges of symbols, such as b:1..4096,s:8..")] = "",
) -> Changes:
    """Write the sizes of all dimensions as expressions of symbols.

    Arguments get the attribute `sdy.sizes`, and operations get one that has a list for each result.
    A size that doesn't follow from the arguments is a symbol of its own, such as `d1`. Where an
    operation demands that two sizes are equal, one replaces the other, and the attribute
    `sdy.equal_sizes` of the module says so. Calls are inlined.

    ```mlir
    func.func @main(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
      %0 = stablehlo.add %x, %y : tensor<?x4xf32>
      %1 = stablehlo.concatenate %0, %0, dim = 0
          : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
      return %1 : tensor<?x4xf32>
    }
    ```

    becomes

    ```mlir
    func.func @main(%x: tensor<?x4xf32> {sdy.sizes = ["x0", ""]},
                    %y: tensor<?x4xf32> {sdy.sizes = ["x0", ""]}) -> tensor<?x4xf32> {
      %0 = stablehlo.add %x, %y {sdy.sizes = [["x0", ""]]} : tensor<?x4xf32>
      %1 = stablehlo.concatenate %0, %0, dim = 0 {sdy.sizes = [["2*x0", ""]]}
          : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
      return %1 : tensor<?x4xf32>
    }
    ```
    """
    if not takes_sizes(module, {"symbols": symbols}):
        return UNCHANGED
    inline_calls(module)
    declare(module, signature_of(module).symbols, symbols)
    equalized(module)
    signature = signature_of(module)
    write_sizes(entry_of(module), {each.index: each.sizes for each in signature.arguments})
    found = SizeMap(module, signature)
    for view in operations_in(entry_of(module)):
        shapes = [shape_of(each.type) for each in view.operation.results]
        if not any(size < 0 for shape in shapes for size in shape):
            continue
        texts = [
            ["" if number >= 0 else str(size) for number, size in zip(shape, sizes, strict=True)]
            for shape, sizes in zip(shapes, map(found.sizes, view.operation.results), strict=True)
        ]
        with module.context:
            arrays = [ir.ArrayAttr.get(list(map(ir.StringAttr.get, each))) for each in texts]
            set_discardable(view.operation, SIZES, ir.ArrayAttr.get(arrays))
    return UNKNOWN
