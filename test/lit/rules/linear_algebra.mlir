// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s

// Decompositions of matrices.

// CHECK-LABEL: func.func @cholesky
func.func @cholesky(%a: tensor<3x3xf32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=3, j=3} need_replication={i, j}>
  stablehlo.cholesky %a, lower = true : tensor<3x3xf32>
  return
}

// CHECK-LABEL: func.func @right
func.func @right(%a: tensor<3x3xf32>, %b: tensor<5x3xf32>) {
  // CHECK: #sdy.op_sharding_rule<([k, j], [i, j])->([i, k]) {i=5, j=3, k=3} need_replication={i, j, k}>
  "stablehlo.triangular_solve"(%a, %b) <{left_side = false, lower = true, unit_diagonal = false,
    transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
  return
}

// CHECK-LABEL: func.func @adjoint
func.func @adjoint(%a: tensor<3x3xf32>, %b: tensor<3x5xf32>) {
  // CHECK: #sdy.op_sharding_rule<([k, i], [i, j])->([k, j]) {i=3, j=5, k=3} need_replication={i, j, k}>
  "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false,
    transpose_a = #stablehlo<transpose ADJOINT>}> : (tensor<3x3xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  return
}

// CHECK-LABEL: func.func @eigen
func.func @eigen(%a: tensor<3x3xf32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j])->([i, j], [j]) {i=3, j=3}>
  stablehlo.custom_call @Eigh(%a) : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3xf32>)
  return
}

// CHECK-LABEL: func.func @qr
func.func @qr(%a: tensor<5x3xf32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j])->([i, j], [k]) {i=5, j=3, k=3} need_replication={i, j, k}>
  stablehlo.custom_call @QrDecompositionBlock(%a) : (tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<3xf32>)
  return
}
