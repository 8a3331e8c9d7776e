// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s

// Sizes and positions along a dimension.

// CHECK-LABEL: func.func @size
func.func @size(%a: tensor<4x6xf32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j])->([]) {i=4, j=6} need_replication={i}>
  stablehlo.get_dimension_size %a, dim = 0 : (tensor<4x6xf32>) -> tensor<i32>
  return
}

// CHECK-LABEL: func.func @iota
func.func @iota(%a: tensor<2xi32>) {
  // CHECK: #sdy.op_sharding_rule<([k])->([i, j]) {i=4, j=6, k=2} need_replication={i, k}>
  stablehlo.dynamic_iota %a, dim = 0 : (tensor<2xi32>) -> tensor<4x6xi32>
  return
}
