// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s
// RUN: sdy-opt %s -sdy-populate-op-sharding-rules -sdy-drop-sharding-rules | FileCheck %s --check-prefix=DROP

// CHECK-LABEL: func.func @main
// DROP-LABEL: func.func @main
func.func @main(%arg0: tensor<2x15xf32>) -> tensor<6x5xf32> {
  // CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, jk])->([ij, k]) {i=2, j=3, k=5}>
  // DROP: stablehlo.reshape %arg0 : (tensor<2x15xf32>) -> tensor<6x5xf32>
  %0 = stablehlo.reshape %arg0 : (tensor<2x15xf32>) -> tensor<6x5xf32>
  // CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, k])->([i, j]) {i=6, j=5, k=5}, custom>
  // DROP: sdy.sharding_rule = #sdy.op_sharding_rule<([i, k])->([i, j]) {i=6, j=5, k=5}, custom>
  %1 = stablehlo.tanh %0 {sdy.sharding_rule =
      #sdy.op_sharding_rule<([i, k])->([i, j]) {i=6, j=5, k=5}, custom>} : tensor<6x5xf32>
  return %1 : tensor<6x5xf32>
}
