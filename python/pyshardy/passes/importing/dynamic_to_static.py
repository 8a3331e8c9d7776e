# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-dynamic-to-static`: give dynamic sizes values."""

from __future__ import annotations

from typing import Annotated

from mlir_sdy.diagnostics import emit, warning
from mlir_sdy.host import ir, location_of
from pyshardy.dynamic.masks import capacity_program
from pyshardy.irtools.analyses import UNCHANGED, UNKNOWN, Changes
from pyshardy.irtools.modules import move_contents
from pyshardy.pipeline import register_pass
from pyshardy.pipeline.options import Help
from pyshardy.sizes.signature import DynamicSignature, takes_sizes
from pyshardy.sizes.static_program import static_at, unified, values_with
from pyshardy.sizes.symbols import values_in


@register_pass("sdy-dynamic-to-static", release="pyshardy")
def dynamic_to_static(
    module: ir.Module,
    *,
    sizes: Annotated[
        str, Help("the values of the symbols, such as b:3,s:128; others have their hints")
    ] = "",
    capacity: Annotated[
        bool, Help("whether the program also runs smaller sizes, which are its last arguments")
    ] = False,
) -> Changes:
    """Replace dynamic sizes by given ones.

    Refines the types of all values for the given sizes of the arguments, replaces operations with
    sizes as operands, such as `stablehlo.dynamic_broadcast_in_dim`, by those with sizes in
    attributes, and checks and erases assertions about sizes. Calls are inlined. Attributes such as
    shardings stay.

    The sizes of arguments are named by the attribute `sdy.sizes`, or after the argument and the
    dimension: `x0` is the size of dimension 0 of `%x`. The attribute `sdy.symbols` of the module
    gives their ranges and hints.

    With `capacity`, the program has a further argument of type `i32` for each symbol, the size of
    the inputs up to the given one, with a warning if it may be invalid for some of them. What is in
    the padding behind it is never read.

    With `sizes=b:8`,

    ```mlir
    func.func @main(%x: tensor<?x4xf32> {sdy.sizes = ["2*b", ""]}) -> tensor<?x4xf32> {
      %0 = stablehlo.tanh %x : tensor<?x4xf32>
      return %0 : tensor<?x4xf32>
    }
    ```

    becomes

    ```mlir
    func.func @main(%x: tensor<16x4xf32>) -> tensor<16x4xf32> {
      %0 = stablehlo.tanh %x : tensor<16x4xf32>
      return %0 : tensor<16x4xf32>
    }
    ```
    """
    values = values_in([sizes], "sizes")
    if not takes_sizes(module, {"sizes": values, "capacity": capacity}):
        return UNCHANGED

    def for_capacity(signature: DynamicSignature) -> ir.Module:
        most = values_with(signature, values, module)
        static, needs_check = capacity_program(module, signature, [*signature.symbols], most)
        if needs_check:
            place = location_of(module.operation.location)
            emit(warning("nothing refuses smaller sizes for which the program is invalid", place))
        return static

    static = unified(module, for_capacity) if capacity else static_at(module, values)
    move_contents(static.operation, module.operation)
    return UNKNOWN
