//===- SdyDialect.td - The sdy dialect ---------------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SDY_DIALECT
#define SDY_DIALECT

include "mlir/IR/DialectBase.td"

def Sdy_Dialect : Dialect {
  let name = "sdy";
  let cppNamespace = "::mlir::sdy";
  let summary = "Axis-based tensor sharding";
  let description = [{
    The dialect describes how tensors are split over a mesh of devices. A mesh has named axes; a
    sharding gives, for each dimension of a tensor, the axes that split it, major to minor.

    Three kinds of definition work together:

    - attributes attach a sharding to a value: `sdy.sharding` on a function argument, on a
      function result, or (one per result) on any operation, and `sdy.sharding_rule`, which maps
      the dimensions of an operation's operands and results to each other;
    - operations that users annotate programs with: `sdy.mesh`, `sdy.sharding_constraint`,
      `sdy.sharding_group`, `sdy.manual_computation`, `sdy.propagation_barrier`;
    - operations that passes insert while converting the program to a local program: data-flow edges,
      `sdy.reshard`, and collectives expressed in mesh axes.

    ```mlir
    sdy.mesh @mesh = <["x"=2, "y"=4]>

    func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}\]>})
        -> tensor<8x16xf32> {
      %0 = stablehlo.negate %a : tensor<8x16xf32>
      %1 = sdy.sharding_constraint %0 <@mesh, [{?}, {"y"}\]> : tensor<8x16xf32>
      return %1 : tensor<8x16xf32>
    }
    ```

    Version log:

    - 0.0.1: unreduced axes in `TensorShardingAttr`.
    - 0.0.2: the kind of reduction of unreduced axes.
  }];

  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

#endif // SDY_DIALECT
