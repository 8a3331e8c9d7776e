// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s

// Orders of elements.

// CHECK-LABEL: func.func @same
func.func @same(%a: tensor<4x6xf32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=6}>
  stablehlo.transpose %a, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// CHECK-LABEL: func.func @reverse_all
func.func @reverse_all(%a: tensor<4x6xf32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=6} permutation={i, j}>
  stablehlo.reverse %a, dims = [0, 1] : tensor<4x6xf32>
  return
}
