// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s

// Operations that repeat a tensor.

// A scalar has no factors.
// CHECK-LABEL: func.func @scalar
func.func @scalar(%a: tensor<f32>) {
  // CHECK: #sdy.op_sharding_rule<([])->([i, j]) {i=4, j=6}>
  stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
  return
}

// A dimension of size 1 that stays so is shared.
// CHECK-LABEL: func.func @size_one
func.func @size_one(%a: tensor<1x4xf32>) {
  // CHECK: #sdy.op_sharding_rule<([i, k])->([i, j, k]) {i=1, j=6, k=4}>
  stablehlo.broadcast_in_dim %a, dims = [0, 2] : (tensor<1x4xf32>) -> tensor<1x6x4xf32>
  return
}

// New dimensions come first.
// CHECK-LABEL: func.func @broadcast
func.func @broadcast(%a: tensor<4xf32>) {
  // CHECK: #sdy.op_sharding_rule<([k])->([i, j, k]) {i=2, j=3, k=4}>
  stablehlo.broadcast %a, sizes = [2, 3] : (tensor<4xf32>) -> tensor<2x3x4xf32>
  return
}

// Dimensions are counted from the last one.
// CHECK-LABEL: func.func @implicit
func.func @implicit(%a: tensor<6xf32>, %b: tensor<4x6xf32>) {
  // CHECK: #sdy.op_sharding_rule<([j], [i, j])->([i, j]) {i=4, j=6}>
  chlo.broadcast_compare %a, %b {comparison_direction = #chlo<comparison_direction LT>}
    : (tensor<6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
  return
}

// Unless they are given.
// CHECK-LABEL: func.func @explicit
func.func @explicit(%a: tensor<4x6xf32>, %b: tensor<4xf32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j], [i])->([i, j]) {i=4, j=6}>
  chlo.broadcast_add %a, %b {broadcast_dimensions = array<i64: 0>}
    : (tensor<4x6xf32>, tensor<4xf32>) -> tensor<4x6xf32>
  return
}

// All devices need the shape.
// CHECK-LABEL: func.func @dynamic
func.func @dynamic(%a: tensor<1xf32>, %b: tensor<2xi32>) {
  // CHECK: #sdy.op_sharding_rule<([i], [l])->([j, k]) {i=1, j=4, k=6, l=2} need_replication={l}>
  stablehlo.dynamic_broadcast_in_dim %a, %b, dims = [0]
    : (tensor<1xf32>, tensor<2xi32>) -> tensor<4x6xf32>
  return
}
