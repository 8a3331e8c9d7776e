// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s

// Gather and scatter.

// Rows of a table: those of all shards are combined.
// CHECK-LABEL: func.func @embedding
func.func @embedding(%a: tensor<64x8xf32>, %b: tensor<4x6xi32>) {
  // CHECK: #sdy.op_sharding_rule<([l, k], [i, j])->([i, j, k]) {i=4, j=6, k=8, l=64} reduction={l}>
  "stablehlo.gather"(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0],
    start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 8>}>
    : (tensor<64x8xf32>, tensor<4x6xi32>) -> tensor<4x6x8xf32>
  return
}

// Batching dimensions are those of all tensors.
// CHECK-LABEL: func.func @batching
func.func @batching(%a: tensor<3x8xf32>, %b: tensor<3x4x1xi32>) {
  // CHECK: #sdy.op_sharding_rule<([i, k], [i, j, m])->([i, j, l]) {i=3, j=4, k=8, l=1, m=1} reduction={k} need_replication={l, m}>
  "stablehlo.gather"(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], operand_batching_dims = [0],
    start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>,
    slice_sizes = array<i64: 1, 1>}> : (tensor<3x8xf32>, tensor<3x4x1xi32>) -> tensor<3x4x1xf32>
  return
}

// A dimension of size 1 that is collapsed.
// CHECK-LABEL: func.func @single_row
func.func @single_row(%a: tensor<1x8xf32>, %b: tensor<4x1xi32>) {
  // CHECK: #sdy.op_sharding_rule<([k, j], [i, l])->([i, j]) {i=4, j=8, k=1, l=1} need_replication={k, l}>
  "stablehlo.gather"(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
    start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}>
    : (tensor<1x8xf32>, tensor<4x1xi32>) -> tensor<4x8xf32>
  return
}

// What is overwritten can't be combined.
// CHECK-LABEL: func.func @overwrite
func.func @overwrite(%a: tensor<64x8xf32>, %b: tensor<4x1xi32>, %c: tensor<4x8xf32>) {
  // CHECK: #sdy.op_sharding_rule<([k, j], [i, l], [i, j])->([k, j]) {i=4, j=8, k=64, l=1} need_replication={i, l}>
  "stablehlo.scatter"(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
    inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %y : tensor<f32>
  }) : (tensor<64x8xf32>, tensor<4x1xi32>, tensor<4x8xf32>) -> tensor<64x8xf32>
  return
}

// CHECK-LABEL: func.func @two_inputs
func.func @two_inputs(%a: tensor<64x8xf32>, %b: tensor<4x1xi32>, %c: tensor<4x8xf32>) {
  // CHECK: #sdy.op_sharding_rule<([k, j], [k, j], [i, l], [i, j], [i, j])->([k, j], [k, j]) {i=4, j=8, k=64, l=1} reduction={i} need_replication={l}>
  "stablehlo.scatter"(%a, %a, %b, %c, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
    inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x0: tensor<f32>, %x1: tensor<f32>, %y0: tensor<f32>, %y1: tensor<f32>):
    %0 = stablehlo.maximum %x0, %y0 : tensor<f32>
    %1 = stablehlo.maximum %y1, %x1 : tensor<f32>
    stablehlo.return %0, %1 : tensor<f32>, tensor<f32>
  }) : (tensor<64x8xf32>, tensor<64x8xf32>, tensor<4x1xi32>, tensor<4x8xf32>, tensor<4x8xf32>)
    -> (tensor<64x8xf32>, tensor<64x8xf32>)
  return
}

// CHECK-LABEL: func.func @index_select
func.func @index_select(%a: tensor<64x8xf32>, %b: tensor<4x6xi32>) {
  // CHECK: #sdy.op_sharding_rule<([l, k], [i, j])->([i, j, k]) {i=4, j=6, k=8, l=64} need_replication={l}>
  "stablehlo.torch_index_select"(%a, %b) <{dim = 0 : i64, batch_dims = 0 : i64}>
    : (tensor<64x8xf32>, tensor<4x6xi32>) -> tensor<4x6x8xf32>
  return
}
