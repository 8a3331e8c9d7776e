// RUN: sdy-opt %s "-pass-pipeline=builtin.module(func.func(sdy-unshard-size-one-dims))" | FileCheck %s

sdy.mesh @mesh = <["x"=4, "y"=2]>

// CHECK-LABEL: func.func @last_row
func.func @last_row(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<8xf32> {
  // CHECK-NEXT: %[[CONSTANT:.*]] = sdy.constant dense<15> : tensor<i64>
  // CHECK-NEXT: %[[CONSTANT_1:.*]] = sdy.constant dense<0> : tensor<i64>
  // CHECK-NEXT: %[[SLICE:.*]] = stablehlo.dynamic_slice %arg0, %[[CONSTANT]], %[[CONSTANT_1]], sizes = [1, 8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>}
  // CHECK-NEXT: %[[RESHAPE:.*]] = stablehlo.reshape %[[SLICE]]
  %0 = stablehlo.slice %arg0 [15:16, 0:8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : (tensor<16x8xf32>) -> tensor<1x8xf32>
  %1 = stablehlo.reshape %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : (tensor<1x8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// Shards exchange what a concatenation puts together again; its short operand isn't sharded, though.
// CHECK-LABEL: func.func @roll
func.func @roll(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  // CHECK-NEXT: %[[SLICE:.*]] = stablehlo.slice %arg0 [15:16, 0:8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
  // CHECK-NEXT: %[[SLICE_1:.*]] = stablehlo.slice %arg0 [0:15, 0:8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
  // CHECK-NEXT: stablehlo.concatenate
  %0 = stablehlo.slice %arg0 [15:16, 0:8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<16x8xf32>) -> tensor<1x8xf32>
  %1 = stablehlo.slice %arg0 [0:15, 0:8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<16x8xf32>) -> tensor<15x8xf32>
  %2 = stablehlo.concatenate %0, %1, dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<1x8xf32>, tensor<15x8xf32>) -> tensor<16x8xf32>
  return %2 : tensor<16x8xf32>
}
