// RUN: sdy-opt %s -convert-shard-to-sdy | FileCheck %s

// CHECK: sdy.mesh @grid = <["axis0"=2, "axis1"=4]>
shard.grid @grid(shape = 2x4)
// CHECK: sdy.mesh @named = <["x"=8]>
shard.grid @named(shape = 2x4) {sdy.axis_names = ["x", "x"]}
// CHECK-NOT: shard.

// CHECK-LABEL: @arguments_and_results
// CHECK-SAME: (%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{"axis0"}, {"axis1"}]>})
// CHECK-SAME: -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{"axis1", "axis0"}, {}]>})
func.func @arguments_and_results(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %s = shard.sharding @grid split_axes = [[0], [1]]
  %t = shard.sharding @grid split_axes = [[1, 0]]
  %0 = shard.shard %a to %s : tensor<8x4xf32>
  // CHECK: %[[ABS:.*]] = stablehlo.abs %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"axis0"}, {}]>]>}
  %1 = stablehlo.abs %0 : tensor<8x4xf32>
  %u = shard.sharding @grid split_axes = [[0]]
  %2 = shard.shard %1 to %u : tensor<8x4xf32>
  %3 = shard.shard %2 to %t annotate_for_users : tensor<8x4xf32>
  // CHECK: return %[[ABS]]
  return %3 : tensor<8x4xf32>
}

// CHECK-LABEL: @users
func.func @users(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %s = shard.sharding @named split_axes = [[0, 1], []]
  %t = shard.sharding @named split_axes = [[], [1]]
  %0 = shard.shard %a to %s : tensor<8x4xf32>
  // Users see it as it is made.
  %same = shard.shard %0 to %s annotate_for_users : tensor<8x4xf32>
  // CHECK: %[[OTHER:.*]] = sdy.sharding_constraint %arg0 <@named, [{}, {"x":(2)4}]>
  %other = shard.shard %0 to %t annotate_for_users : tensor<8x4xf32>
  // CHECK: stablehlo.add %arg0, %[[OTHER]]
  %1 = stablehlo.add %same, %other : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// CHECK-LABEL: @results_of_several
func.func @results_of_several(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %s = shard.sharding @grid split_axes = [[], [1]]
  // CHECK: stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{?}, {?}]>, <@grid, [{}, {"axis1"}]>]>}
  %0:2 = stablehlo.optimization_barrier %a, %a : tensor<8x4xf32>, tensor<8x4xf32>
  %1 = shard.shard %0#1 to %s : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// CHECK-LABEL: @arguments_of_regions
func.func @arguments_of_regions(%a: tensor<8xf32>, %n: tensor<i32>) -> tensor<8xf32> {
  %s = shard.sharding @grid split_axes = [[0]]
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%x = %a, %i = %n) : tensor<8xf32>, tensor<i32> cond {
    %1 = stablehlo.compare LT, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %x1 = shard.shard %x to %s : tensor<8xf32>
    %2 = stablehlo.abs %x1 : tensor<8xf32>
    stablehlo.return %2, %i : tensor<8xf32>, tensor<i32>
  }
  // CHECK: sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"axis0"}]>, <@grid, []>]>
  return %0#0 : tensor<8xf32>
}

// CHECK-LABEL: @uneven
// CHECK-SAME: %arg0: tensor<7xf32> {sdy.sharding = #sdy.sharding<@grid, [{"axis1"}]>}
func.func @uneven(%a: tensor<7xf32>, %b: tensor<f32>) {
  %s = shard.sharding @grid split_axes = [[1]] sharded_dims_offsets = [0, 2, 4, 6, 7]
  %0 = shard.shard %a to %s : tensor<7xf32>
  // CHECK-SAME: %arg1: tensor<f32> {sdy.sharding = #sdy.sharding<@grid, []>}
  %t = shard.sharding @grid split_axes = [[]] halo_sizes = []
  %1 = shard.shard %b to %t : tensor<f32>
  return
}

// The examples of the dialect's documentation.

// CHECK-LABEL: @only_result_annotated
// CHECK-SAME: %arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"axis0"}, {}]>}
func.func @only_result_annotated(%arg0 : tensor<4x8xf32>) -> () {
  %sharding = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %0 = shard.shard %arg0 to %sharding : tensor<4x8xf32>
  return
}

// CHECK-LABEL: @only_operand_annotated(%arg0: tensor<4x8xf32>)
func.func @only_operand_annotated(%arg0 : tensor<4x8xf32>) -> () {
  %sharding = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %0 = shard.shard %arg0 to %sharding annotate_for_users : tensor<4x8xf32>
  // CHECK: %[[A:.*]] = sdy.sharding_constraint %arg0 <@grid, [{"axis0"}, {}]>
  // CHECK: stablehlo.abs %[[A]]
  %1 = stablehlo.abs %0 : tensor<4x8xf32>
  return
}

// CHECK-LABEL: @two_operands_annotated
func.func @two_operands_annotated(%arg0 : tensor<4x8xf32>, %arg1 : tensor<16x8xf32>) -> () {
  %sharding = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %0 = shard.shard %arg0 to %sharding annotate_for_users : tensor<4x8xf32>
  %1 = shard.shard %arg1 to %sharding annotate_for_users : tensor<16x8xf32>
  // CHECK: %[[A:.*]] = sdy.sharding_constraint %arg0 <@grid, [{"axis0"}, {}]>
  // CHECK: %[[B:.*]] = sdy.sharding_constraint %arg1 <@grid, [{"axis0"}, {}]>
  // CHECK: stablehlo.dot_general %[[A]], %[[B]]
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [1]
    : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  return
}

// CHECK-LABEL: @both_result_and_multi_operands_annotated
// CHECK-SAME: %arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"axis0"}, {}]>}
func.func @both_result_and_multi_operands_annotated(%arg0 : tensor<4x8xf32>) -> () {
  %sharding = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %0 = shard.shard %arg0 to %sharding : tensor<4x8xf32>
  %sharding1 = shard.sharding @grid split_axes = [[1]] : !shard.sharding
  // CHECK: %[[A:.*]] = sdy.sharding_constraint %arg0 <@grid, [{"axis1"}, {}]>
  %1 = shard.shard %0 to %sharding1 annotate_for_users : tensor<4x8xf32>
  %sharding2 = shard.sharding @grid split_axes = [[], [1]] : !shard.sharding
  // CHECK: %[[B:.*]] = sdy.sharding_constraint %arg0 <@grid, [{}, {"axis1"}]>
  %2 = shard.shard %0 to %sharding2 annotate_for_users : tensor<4x8xf32>
  // CHECK: stablehlo.abs %[[A]]
  %3 = stablehlo.abs %1 : tensor<4x8xf32>
  // CHECK: stablehlo.negate %[[B]]
  %4 = stablehlo.negate %2 : tensor<4x8xf32>
  return
}
