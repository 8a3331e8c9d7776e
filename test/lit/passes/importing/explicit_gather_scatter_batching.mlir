// RUN: sdy-opt %s -split-input-file -sdy-explicit-gather-scatter-batching | FileCheck %s

// Concatenated.
// CHECK:      func.func @main(%arg0: tensor<4x6x5xf32>, %arg1: tensor<4x2x1xi32>) -> tensor<4x2x5xf32> {
// CHECK-NEXT: %[[GATHER:.*]] = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 5>}> : (tensor<4x6x5xf32>, tensor<4x2x1xi32>) -> tensor<4x2x5xf32>
// CHECK-NEXT: return %[[GATHER]] : tensor<4x2x5xf32>
// CHECK-NEXT: }
func.func @main(%a: tensor<4x6x5xf32>, %j: tensor<4x2x1xi32>)
    -> tensor<4x2x5xf32> {
  %i = stablehlo.iota dim = 0 : tensor<4x2x1xi32>
  %0 = stablehlo.concatenate %i, %j, dim = 2 : (tensor<4x2x1xi32>, tensor<4x2x1xi32>) -> tensor<4x2x2xi32>
  %dead = stablehlo.abs %a : tensor<4x6x5xf32>
  %1 = "stablehlo.gather"(%a, %0) {
    dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1],
        start_index_map = [0, 1], index_vector_dim = 2>,
    slice_sizes = array<i64: 1, 1, 5>
  } : (tensor<4x6x5xf32>, tensor<4x2x2xi32>) -> tensor<4x2x5xf32>
  return %1 : tensor<4x2x5xf32>
}

// -----

// Second component.
// CHECK:      func.func @main(%arg0: tensor<4x6x5xf32>, %arg1: tensor<4x2x1xi32>) -> tensor<4x2x5xf32> {
// CHECK-NEXT: %[[GATHER:.*]] = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 5>}> : (tensor<4x6x5xf32>, tensor<4x2x1xi32>) -> tensor<4x2x5xf32>
// CHECK-NEXT: return %[[GATHER]] : tensor<4x2x5xf32>
// CHECK-NEXT: }
func.func @main(%a: tensor<4x6x5xf32>, %j: tensor<4x2x1xi32>)
    -> tensor<4x2x5xf32> {
  %i = stablehlo.iota dim = 0 : tensor<4x2x1xi32>
  %0 = stablehlo.concatenate %j, %i, dim = 2 : (tensor<4x2x1xi32>, tensor<4x2x1xi32>) -> tensor<4x2x2xi32>
  %dead = stablehlo.abs %a : tensor<4x6x5xf32>
  %1 = "stablehlo.gather"(%a, %0) {
    dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1],
        start_index_map = [1, 0], index_vector_dim = 2>,
    slice_sizes = array<i64: 1, 1, 5>
  } : (tensor<4x6x5xf32>, tensor<4x2x2xi32>) -> tensor<4x2x5xf32>
  return %1 : tensor<4x2x5xf32>
}

// -----

// Component that does not count.
// CHECK:      func.func @main(%arg0: tensor<4x6x5xf32>, %arg1: tensor<4x2x1xi32>) -> tensor<4x2x5xf32> {
// CHECK-NEXT: %[[IOTA:.*]] = stablehlo.iota dim = 0 : tensor<4x2x1xi32>
// CHECK-NEXT: %[[CONCATENATE:.*]] = stablehlo.concatenate %arg1, %[[IOTA]], dim = 2 : (tensor<4x2x1xi32>, tensor<4x2x1xi32>) -> tensor<4x2x2xi32>
// CHECK-NEXT: %[[GATHER:.*]] = "stablehlo.gather"(%arg0, %[[CONCATENATE]]) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 5>}> : (tensor<4x6x5xf32>, tensor<4x2x2xi32>) -> tensor<4x2x5xf32>
// CHECK-NEXT: return %[[GATHER]] : tensor<4x2x5xf32>
// CHECK-NEXT: }
func.func @main(%a: tensor<4x6x5xf32>, %j: tensor<4x2x1xi32>)
    -> tensor<4x2x5xf32> {
  %i = stablehlo.iota dim = 0 : tensor<4x2x1xi32>
  %0 = stablehlo.concatenate %j, %i, dim = 2 : (tensor<4x2x1xi32>, tensor<4x2x1xi32>) -> tensor<4x2x2xi32>
  %dead = stablehlo.abs %a : tensor<4x6x5xf32>
  %1 = "stablehlo.gather"(%a, %0) {
    dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1],
        start_index_map = [0, 1], index_vector_dim = 2>,
    slice_sizes = array<i64: 1, 1, 5>
  } : (tensor<4x6x5xf32>, tensor<4x2x2xi32>) -> tensor<4x2x5xf32>
  return %1 : tensor<4x2x5xf32>
}

