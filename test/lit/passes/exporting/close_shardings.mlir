// RUN: sdy-opt %s -sdy-close-shardings | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Priorities stay, but on dimensions that are empty and closed then.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}p1, {}]>}
// CHECK-SAME: -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced=max{"y"}>})
func.func @main(
    %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}p1, {?}p2], replicated={"y"}>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}], unreduced=max{"y"}>}) {
  // CHECK: sdy.sharding_constraint %arg0 <@mesh, [{"x"}, {}]>
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x", ?}, {}]> : tensor<8x8xf32>
  // CHECK: stablehlo.negate %[[VALUE:[0-9]+]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>}
  %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"y", ?}]>]>} : tensor<8x8xf32>
  // CHECK: in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x", "y"}
  %2 = sdy.manual_computation(%1) in_shardings=[<@mesh, [{"x", ?}, {}], replicated={"y"}>]
      out_shardings=[<@mesh, [{"x"}, {?}], replicated={"y"}>] manual_axes={"x", "y"} (%arg1: tensor<4x8xf32>) {
    sdy.return %arg1 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
