// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s

// Products of matrices.

// Nothing is contracted.
// CHECK-LABEL: func.func @outer
func.func @outer(%a: tensor<4xf32>, %b: tensor<6xf32>) {
  // CHECK: #sdy.op_sharding_rule<([i], [j])->([i, j]) {i=4, j=6}>
  stablehlo.dot_general %a, %b, contracting_dims = [] x [] : (tensor<4xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return
}

// Several batch and contracting dimensions, in any order.
// CHECK-LABEL: func.func @several
func.func @several(%a: tensor<2x3x5x7xf32>, %b: tensor<7x2x5x11x3xf32>) {
  // CHECK: #sdy.op_sharding_rule<([j, l, m, i], [i, j, m, k, l])->([i, j, k]) {i=7, j=2, k=11, l=3, m=5} reduction={l, m}>
  stablehlo.dot_general %a, %b, batching_dims = [3, 0] x [0, 1], contracting_dims = [1, 2] x [4, 2]
    : (tensor<2x3x5x7xf32>, tensor<7x2x5x11x3xf32>) -> tensor<7x2x11xf32>
  return
}

// CHECK-LABEL: func.func @vectors
func.func @vectors(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  // CHECK: #sdy.op_sharding_rule<([i], [i])->([]) {i=4} reduction={i}>
  stablehlo.dot %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return
}

// CHECK-LABEL: func.func @vector_matrix
func.func @vector_matrix(%a: tensor<4xf32>, %b: tensor<4x6xf32>) {
  // CHECK: #sdy.op_sharding_rule<([j], [j, i])->([i]) {i=6, j=4} reduction={j}>
  stablehlo.dot %a, %b : (tensor<4xf32>, tensor<4x6xf32>) -> tensor<6xf32>
  return
}