// -----

// Iota as a whole.
// CHECK:      func.func @main(%arg0: tensor<4x6x5xf32>, %arg1: tensor<4x2x1xi32>) -> tensor<4x2x5xf32> {
// CHECK-NEXT: %[[IOTA:.*]] = stablehlo.iota dim = 0 : tensor<4x2x2xi32>
// CHECK-NEXT: %[[SLICE:.*]] = stablehlo.slice %[[IOTA]] [0:4, 0:2, 1:2] : (tensor<4x2x2xi32>) -> tensor<4x2x1xi32>
// CHECK-NEXT: %[[GATHER:.*]] = "stablehlo.gather"(%arg0, %[[SLICE]]) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 5>}> : (tensor<4x6x5xf32>, tensor<4x2x1xi32>) -> tensor<4x2x5xf32>
// CHECK-NEXT: return %[[GATHER]] : tensor<4x2x5xf32>
// CHECK-NEXT: }
func.func @main(%a: tensor<4x6x5xf32>, %j: tensor<4x2x1xi32>)
    -> tensor<4x2x5xf32> {
  %0 = stablehlo.iota dim = 0 : tensor<4x2x2xi32>
  %dead = stablehlo.abs %a : tensor<4x6x5xf32>
  %1 = "stablehlo.gather"(%a, %0) {
    dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1],
        start_index_map = [0, 1], index_vector_dim = 2>,
    slice_sizes = array<i64: 1, 1, 5>
  } : (tensor<4x6x5xf32>, tensor<4x2x2xi32>) -> tensor<4x2x5xf32>
  return %1 : tensor<4x2x5xf32>
}

// -----

// Iota along another dimension.
// CHECK:      func.func @main(%arg0: tensor<4x6x5xf32>, %arg1: tensor<4x2x1xi32>) -> tensor<4x2x5xf32> {
// CHECK-NEXT: %[[IOTA:.*]] = stablehlo.iota dim = 1 : tensor<4x2x2xi32>
// CHECK-NEXT: %[[GATHER:.*]] = "stablehlo.gather"(%arg0, %[[IOTA]]) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 5>}> : (tensor<4x6x5xf32>, tensor<4x2x2xi32>) -> tensor<4x2x5xf32>
// CHECK-NEXT: return %[[GATHER]] : tensor<4x2x5xf32>
// CHECK-NEXT: }
func.func @main(%a: tensor<4x6x5xf32>, %j: tensor<4x2x1xi32>)
    -> tensor<4x2x5xf32> {
  %0 = stablehlo.iota dim = 1 : tensor<4x2x2xi32>
  %dead = stablehlo.abs %a : tensor<4x6x5xf32>
  %1 = "stablehlo.gather"(%a, %0) {
    dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1],
        start_index_map = [0, 1], index_vector_dim = 2>,
    slice_sizes = array<i64: 1, 1, 5>
  } : (tensor<4x6x5xf32>, tensor<4x2x2xi32>) -> tensor<4x2x5xf32>
  return %1 : tensor<4x2x5xf32>
}

// -----

// Broadcast, reshaped, clamped.
// CHECK:      func.func @main(%arg0: tensor<4x6x5xf32>, %arg1: tensor<4x2x1xi32>) -> tensor<4x2x5xf32> {
// CHECK-NEXT: %[[GATHER:.*]] = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 5>}> : (tensor<4x6x5xf32>, tensor<4x2x1xi32>) -> tensor<4x2x5xf32>
// CHECK-NEXT: return %[[GATHER]] : tensor<4x2x5xf32>
// CHECK-NEXT: }
func.func @main(%a: tensor<4x6x5xf32>, %j: tensor<4x2x1xi32>) -> tensor<4x2x5xf32> {
  %i = stablehlo.iota dim = 0 : tensor<4xi32>
  %b = stablehlo.broadcast_in_dim %i, dims = [0] : (tensor<4xi32>) -> tensor<4x2xi32>
  %r = stablehlo.reshape %b : (tensor<4x2xi32>) -> tensor<4x2x1xi32>
  %lo = stablehlo.constant dense<0> : tensor<i32>
  %hi = stablehlo.constant dense<3> : tensor<i32>
  %s = stablehlo.clamp %lo, %r, %hi : (tensor<i32>, tensor<4x2x1xi32>, tensor<i32>)
      -> tensor<4x2x1xi32>
  %0 = stablehlo.concatenate %s, %j, dim = 2 : (tensor<4x2x1xi32>, tensor<4x2x1xi32>) -> tensor<4x2x2xi32>
  %1 = "stablehlo.gather"(%a, %0) {
    dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1],
        start_index_map = [0, 1], index_vector_dim = 2>,
    slice_sizes = array<i64: 1, 1, 5>
  } : (tensor<4x6x5xf32>, tensor<4x2x2xi32>) -> tensor<4x2x5xf32>
  return %1 : tensor<4x2x5xf32>
}

