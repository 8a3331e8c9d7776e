// Indices that count, but not along dimension 0, or not in the component that says where in dimension
// 0 of the operand to read. C++ Shardy makes a batch of all of these.

// RUN: sdy-opt %s -split-input-file -sdy-explicit-gather-scatter-batching | FileCheck %s

// The first input of the concatenation has two components, so the second has none of those numbers.
// CHECK-NOT: batching_dims
func.func @main(%a: tensor<4x6x5xf32>, %j: tensor<4x2x2xi32>) -> tensor<4x2xf32> {
  %i = stablehlo.iota dim = 0 : tensor<4x2x1xi32>
  %0 = stablehlo.concatenate %j, %i, dim = 2
      : (tensor<4x2x2xi32>, tensor<4x2x1xi32>) -> tensor<4x2x3xi32>
  %1 = "stablehlo.gather"(%a, %0) {
    dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1, 2],
        start_index_map = [2, 0, 1], index_vector_dim = 2>,
    slice_sizes = array<i64: 1, 1, 1>
  } : (tensor<4x6x5xf32>, tensor<4x2x3xi32>) -> tensor<4x2xf32>
  return %1 : tensor<4x2xf32>
}

// -----

// The broadcast makes dimension 1 of dimension 0.
// CHECK-NOT: batching_dims
func.func @main(%a: tensor<4x6x5xf32>, %j: tensor<4x4x1xi32>) -> tensor<4x4x5xf32> {
  %i = stablehlo.iota dim = 0 : tensor<4xi32>
  %b = stablehlo.broadcast_in_dim %i, dims = [1] : (tensor<4xi32>) -> tensor<4x4x1xi32>
  %0 = stablehlo.concatenate %b, %j, dim = 2
      : (tensor<4x4x1xi32>, tensor<4x4x1xi32>) -> tensor<4x4x2xi32>
  %1 = "stablehlo.gather"(%a, %0) {
    dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1],
        start_index_map = [0, 1], index_vector_dim = 2>,
    slice_sizes = array<i64: 1, 1, 5>
  } : (tensor<4x6x5xf32>, tensor<4x4x2xi32>) -> tensor<4x4x5xf32>
  return %1 : tensor<4x4x5xf32>
}

// -----

// The reshape takes dimension 0 apart.
// CHECK-NOT: batching_dims
func.func @main(%a: tensor<2x6x5xf32>, %j: tensor<2x2x1xi32>) -> tensor<2x2x5xf32> {
  %i = stablehlo.iota dim = 0 : tensor<4xi32>
  %b = stablehlo.reshape %i : (tensor<4xi32>) -> tensor<2x2x1xi32>
  %0 = stablehlo.concatenate %b, %j, dim = 2
      : (tensor<2x2x1xi32>, tensor<2x2x1xi32>) -> tensor<2x2x2xi32>
  %1 = "stablehlo.gather"(%a, %0) {
    dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1],
        start_index_map = [0, 1], index_vector_dim = 2>,
    slice_sizes = array<i64: 1, 1, 5>
  } : (tensor<2x6x5xf32>, tensor<2x2x2xi32>) -> tensor<2x2x5xf32>
  return %1 : tensor<2x2x5xf32>
}

// -----

// Index vectors are along dimension 0.
// CHECK-NOT: batching_dims
func.func @main(%a: tensor<2x6x5xf32>) -> tensor<4x5xf32> {
  %0 = stablehlo.iota dim = 0 : tensor<2x4xi32>
  %1 = "stablehlo.gather"(%a, %0) {
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 1],
        start_index_map = [0, 1], index_vector_dim = 0>,
    slice_sizes = array<i64: 1, 1, 5>
  } : (tensor<2x6x5xf32>, tensor<2x4xi32>) -> tensor<4x5xf32>
  return %1 : tensor<4x5xf32>
}

// -----

// Other indices where the predicate is false.
// CHECK-NOT: batching_dims
func.func @main(%a: tensor<4x6x5xf32>, %j: tensor<4x2x1xi32>, %p: tensor<4x2x1xi1>)
    -> tensor<4x2x5xf32> {
  %i = stablehlo.iota dim = 0 : tensor<4x2x1xi32>
  %s = stablehlo.select %p, %i, %j : tensor<4x2x1xi1>, tensor<4x2x1xi32>
  %0 = stablehlo.concatenate %s, %j, dim = 2 : (tensor<4x2x1xi32>, tensor<4x2x1xi32>) -> tensor<4x2x2xi32>
  %1 = "stablehlo.gather"(%a, %0) {
    dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1],
        start_index_map = [0, 1], index_vector_dim = 2>,
    slice_sizes = array<i64: 1, 1, 5>
  } : (tensor<4x6x5xf32>, tensor<4x2x2xi32>) -> tensor<4x2x5xf32>
  return %1 : tensor<4x2x5xf32>
}

// -----

// Other indices where the predicate is true.
// CHECK-NOT: batching_dims
func.func @main(%a: tensor<4x6x5xf32>, %j: tensor<4x2x1xi32>, %p: tensor<4x2x1xi1>)
    -> tensor<4x2x5xf32> {
  %i = stablehlo.iota dim = 0 : tensor<4x2x1xi32>
  %s = stablehlo.select %p, %j, %i : tensor<4x2x1xi1>, tensor<4x2x1xi32>
  %0 = stablehlo.concatenate %s, %j, dim = 2 : (tensor<4x2x1xi32>, tensor<4x2x1xi32>) -> tensor<4x2x2xi32>
  %1 = "stablehlo.gather"(%a, %0) {
    dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1],
        start_index_map = [0, 1], index_vector_dim = 2>,
    slice_sizes = array<i64: 1, 1, 5>
  } : (tensor<4x6x5xf32>, tensor<4x2x2xi32>) -> tensor<4x2x5xf32>
  return %1 : tensor<4x2x5xf32>
}

// -----

// The clamp changes the last index.
// CHECK-NOT: batching_dims
func.func @main(%a: tensor<4x6x5xf32>, %j: tensor<4x2x1xi32>) -> tensor<4x2x5xf32> {
  %i = stablehlo.iota dim = 0 : tensor<4x2x1xi32>
  %lo = stablehlo.constant dense<0> : tensor<i32>
  %hi = stablehlo.constant dense<2> : tensor<i32>
  %s = stablehlo.clamp %lo, %i, %hi : (tensor<i32>, tensor<4x2x1xi32>, tensor<i32>)
      -> tensor<4x2x1xi32>
  %0 = stablehlo.concatenate %s, %j, dim = 2 : (tensor<4x2x1xi32>, tensor<4x2x1xi32>) -> tensor<4x2x2xi32>
  %1 = "stablehlo.gather"(%a, %0) {
    dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1],
        start_index_map = [0, 1], index_vector_dim = 2>,
    slice_sizes = array<i64: 1, 1, 5>
  } : (tensor<4x6x5xf32>, tensor<4x2x2xi32>) -> tensor<4x2x5xf32>
  return %1 : tensor<4x2x5xf32>
}
