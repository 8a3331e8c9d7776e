// RUN: sdy-opt %s -sdy-resolve-permutation-factors | FileCheck %s

sdy.mesh @mesh = <["x"=2]>

// Halves of the rows of the one are halves of the rows of the other.
// CHECK-LABEL: func.func @alike
func.func @alike(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> tensor<4x8xf32> {
  // CHECK-NEXT: %0 = stablehlo.reshape %arg0
  // CHECK-NEXT: return %0
  %0 = stablehlo.reshape %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
    : (tensor<8x4xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @unlike
func.func @unlike(%arg0: tensor<12x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
    -> tensor<8x36xf32> {
  // CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{}, {}]> : tensor<12x24xf32>
  // CHECK-NEXT: %1 = stablehlo.reshape %0
  // CHECK-SAME: sdy.sharding_per_value<[<@mesh, [{}, {}]>]>
  // CHECK-NEXT: %2 = sdy.reshard %1 <@mesh, [{}, {"x"}]> : tensor<8x36xf32>
  // CHECK-NEXT: return %2
  %0 = stablehlo.reshape %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>}
    : (tensor<12x24xf32>) -> tensor<8x36xf32>
  return %0 : tensor<8x36xf32>
}
