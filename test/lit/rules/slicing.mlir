// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s
// RUN: sdy-opt %s -sdy-populate-op-sharding-rules='conservative-propagation=true' | FileCheck %s --check-prefix=CONSERVATIVE

// Slices, pads and updates.

// CHECK-LABEL: func.func @strides
// CONSERVATIVE-LABEL: func.func @strides
func.func @strides(%a: tensor<4x6xf32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=6} permutation={j}>
  // CONSERVATIVE: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=6} permutation={j} blocked_propagation={j}>
  stablehlo.slice %a [0:4:1, 0:6:2] : (tensor<4x6xf32>) -> tensor<4x3xf32>
  return
}

// A pad that keeps the size moves elements all the same.
// CHECK-LABEL: func.func @shift
func.func @shift(%a: tensor<4xf32>, %b: tensor<f32>) {
  // CHECK: #sdy.op_sharding_rule<([i], [])->([i]) {i=4} permutation={i}>
  stablehlo.pad %a, %b, low = [1], high = [-1], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// An update is needed whole where it is smaller.
// CHECK-LABEL: func.func @update
func.func @update(%a: tensor<4x6xf32>, %b: tensor<4x2xf32>, %c: tensor<i32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j], [i, k], [], [])->([i, j]) {i=4, j=6, k=2} permutation={j, k}>
  stablehlo.dynamic_update_slice %a, %b, %c, %c
    : (tensor<4x6xf32>, tensor<4x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
  return
}

// Also where its place is constant.
// CHECK-LABEL: func.func @constant_place
func.func @constant_place(%a: tensor<6xf32>, %b: tensor<2xf32>) {
  %0 = stablehlo.constant dense<2> : tensor<i32>
  // CHECK: #sdy.op_sharding_rule<([i], [j], [])->([i]) {i=6, j=2} permutation={i, j}>
  stablehlo.dynamic_update_slice %a, %b, %0 : (tensor<6xf32>, tensor<2xf32>, tensor<i32>) -> tensor<6xf32>
  return
}
