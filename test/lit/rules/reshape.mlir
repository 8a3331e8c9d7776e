// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s

// Reshapes.

// Dimensions of size 1 have factors of their own.
// CHECK-LABEL: func.func @sizes_one
func.func @sizes_one(%a: tensor<1x14x1xf32>) {
  // CHECK: #sdy.op_sharding_rule<([i, jk, l])->([j, k]) {i=1, j=2, k=7, l=1} need_replication={i, l}>
  stablehlo.reshape %a : (tensor<1x14x1xf32>) -> tensor<2x7xf32>
  return
}

// CHECK-LABEL: func.func @merge_and_split
func.func @merge_and_split(%a: tensor<8x3x5xf32>) {
  // CHECK: #sdy.op_sharding_rule<([ij, k, l])->([i, jk, l]) {i=2, j=4, k=3, l=5}>
  stablehlo.reshape %a : (tensor<8x3x5xf32>) -> tensor<2x12x5xf32>
  return
}

// Nothing is known of tensors without elements.
// CHECK-LABEL: func.func @empty
func.func @empty(%a: tensor<0x4xf32>) {
  // CHECK-NOT: sdy.sharding_rule
  stablehlo.reshape %a : (tensor<0x4xf32>) -> tensor<4x0xf32>
  return
}
