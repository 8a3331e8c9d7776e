// RUN: sdy-opt %s --sdy-static-updates-to-pads | FileCheck %s

sdy.mesh @mesh = <["x"=4]>

// CHECK-LABEL: @set
// CHECK: %[[PAD:.*]] = stablehlo.pad %arg1, %{{.*}}, low = [1], high = [1], interior = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
// CHECK: %[[POSITION:.*]] = stablehlo.iota
// CHECK: %[[AFTER:.*]] = stablehlo.compare GE, %[[POSITION]],
// CHECK: %[[BEFORE:.*]] = stablehlo.compare LT
// CHECK: %[[INSIDE:.*]] = stablehlo.and %[[AFTER]], %[[BEFORE]]
// CHECK: stablehlo.select %[[INSIDE]], %[[PAD]], %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
func.func @set(%a: tensor<16xf32>,
    %u: tensor<14xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<16xf32> {
  %i = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.dynamic_update_slice %a, %u, %i
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
      : (tensor<16xf32>, tensor<14xf32>, tensor<i32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// A combination, at an index that is a broadcast of a constant.
// CHECK-LABEL: @combine
// CHECK: %[[PAD:.*]] = stablehlo.pad %arg1, %{{.*}}, low = [2, 0], high = [0, 0]
// CHECK: %[[SUM:.*]] = stablehlo.add %arg0, %[[PAD]]
// CHECK: stablehlo.select %{{.*}}, %[[SUM]], %arg0
func.func @combine(%a: tensor<16x3xf32>, %u: tensor<14x3xf32>) -> tensor<16x3xf32> {
  %c = stablehlo.constant dense<2> : tensor<i32>
  %i = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<1xi32>
  %0 = "stablehlo.scatter"(%a, %i, %u) <{
      scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1],
        scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
    : (tensor<16x3xf32>, tensor<1xi32>, tensor<14x3xf32>) -> tensor<16x3xf32>
  return %0 : tensor<16x3xf32>
}

// One row is on one device, and an update that isn't sharded is on all.
// CHECK-LABEL: @stays
// CHECK-COUNT-2: stablehlo.dynamic_update_slice
// CHECK-NOT: stablehlo.select
func.func @stays(%a: tensor<16xf32>,
    %u: tensor<1xf32>, %v: tensor<14xf32>) -> tensor<16xf32> {
  %i = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.dynamic_update_slice %a, %u, %i
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
      : (tensor<16xf32>, tensor<1xf32>, tensor<i32>) -> tensor<16xf32>
  %1 = stablehlo.dynamic_update_slice %0, %v, %i
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
      : (tensor<16xf32>, tensor<14xf32>, tensor<i32>) -> tensor<16xf32>
  return %1 : tensor<16xf32>
}

// The second index, of a dimension that windows cover, is zero, as vmap writes it.
// CHECK-LABEL: @zeros
// CHECK: %[[CLAMPED:.*]] = stablehlo.clamp
// CHECK: %[[FIRST:.*]] = stablehlo.slice %[[CLAMPED]] [0:4, 0:1]
// CHECK: "stablehlo.scatter"(%arg0, %[[FIRST]], %arg2)
// CHECK-SAME: scatter_dims_to_operand_dims = [1], index_vector_dim = 1
func.func @zeros(%a: tensor<4x6x8xf32>, %i: tensor<4x2xi32>, %u: tensor<4x1x8xf32>)
    -> tensor<4x6x8xf32> {
  %0 = stablehlo.constant dense<0> : tensor<i32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<4x2xi32>
  %2 = stablehlo.constant dense<[5, 0]> : tensor<2xi32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<2xi32>) -> tensor<4x2xi32>
  %4 = stablehlo.clamp %1, %i, %3 : tensor<4x2xi32>
  %5 = "stablehlo.scatter"(%a, %4, %u) <{
      scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2],
        input_batching_dims = [0], scatter_indices_batching_dims = [0],
        scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %q : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {"x"}]>]>}
    : (tensor<4x6x8xf32>, tensor<4x2xi32>, tensor<4x1x8xf32>) -> tensor<4x6x8xf32>
  return %5 : tensor<4x6x8xf32>
}

// With another index, elements would move to other shards.
// CHECK-LABEL: @shifts
// CHECK: "stablehlo.scatter"(%arg0, %arg1, %arg2)
func.func @shifts(%a: tensor<4x6x8xf32>, %i: tensor<4x2xi32>, %u: tensor<4x1x8xf32>)
    -> tensor<4x6x8xf32> {
  %0 = "stablehlo.scatter"(%a, %i, %u) <{
      scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2],
        input_batching_dims = [0], scatter_indices_batching_dims = [0],
        scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %q : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {"x"}]>]>}
    : (tensor<4x6x8xf32>, tensor<4x2xi32>, tensor<4x1x8xf32>) -> tensor<4x6x8xf32>
  return %0 : tensor<4x6x8xf32>
}
