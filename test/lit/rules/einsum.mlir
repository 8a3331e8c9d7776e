// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s

// Einstein notation.

// A diagonal is needed whole.
// CHECK-LABEL: func.func @trace
func.func @trace(%a: tensor<4x4xf32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j])->([]) {i=4, j=4} need_replication={i, j}>
  stablehlo.unary_einsum %a, config = "aa->" : (tensor<4x4xf32>) -> tensor<f32>
  return
}

// CHECK-LABEL: func.func @transposed
func.func @transposed(%a: tensor<4x6xf32>, %b: tensor<8x6xf32>) {
  // CHECK: #sdy.op_sharding_rule<([j, k], [i, k])->([i, j]) {i=8, j=4, k=6} reduction={k}>
  stablehlo.einsum %a, %b, config = "ab,cb->ca" : (tensor<4x6xf32>, tensor<8x6xf32>) -> tensor<8x4xf32>
  return
}

// Leading dimensions are those of the result.
// CHECK-LABEL: func.func @ellipsis
func.func @ellipsis(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j, l], [i, l, k])->([i, j, k]) {i=2, j=3, k=5, l=4} reduction={l}>
  stablehlo.einsum %a, %b, config = "...ab,...bc->...ac" : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}