// -----

// A select for negative indices, of which there are none.
// CHECK:      func.func @main(%arg0: tensor<4x6x5xf32>, %arg1: tensor<4x2x1xi32>) -> tensor<4x2x5xf32> {
// CHECK-NEXT: %[[GATHER:.*]] = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 5>}> : (tensor<4x6x5xf32>, tensor<4x2x1xi32>) -> tensor<4x2x5xf32>
// CHECK-NEXT: return %[[GATHER]] : tensor<4x2x5xf32>
// CHECK-NEXT: }
func.func @main(%a: tensor<4x6x5xf32>, %j: tensor<4x2x1xi32>) -> tensor<4x2x5xf32> {
  %i = stablehlo.iota dim = 0 : tensor<4x2x1xi32>
  %z = stablehlo.constant dense<0> : tensor<4x2x1xi32>
  %n = stablehlo.constant dense<4> : tensor<4x2x1xi32>
  %w = stablehlo.add %i, %n : tensor<4x2x1xi32>
  %p = stablehlo.compare LT, %i, %z : (tensor<4x2x1xi32>, tensor<4x2x1xi32>) -> tensor<4x2x1xi1>
  %s = stablehlo.select %p, %w, %i : tensor<4x2x1xi1>, tensor<4x2x1xi32>
  %0 = stablehlo.concatenate %s, %j, dim = 2 : (tensor<4x2x1xi32>, tensor<4x2x1xi32>) -> tensor<4x2x2xi32>
  %1 = "stablehlo.gather"(%a, %0) {
    dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1],
        start_index_map = [0, 1], index_vector_dim = 2>,
    slice_sizes = array<i64: 1, 1, 5>
  } : (tensor<4x6x5xf32>, tensor<4x2x2xi32>) -> tensor<4x2x5xf32>
  return %1 : tensor<4x2x5xf32>
}

// -----

// A select of the first value.
// CHECK:      func.func @main(%arg0: tensor<4x6x5xf32>, %arg1: tensor<4x2x1xi32>) -> tensor<4x2x5xf32> {
// CHECK-NEXT: %[[GATHER:.*]] = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 5>}> : (tensor<4x6x5xf32>, tensor<4x2x1xi32>) -> tensor<4x2x5xf32>
// CHECK-NEXT: return %[[GATHER]] : tensor<4x2x5xf32>
// CHECK-NEXT: }
func.func @main(%a: tensor<4x6x5xf32>, %j: tensor<4x2x1xi32>) -> tensor<4x2x5xf32> {
  %i = stablehlo.iota dim = 0 : tensor<4x2x1xi32>
  %z = stablehlo.constant dense<0> : tensor<4x2x1xi32>
  %n = stablehlo.constant dense<4> : tensor<4x2x1xi32>
  %w = stablehlo.add %i, %n : tensor<4x2x1xi32>
  %p = stablehlo.compare GE, %i, %z : (tensor<4x2x1xi32>, tensor<4x2x1xi32>) -> tensor<4x2x1xi1>
  %s = stablehlo.select %p, %i, %w : tensor<4x2x1xi1>, tensor<4x2x1xi32>
  %0 = stablehlo.concatenate %s, %j, dim = 2 : (tensor<4x2x1xi32>, tensor<4x2x1xi32>) -> tensor<4x2x2xi32>
  %1 = "stablehlo.gather"(%a, %0) {
    dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1],
        start_index_map = [0, 1], index_vector_dim = 2>,
    slice_sizes = array<i64: 1, 1, 5>
  } : (tensor<4x6x5xf32>, tensor<4x2x2xi32>) -> tensor<4x2x5xf32>
  return %1 : tensor<4x2x5xf32>
}

// -----

