// RUN: sdy-opt %s -sdy-aggressive-propagate | FileCheck %s
// RUN: sdy-opt %s -sdy-aggressive-propagate='propagation-strategy=basic' | FileCheck %s --check-prefix=BASIC
// RUN: sdy-opt %s -sdy-aggressive-propagate='propagation-strategy=basic-then-aggressive' | FileCheck %s --check-prefix=BOTH

sdy.mesh @mesh = <["a"=2, "b"=2]>

// The larger source of the conflicting axis wins, unless something without a conflict came first.
// CHECK-LABEL: func.func @main
func.func @main(
    %arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?}]>},
    %arg1: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"a"}]>},
    %arg2: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"a"}]>}) -> tensor<8x8xf32> {
  // CHECK: stablehlo.dot %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}, {?}]>]>}
  // BASIC: stablehlo.dot %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"a", ?}]>]>}
  // BOTH: stablehlo.dot %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"a", ?}]>]>}
  %0 = stablehlo.dot %arg0, %arg1 : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  // CHECK: stablehlo.add %[[VALUE:[0-9]+]], %arg2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}, {?}]>]>}
  // BASIC: stablehlo.add %[[VALUE:[0-9]+]], %arg2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"a", ?}]>]>}
  // BOTH: stablehlo.add %[[VALUE:[0-9]+]], %arg2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"a", ?}]>]>}
  %1 = stablehlo.add %0, %arg2 : tensor<8x8xf32>
  // Here there is nothing but the conflict: basic takes no side.
  // CHECK: stablehlo.dot %arg0, %arg1 {sdy.sharding
  // BASIC: stablehlo.custom_call
  %2 = stablehlo.dot %arg0, %arg1 : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  stablehlo.custom_call @sdy_testonly(%2) {has_side_effect = true} : (tensor<8x8xf32>) -> ()
  return %1 : tensor<8x8xf32>
}
