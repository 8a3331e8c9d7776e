// RUN: sdy-opt %s --sdy-sort-within-shards | FileCheck %s

// Tokens are sorted by expert, multiplied with the matrix of their expert, and put back: each device
// sorts its own. As long as rows depend on their tokens only, that is right.

sdy.mesh @mesh = <["d"=4]>

// CHECK-LABEL: func.func @experts
func.func @experts(%x: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>},
                   %scores: tensor<16x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>},
                   %w: tensor<2x8x4xf32>)
    -> (tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}) {
  %values, %indices = chlo.top_k(%scores, k = 1) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"d"}, {}]>, <@mesh, [{"d"}, {}]>]>} : tensor<16x2xf32> -> (tensor<16x1xf32>, tensor<16x1xi32>)
  // CHECK: %[[EXPERT:.*]] = stablehlo.reshape %{{.*}} : (tensor<16x1xi32>) -> tensor<16xi32>
  %expert = stablehlo.reshape %indices {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"d"}]>]>} : (tensor<16x1xi32>) -> tensor<16xi32>
  %numbers = stablehlo.iota dim = 0 : tensor<16xi32>
  // CHECK: %[[KEYS:.*]] = stablehlo.reshape %[[EXPERT]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"d"}, {}]>]>} : (tensor<16xi32>) -> tensor<4x4xi32>
  // CHECK: "stablehlo.sort"(%[[KEYS]], %{{.*}}) <{dimension = 1 : i64, is_stable = true}>
  // CHECK: (tensor<4x4xi32>, tensor<4x4xi32>) -> (tensor<4x4xi32>, tensor<4x4xi32>)
  %order:2 = "stablehlo.sort"(%expert, %numbers) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
    %less = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<16xi32>, tensor<16xi32>) -> (tensor<16xi32>, tensor<16xi32>)
  %at = stablehlo.reshape %order#1 : (tensor<16xi32>) -> tensor<16x1xi32>
  // CHECK: stablehlo.subtract %{{.*}} : tensor<4x4x1xi32>
  // CHECK: "stablehlo.gather"(%{{.*}}) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>
  // CHECK-SAME: (tensor<4x4x8xf32>, tensor<4x4x1xi32>) -> tensor<4x4x8xf32>
  %rows = "stablehlo.gather"(%x, %at) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<16x8xf32>, tensor<16x1xi32>) -> tensor<16x8xf32>
  %zeros = stablehlo.constant dense<0> : tensor<2xi32>
  %ones = stablehlo.constant dense<1> : tensor<16xi32>
  // CHECK: %[[SIZES:.*]] = stablehlo.reduce({{.*}} applies stablehlo.add across dimensions = [1] {{.*}} -> tensor<4x2xi32>
  %sizes = "stablehlo.scatter"(%zeros, %indices, %ones) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %sum = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %sum : tensor<i32>
  }) : (tensor<2xi32>, tensor<16x1xi32>, tensor<16xi32>) -> tensor<2xi32>
  // CHECK: "chlo.ragged_dot"(%{{.*}}, %arg2, %[[SIZES]])
  // CHECK-SAME: lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]
  // CHECK-SAME: (tensor<4x4x8xf32>, tensor<2x8x4xf32>, tensor<4x2xi32>) -> tensor<4x4x4xf32>
  %y = "chlo.ragged_dot"(%rows, %w, %sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>, precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>]}> : (tensor<16x8xf32>, tensor<2x8x4xf32>, tensor<2xi32>) -> tensor<16x4xf32>
  // CHECK: stablehlo.tanh %{{.*}} : tensor<4x4x4xf32>
  %z = stablehlo.tanh %y : tensor<16x4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<16x4xf32>
  // CHECK: "stablehlo.scatter"
  // CHECK-SAME: input_batching_dims = [0]
  // CHECK: (tensor<4x4x4xf32>, tensor<4x4x1xi32>, tensor<4x4x4xf32>) -> tensor<4x4x4xf32>
  %result = "stablehlo.scatter"(%zero, %at, %z) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<16x4xf32>, tensor<16x1xi32>, tensor<16x4xf32>) -> tensor<16x4xf32>
  return %result : tensor<16x4xf32>
}

// The order is returned, so that it matters.
// CHECK-LABEL: func.func @returned
func.func @returned(%x: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>},
                    %scores: tensor<16x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>},
                    %w: tensor<2x8x4xf32>) -> (tensor<16x4xf32>, tensor<16xi32>) {
  %values, %indices = chlo.top_k(%scores, k = 1) : tensor<16x2xf32> -> (tensor<16x1xf32>, tensor<16x1xi32>)
  %expert = stablehlo.reshape %indices {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"d"}]>]>} : (tensor<16x1xi32>) -> tensor<16xi32>
  %numbers = stablehlo.iota dim = 0 : tensor<16xi32>
  // CHECK: (tensor<16xi32>, tensor<16xi32>) -> (tensor<16xi32>, tensor<16xi32>)
  %order:2 = "stablehlo.sort"(%expert, %numbers) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
    %less = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<16xi32>, tensor<16xi32>) -> (tensor<16xi32>, tensor<16xi32>)
  %at = stablehlo.reshape %order#1 : (tensor<16xi32>) -> tensor<16x1xi32>
  %rows = "stablehlo.gather"(%x, %at) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<16x8xf32>, tensor<16x1xi32>) -> tensor<16x8xf32>
  %zeros = stablehlo.constant dense<0> : tensor<2xi32>
  %ones = stablehlo.constant dense<1> : tensor<16xi32>
  %sizes = "stablehlo.scatter"(%zeros, %indices, %ones) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %sum = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %sum : tensor<i32>
  }) : (tensor<2xi32>, tensor<16x1xi32>, tensor<16xi32>) -> tensor<2xi32>
  // CHECK: "chlo.ragged_dot"
  // CHECK-SAME: (tensor<16x8xf32>, tensor<2x8x4xf32>, tensor<2xi32>) -> tensor<16x4xf32>
  %y = "chlo.ragged_dot"(%rows, %w, %sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>, precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>]}> : (tensor<16x8xf32>, tensor<2x8x4xf32>, tensor<2xi32>) -> tensor<16x4xf32>
  return %y, %order#1 : tensor<16x4xf32>, tensor<16xi32>
}