// Scatter.
// CHECK:      func.func @main(%arg0: tensor<4x6x5xf32>, %arg1: tensor<4x2x1xi32>, %arg2: tensor<4x2x5xf32>) -> tensor<4x6x5xf32> {
// CHECK-NEXT: %[[SCATTER:.*]] = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, unique_indices = true}> ({
// CHECK-NEXT: ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
// CHECK-NEXT: %[[ADD:.*]] = stablehlo.add %arg3, %arg4 : tensor<f32>
// CHECK-NEXT: stablehlo.return %[[ADD]] : tensor<f32>
// CHECK-NEXT: }) : (tensor<4x6x5xf32>, tensor<4x2x1xi32>, tensor<4x2x5xf32>) -> tensor<4x6x5xf32>
// CHECK-NEXT: return %[[SCATTER]] : tensor<4x6x5xf32>
// CHECK-NEXT: }
func.func @main(%a: tensor<4x6x5xf32>, %j: tensor<4x2x1xi32>, %u: tensor<4x2x5xf32>)
    -> tensor<4x6x5xf32> {
  %i = stablehlo.iota dim = 0 : tensor<4x2x1xi32>
  %0 = stablehlo.concatenate %i, %j, dim = 2
      : (tensor<4x2x1xi32>, tensor<4x2x1xi32>) -> tensor<4x2x2xi32>
  %1 = "stablehlo.scatter"(%a, %0, %u) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %2 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) {
    scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2],
        inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1],
        index_vector_dim = 2>,
    indices_are_sorted = true, unique_indices = true
  } : (tensor<4x6x5xf32>, tensor<4x2x2xi32>, tensor<4x2x5xf32>) -> tensor<4x6x5xf32>
  return %1 : tensor<4x6x5xf32>
}

// -----

// Scatter of several tensors.
// CHECK:      func.func @main(%arg0: tensor<4x6xf32>, %arg1: tensor<4x6xf32>, %arg2: tensor<4x2x1xi32>, %arg3: tensor<4x2xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
// CHECK-NEXT: %[[SCATTER:.*]]:2 = "stablehlo.scatter"(%arg0, %arg1, %arg2, %arg3, %arg3) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, unique_indices = false}> ({
// CHECK-NEXT: ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>, %arg6: tensor<f32>, %arg7: tensor<f32>):
// CHECK-NEXT: stablehlo.return %arg6, %arg7 : tensor<f32>, tensor<f32>
// CHECK-NEXT: }) : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x2x1xi32>, tensor<4x2xf32>, tensor<4x2xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>)
// CHECK-NEXT: return %[[SCATTER]]#0, %[[SCATTER]]#1 : tensor<4x6xf32>, tensor<4x6xf32>
// CHECK-NEXT: }
func.func @main(%a: tensor<4x6xf32>, %b: tensor<4x6xf32>, %j: tensor<4x2x1xi32>,
    %u: tensor<4x2xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  %i = stablehlo.iota dim = 0 : tensor<4x2x1xi32>
  %0 = stablehlo.concatenate %i, %j, dim = 2
      : (tensor<4x2x1xi32>, tensor<4x2x1xi32>) -> tensor<4x2x2xi32>
  %1:2 = "stablehlo.scatter"(%a, %b, %0, %u, %u) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>, %w: tensor<f32>):
    stablehlo.return %z, %w : tensor<f32>, tensor<f32>
  }) {
    scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1],
        scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>
  } : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x2x2xi32>, tensor<4x2xf32>, tensor<4x2xf32>)
      -> (tensor<4x6xf32>, tensor<4x6xf32>)
  return %1#0, %1#1 : tensor<4x6xf32>, tensor<4x6xf32>
}

// -----

// Three components, sliced.
// CHECK:      func.func @main(%arg0: tensor<4x6x5xf32>) -> tensor<4x2xf32> {
// CHECK-NEXT: %[[IOTA:.*]] = stablehlo.iota dim = 0 : tensor<4x2x3xi32>
// CHECK-NEXT: %[[SLICE:.*]] = stablehlo.slice %[[IOTA]] [0:4, 0:2, 0:1] : (tensor<4x2x3xi32>) -> tensor<4x2x1xi32>
// CHECK-NEXT: %[[SLICE_1:.*]] = stablehlo.slice %[[IOTA]] [0:4, 0:2, 2:3] : (tensor<4x2x3xi32>) -> tensor<4x2x1xi32>
// CHECK-NEXT: %[[CONCATENATE:.*]] = stablehlo.concatenate %[[SLICE]], %[[SLICE_1]], dim = 2 : (tensor<4x2x1xi32>, tensor<4x2x1xi32>) -> tensor<4x2x2xi32>
// CHECK-NEXT: %[[GATHER:.*]] = "stablehlo.gather"(%arg0, %[[CONCATENATE]]) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1, 2], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1, 2], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<4x6x5xf32>, tensor<4x2x2xi32>) -> tensor<4x2xf32>
// CHECK-NEXT: return %[[GATHER]] : tensor<4x2xf32>
// CHECK-NEXT: }
func.func @main(%a: tensor<4x6x5xf32>) -> tensor<4x2xf32> {
  %0 = stablehlo.iota dim = 0 : tensor<4x2x3xi32>
  %1 = "stablehlo.gather"(%a, %0) {
    dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1, 2],
        start_index_map = [1, 0, 2], index_vector_dim = 2>,
    slice_sizes = array<i64: 1, 1, 1>
  } : (tensor<4x6x5xf32>, tensor<4x2x3xi32>) -> tensor<4x2xf32>
  return %1 : tensor<4x2xf32>
}
